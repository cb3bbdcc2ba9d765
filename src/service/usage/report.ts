import type { Credits } from '../../contract/contract.ts'
import { hourUs } from '../../user/durations.ts'
import type { Clock } from '../clock.ts'
import type { Database } from '../ledger/database.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { noUsage, plus, type Quarter, Rollups, type Sums } from './rollup.ts'
import { ZoneError, zone } from './zone.ts'

/** One line of a breakdown. */
export interface UsageLine {
  readonly credits: Credits
  readonly requests: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  /** All tokens divided by all requests; null without requests. */
  readonly average_tokens_per_request: number | null
}

export interface EntryLine {
  readonly id: number
  readonly at: string
  readonly kind: string
  readonly credits: Credits
  readonly balance_before: Credits
  readonly balance_after: Credits
  readonly note: string | null
  readonly request_id: string | null
  readonly endpoint: string | null
  readonly model: string | null
  readonly tokens: number | null
}

/**
 * The body of `GET /user/credits`. The specification names its topics and leaves the fields open.
 * Usage covers `from` (inclusive) to `to` (exclusive). Hours add up to their day; days and models
 * add up to `consumed`.
 */
export interface CreditsReport {
  readonly object: 'credits'
  readonly total_granted: Credits
  readonly total_consumed: Credits
  readonly total_expired: Credits
  readonly remaining: Credits
  readonly timezone: string
  readonly from: string
  readonly to: string
  readonly consumed: Credits
  readonly requests: number
  readonly average_tokens_per_request: number | null
  readonly by_day: readonly ({ readonly date: string } & UsageLine)[]
  readonly by_hour: readonly ({ readonly start: string; readonly date: string } & UsageLine)[]
  readonly by_model: readonly ({ readonly model: string } & UsageLine)[]
  /** By the name and the last four letters of each key, revoked or not; the most used first. */
  readonly by_key: readonly ({ readonly key: string; readonly hint: string } & UsageLine)[]
  readonly expiring: readonly {
    readonly source: string
    readonly credits: Credits
    readonly remaining: Credits
    readonly expires_at: string | null
  }[]
  /** The latest first: `limit` of those before the entry `before`. */
  readonly entries: readonly EntryLine[]
}

/** An invalid query. The message is for its sender. */
export class QueryError extends Error {
  override readonly name = 'QueryError'
}

export interface UsageQuery {
  readonly timezone: string
  readonly fromUs: number
  readonly toUs: number
  /** Whether hours and days without usage have lines. */
  readonly fill: boolean
  readonly limit: number
  readonly before: number | null
}

const mostEntries = 1_000
/** Lines without usage are for charts, and no chart shows more than two years by the hour. */
const mostFilledHours = 24 * 366 * 2

/**
 * Reads `timezone`, `from`, `to` (times with an offset, or dates in that zone), `fill`, `limit` and
 * `before`. Unknown names are ignored.
 *
 * @throws QueryError for an invalid value
 */
export function readUsageQuery(query: string, nowUs: number): UsageQuery {
  const given = new URLSearchParams(query)
  const timezone = given.get('timezone') ?? given.get('tz') ?? 'UTC'
  const local = zoneOf(timezone)
  const time = (name: string, standard: number) => {
    const text = given.get(name)
    if (text === null) return standard
    // An unescaped plus has become a space.
    const us = momentOf(text.replace(' ', '+'), local)
    if (us === null) {
      throw new QueryError(
        `${name}: expected a date such as 2026-10-25, or a time with its offset such as ` +
          `2026-10-25T10:00:00+02:00; got "${text}"`,
      )
    }
    return us
  }
  const whole = (name: string) => {
    const text = given.get(name)
    if (text === null) return null
    if (!/^\d{1,15}$/.test(text)) {
      throw new QueryError(`${name}: expected a whole number; got "${text}"`)
    }
    return Number(text)
  }
  const [fromUs, toUs] = [time('from', 0), time('to', nowUs + 1)]
  if (given.has('from') && given.has('to') && toUs < fromUs) {
    throw new QueryError(`to: expected no time before from; got "${given.get('to')}"`)
  }
  const fill = given.get('fill') ?? 'false'
  if (!['true', '1', 'false', '0'].includes(fill)) {
    throw new QueryError(`fill: expected true or false; got "${fill}"`)
  }
  const limit = whole('limit') ?? 20
  if (limit > mostEntries) {
    throw new QueryError(`limit: expected at most ${mostEntries}; got ${limit}`)
  }
  return {
    timezone,
    fromUs,
    toUs,
    fill: fill === 'true' || fill === '1',
    limit,
    before: whole('before'),
  }
}

function zoneOf(name: string): ReturnType<typeof zone> {
  try {
    return zone(name)
  } catch (error) {
    throw error instanceof ZoneError ? new QueryError(error.message) : error
  }
}

/**
 * A date in the zone, or a time with an offset: the zone of this machine must not matter. Null for
 * anything else and for a day that its month does not have.
 */
function momentOf(text: string, local: ReturnType<typeof zone>): number | null {
  const [, date = '', time] =
    /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/.exec(text) ??
    []
  const midnight = new Date(date)
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date)
  if (!isDay) return null
  if (time === undefined) return startOfDay(date, local)
  const us = Date.parse(text) * 1000
  return Number.isNaN(us) ? null : us
}

/** The first moment of a date. Where clocks go forward at midnight, it is later than midnight. */
function startOfDay(date: string, local: ReturnType<typeof zone>): number {
  const noonUs = Date.parse(`${date}T12:00:00Z`) * 1000
  let us = noonUs - 36 * hourUs
  while (us < noonUs + 36 * hourUs && local(us).date < date) us += hourUs / 4
  return us
}

/** Makes reports of accounts from the ledger. */
export class UsageReports {
  readonly #ledger: Ledger
  readonly #clock: Clock
  readonly #rollups: Rollups
  readonly #totals
  readonly #entries
  readonly #created
  readonly #keys

  constructor(database: Database, ledger: Ledger, clock: Clock, entriesAreFinal: boolean) {
    this.#ledger = ledger
    this.#clock = clock
    this.#rollups = new Rollups(database, entriesAreFinal)
    const { sql } = database
    this.#totals = sql.prepare(
      `SELECT coalesce(sum(credits) FILTER (WHERE kind IN ('grant', 'purchase', 'adjustment')), 0)
           AS granted,
         coalesce(-sum(credits) FILTER (WHERE kind = 'expiry'), 0) AS expired
       FROM entries WHERE account_id = ? AND kind NOT IN ('charge', 'refund')`,
    )
    this.#entries = sql.prepare(
      'SELECT * FROM entries WHERE account_id = ? AND id < ? ORDER BY id DESC LIMIT ?',
    )
    this.#keys = sql.prepare('SELECT id, name, hint FROM api_keys WHERE account_id = ?')
    this.#created = sql.prepare('SELECT created_us FROM accounts WHERE id = ?')
  }

  /** @throws QueryError for an invalid query */
  of(accountId: number, query: string): CreditsReport {
    const nowUs = this.#clock.nowUs()
    const asked = readUsageQuery(query, nowUs)
    const { balance } = this.#ledger.balance(accountId)
    const all = this.#rollups.of(accountId)
    // A bucket belongs to the range that contains its start, so that adjacent ranges add up.
    const inside = all.filter(({ startUs }) => startUs >= asked.fromUs && startUs < asked.toUs)
    const total = sum(inside)
    const totals = this.#totals.get(accountId)!
    const createdUs = Number(this.#created.get(accountId)?.created_us ?? nowUs)
    const fromUs = Math.max(asked.fromUs, createdUs)
    return {
      object: 'credits',
      total_granted: Number(totals.granted),
      total_consumed: sum(all).credits,
      total_expired: Number(totals.expired),
      remaining: balance,
      timezone: asked.timezone,
      from: isoOf(fromUs),
      to: isoOf(asked.toUs),
      consumed: total.credits,
      requests: total.requests,
      average_tokens_per_request: average(total),
      ...this.#byTime(inside, { ...asked, fromUs }, nowUs),
      by_model: [...grouped(inside, ({ model }) => model)].map(([model, sums]) => ({
        model,
        ...lineOf(sums),
      })),
      by_key: this.#byKey(accountId, inside),
      expiring: this.#ledger.lotsOf(accountId).map((lot) => ({
        source: lot.source,
        credits: lot.credits,
        remaining: lot.remaining,
        expires_at: lot.expiresUs === null ? null : isoOf(lot.expiresUs),
      })),
      entries: this.#entriesOf(accountId, asked),
    }
  }

  #byTime(quarters: readonly Quarter[], asked: UsageQuery, nowUs: number) {
    const local = zone(asked.timezone)
    const hours = new Map<string, { readonly date: string; sums: Sums }>()
    const place = (startUs: number) => {
      const { hour, date } = local(startUs)
      let line = hours.get(hour)
      if (line === undefined) {
        line = { date, sums: noUsage }
        hours.set(hour, line)
      }
      return line
    }
    if (asked.fill) {
      const endUs = Math.min(asked.toUs, nowUs + 1)
      const startUs = Math.max(asked.fromUs, endUs - mostFilledHours * hourUs)
      // Steps of half an hour, because some clocks move by that much and leave such an hour.
      for (let us = startUs; us < endUs; us += hourUs / 2) place(us)
      if (endUs > startUs) place(endUs - 1)
    }
    for (const quarter of quarters) {
      const line = place(quarter.startUs)
      line.sums = plus(line.sums, quarter)
    }
    const lines = [...hours].sort(([a], [b]) => Date.parse(a) - Date.parse(b))
    const days = new Map<string, Sums>()
    for (const [, { date, sums }] of lines) days.set(date, plus(days.get(date) ?? noUsage, sums))
    return {
      by_day: [...days].map(([date, sums]) => ({ date, ...lineOf(sums) })),
      by_hour: lines.map(([start, { date, sums }]) => ({ start, date, ...lineOf(sums) })),
    }
  }

  #byKey(accountId: number, quarters: readonly Quarter[]): CreditsReport['by_key'] {
    const keys = new Map(this.#keys.all(accountId).map((row) => [Number(row.id), row]))
    return [...grouped(quarters, ({ keyId }) => keyId)]
      .map(([keyId, sums]) => {
        const row = keyId === null ? undefined : keys.get(keyId)
        const [key, hint] = [String(row?.name ?? 'not known'), String(row?.hint ?? '')]
        return { key, hint, ...lineOf(sums) }
      })
      .sort((a, b) => b.credits - a.credits)
  }

  #entriesOf(accountId: number, { limit, before }: UsageQuery): readonly EntryLine[] {
    const rows = this.#entries.all(accountId, before ?? Number.MAX_SAFE_INTEGER, limit)
    return rows.map((row) => ({
      id: Number(row.id),
      at: isoOf(Number(row.at_us)),
      kind: String(row.kind),
      credits: Number(row.credits),
      balance_before: Number(row.balance_before),
      balance_after: Number(row.balance_after),
      note: row.note === null ? null : String(row.note),
      request_id: row.request_id === null ? null : String(row.request_id),
      endpoint: row.endpoint === null ? null : String(row.endpoint),
      model: row.model === null ? null : String(row.model),
      tokens:
        row.prompt_tokens === null
          ? null
          : Number(row.prompt_tokens) + Number(row.completion_tokens),
    }))
  }
}

const sum = (quarters: readonly Quarter[]): Sums => quarters.reduce<Sums>(plus, noUsage)

function grouped<Name>(
  quarters: readonly Quarter[],
  name: (quarter: Quarter) => Name,
): ReadonlyMap<Name, Sums> {
  const groups = new Map<Name, Sums>()
  for (const quarter of quarters) {
    groups.set(name(quarter), plus(groups.get(name(quarter)) ?? noUsage, quarter))
  }
  return groups
}

const average = ({ requests, promptTokens, completionTokens }: Sums): number | null =>
  requests === 0 ? null : (promptTokens + completionTokens) / requests

export function lineOf(sums: Sums): UsageLine {
  return {
    credits: sums.credits,
    requests: sums.requests,
    prompt_tokens: sums.promptTokens,
    completion_tokens: sums.completionTokens,
    average_tokens_per_request: average(sums),
  }
}

const isoOf = (us: number): string => new Date(us / 1000).toISOString()
