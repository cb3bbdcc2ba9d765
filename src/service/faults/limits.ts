import { type Band, bandsAt, windowUs } from '../../contract/contract.ts'
import type { Call } from '../call.ts'
import type { Limiter } from '../limiter/counter.ts'
import { fixedWindow } from '../limiter/fixed-window.ts'
import { type Fault, fault } from './fault.ts'
import { header, hiddenLimit, otherStatus, subject } from './primitives.ts'

const lateCountUs = 50_000
const staleBandUs = 30e6
const earlyUs = 15e6

/** Changes a rate-limit header wherever it is sent. */
const rateHeader =
  (
    name: 'rateRemaining' | 'rateReset',
    edit: (value: string, refused: boolean) => string,
  ): Fault['breaks'] =>
  (honest, { contract }) =>
    header(honest, contract.headers[name]?.[0], edit)

export const limitFaults: readonly Fault[] = [
  fault(
    'wrong-band-limit',
    'RATE-01',
    'the lowest band gets the limits of the next',
    (honest, { contract }) => ({
      band(call, balance) {
        const band = honest.band(call, balance)
        return band === contract.bands[0] ? contract.bands[1]! : band
      },
    }),
  ),
  fault('band-stale', 'RATE-01', "a key's band is looked up every 30 s", (honest, { clock }) => {
    const known = new Map<number, { readonly band: Band; readonly atUs: number }>()
    return {
      band(call, balance) {
        const before = known.get(call.key!.id)
        if (before !== undefined && clock.nowUs() - before.atUs < staleBandUs) return before.band
        const band = honest.band(call, balance)
        known.set(call.key!.id, { band, atUs: clock.nowUs() })
        return band
      },
    }
  }),
  fault(
    'band-edge-off-by-one',
    'RATE-02',
    'a balance at the end of a band is in the next',
    (honest, { contract }) => ({
      band: (call, balance) => bandsAt(contract, balance + 1).at(-1) ?? honest.band(call, balance),
    }),
  ),
  fault(
    'band-by-purchases',
    'RATE-02',
    'the credits ever granted or bought select the band',
    (honest, { database }) => {
      const statement = database.sql.prepare(
        `SELECT sum(credits) AS credits FROM entries
       WHERE account_id = ? AND kind IN ('grant', 'purchase') AND credits > 0`,
      )
      return {
        band: (call) => honest.band(call, Number(statement.get(call.key!.accountId)?.credits ?? 0)),
      }
    },
  ),
  fault(
    'limit-plus-one',
    'RATE-03',
    'one request a minute more than the limit',
    (honest, { contract }) => hiddenLimit(honest, 'minute', (limit) => limit + 1, contract.headers),
  ),
  fault(
    'limit-times-replicas',
    'RATE-03',
    'three replicas count separately',
    (honest, { random }) => subject(honest, () => `replica ${Math.floor(random() * 3)}`),
  ),
  fault(
    'rate-non-atomic',
    'RATE-04',
    'requests are counted 50 ms after they are admitted',
    (honest, { clock }) => ({
      count(call) {
        clock.at(clock.nowUs() + lateCountUs, () => honest.count(call))
      },
    }),
  ),
  fault(
    'early-429',
    'RATE-05',
    'one request a minute fewer than the limit',
    (honest, { contract }) => hiddenLimit(honest, 'minute', (limit) => limit - 1, contract.headers),
  ),
  fault('counter-not-reset', 'RATE-05', 'no window ever ends', (_honest, { clock, rates }) => {
    const startUs = clock.nowUs()
    return {
      look: (call) => rates.look(call.subject, call.limits, startUs),
      count: (call) => rates.count(call.subject, call.limits, startUs),
    }
  }),
  fault(
    'foreign-key-bleed',
    'RATE-05',
    'requests also count for the key seen before',
    (honest, { clock, rates }) => {
      let last: Pick<Call, 'subject' | 'limits'> | null = null
      return {
        count(call) {
          honest.count(call)
          if (last !== null && last.subject !== call.subject) {
            rates.count(last.subject, last.limits, clock.nowUs())
          }
          last = { subject: call.subject, limits: call.limits }
        },
      }
    },
  ),
  fault('429-as-403', 'RATE-06', 'exceeding a limit is a 403', otherStatus('rate', 403)),
  fault(
    'reset-suffix',
    'RATE-07',
    'X-RateLimit-Reset: 42s',
    rateHeader('rateReset', (value) => `${value}s`),
  ),
  fault(
    'reset-rfc3339',
    'RATE-07',
    'X-RateLimit-Reset is a date',
    (honest, { contract, clock }) => ({
      rateHeaders: (call, look, refused) =>
        header(honest, contract.headers.rateReset?.[0], () => {
          const resetUs = look.window('minute').resetUs
          return new Date(Math.max(resetUs, clock.nowUs()) / 1000).toISOString()
        }).rateHeaders(call, look, refused),
    }),
  ),
  fault('rate-headers-missing-on-429', 'RATE-07', 'no X-RateLimit headers on 429', (honest) => ({
    rateHeaders: (call, look, refused) => (refused ? {} : honest.rateHeaders(call, look, refused)),
  })),
  fault(
    'remaining-negative',
    'RATE-08',
    'X-RateLimit-Remaining below zero',
    rateHeader('rateRemaining', (value) => String(-1 - Number(value))),
  ),
  fault('counts-twice', 'RATE-09', 'each request counts twice', (honest) => ({
    count(call) {
      honest.count(call)
      honest.count(call)
    },
  })),
  fault('sharded-counters', 'RATE-09', 'two counters take turns', (honest) =>
    subject(honest, ({ incoming }) => `shard ${incoming.sequence % 2}`),
  ),
  fault(
    'remaining-5-on-429',
    'RATE-10',
    'X-RateLimit-Remaining is 5 on 429',
    rateHeader('rateRemaining', (value, refused) => (refused ? '5' : value)),
  ),
  fault(
    'remaining-off-by-one',
    'RATE-11',
    'X-RateLimit-Remaining is 1 when none is left',
    rateHeader('rateRemaining', (value, refused) => (refused ? value : String(Number(value) + 1))),
  ),
  fault(
    'reset-ms-on-429',
    'RATE-12',
    'X-RateLimit-Reset is a thousand times larger on 429',
    rateHeader('rateReset', (value, refused) => (refused ? String(Number(value) * 1000) : value)),
  ),
  fault(
    'reset-microseconds',
    'RATE-12',
    'X-RateLimit-Reset is in microseconds',
    rateHeader('rateReset', (value) => String(Number(value) * 1e6)),
  ),
  fault(
    'reset-constant',
    'RATE-13',
    'X-RateLimit-Reset is always 60',
    rateHeader('rateReset', () => '60'),
  ),
  fault(
    'reset-window-late',
    'RATE-13',
    'admitted again one window after X-RateLimit-Reset',
    (honest, { clock, rates }) => {
      // A key that exhausts a window finds the next window closed.
      const closedUntilUs = new Map<string, number>()
      return {
        look(call) {
          const nowUs = clock.nowUs()
          const look = honest.look(call)
          if (look.refusedBy === 'minute' && !closedUntilUs.has(call.subject)) {
            closedUntilUs.set(call.subject, look.window('minute').resetUs + windowUs.minute)
          }
          const untilUs = closedUntilUs.get(call.subject)
          if (untilUs === undefined) return look
          if (nowUs >= untilUs) {
            closedUntilUs.delete(call.subject)
            rates.forget(call.subject)
            return honest.look(call)
          }
          const { limit } = look.window('minute')
          const promisedUs = nowUs < untilUs - windowUs.minute ? untilUs - windowUs.minute : untilUs
          return {
            refusedBy: 'minute',
            window: (window) =>
              window === 'minute'
                ? { limit, remaining: 0, resetUs: promisedUs }
                : look.window(window),
          }
        },
      }
    },
  ),
  fault(
    'window-reopens-early',
    'RATE-13',
    'a full minute is reset 15 s before its X-RateLimit-Reset',
    (honest, { clock, rates }) => ({
      look(call) {
        const look = honest.look(call)
        const leftUs = look.window('minute').resetUs - clock.nowUs()
        if (look.refusedBy !== 'minute' || leftUs > earlyUs) return look
        rates.forget(call.subject)
        return honest.look(call)
      },
    }),
  ),
  fault(
    'headers-of-another-key',
    'RATE-14',
    'X-RateLimit headers show the count of another key of the band',
    (honest, { clock, rates }) => {
      const lastOfBand = new Map<Band | null, readonly string[]>()
      return {
        rateHeaders(call, look, refused) {
          const subjects = [...(lastOfBand.get(call.band) ?? [])].filter(
            (each) => each !== call.subject,
          )
          lastOfBand.set(call.band, [...subjects, call.subject])
          const other = subjects.at(-1)
          return honest.rateHeaders(
            call,
            refused || other === undefined ? look : rates.look(other, call.limits, clock.nowUs()),
            refused,
          )
        },
      }
    },
  ),
  fault('rate-per-account', 'RATE-14', 'keys of an account are counted together', () => ({
    rateSubject: (call) => `account ${call.key?.accountId}`,
  })),
  fault('rate-per-address', 'RATE-14', 'all keys of an address are counted together', () => ({
    rateSubject: (call) => `address ${call.incoming.remoteAddress}`,
  })),
  fault('rate-per-endpoint', 'RATE-15', 'each endpoint counts separately', (honest) =>
    subject(honest, ({ endpoint }) => endpoint),
  ),
  fault('hour-not-enforced', 'RATE-16', 'the limit of the hour is never enforced', (honest) => ({
    look(call) {
      const look = honest.look(call)
      return look.refusedBy === 'hour' ? { ...look, refusedBy: null } : look
    },
  })),
  fault(
    'day-resets-hourly',
    'RATE-17',
    "the day's count is reset each hour",
    (honest, { clock }) => {
      const days = new Map<string, Limiter>()
      const dayOf = (call: Call) => {
        const day = days.get(call.subject) ?? fixedWindow(windowUs.hour, 'anchored')
        days.set(call.subject, day)
        return day
      }
      return {
        look(call) {
          const look = honest.look(call)
          const nowUs = clock.nowUs()
          const limit = call.limits.day
          const day = dayOf(call)
          const refusedBy =
            look.refusedBy !== 'day' && look.refusedBy !== null
              ? look.refusedBy
              : day.admits(nowUs, limit)
                ? null
                : 'day'
          return {
            refusedBy,
            window: (window) =>
              window === 'day'
                ? {
                    limit,
                    remaining: day.remaining(nowUs, limit),
                    resetUs: day.resetUs(nowUs, limit),
                  }
                : look.window(window),
          }
        },
        count(call) {
          honest.count(call)
          dayOf(call).count(clock.nowUs(), call.limits.day)
        },
      }
    },
  ),
  fault('band-until-restart', 'RATE-18', "a key's limits never change", (honest) => {
    const first = new Map<number, Band>()
    return {
      band(call, balance) {
        const band = first.get(call.key!.id) ?? honest.band(call, balance)
        first.set(call.key!.id, band)
        return band
      },
    }
  }),
  fault('retry-after-epoch', 'RATE-19', 'Retry-After is an epoch', (honest, { clock }) => ({
    rateHeaders(call, look, refused) {
      const headers = honest.rateHeaders(call, look, refused)
      if (refused) headers['retry-after'] = String(Math.ceil(clock.nowUs() / 1e6) + 60)
      return headers
    },
  })),
  fault('retry-after-early', 'RATE-19', 'Retry-After is half of the actual wait', (honest) => ({
    rateHeaders(call, look, refused) {
      const headers = honest.rateHeaders(call, look, refused)
      const waitS = Number(headers['retry-after'])
      if (waitS > 0) headers['retry-after'] = String(Math.floor(waitS / 2))
      return headers
    },
  })),
  fault('retry-after-ms', 'RATE-19', 'Retry-After is in milliseconds', (honest) => ({
    rateHeaders(call, look, refused) {
      const headers = honest.rateHeaders(call, look, refused)
      if (refused) headers['retry-after'] = '60000'
      return headers
    },
  })),
]
