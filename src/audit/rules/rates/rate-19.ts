import { flags } from '../../../attempt/flags.ts'
import { cellsNamed, longestNamedUs } from '../../../limits/band.ts'
import { longestUs, longestWindowUs } from '../../../limits/calendar.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import { otherWindowMayRefuse, pacingOf } from '../../../limits/other-windows.ts'
import { fail, inconclusive, notObserved, pass, withNote } from '../../verdict.ts'
import { inOrder } from './event-order.ts'
import { type RateEvent, type RateHistory, witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'
import type { Known } from './traces.ts'
import { type Rejected, type RejectionsOfKey, readingsOf, rejectionsOfKeys } from './waiting.ts'

export const rate19 = rateRule({
  id: 'RATE-19',
  title:
    'Retry-After, if present, is delta-seconds or an HTTP date within the window, and long enough',
  severity: 'advice',
  promised: [],
  explain: `RFC 9110 allows a number of seconds or an HTTP date. A number longer than two of the full
windows (the longest of the contract, or two days, if the window is uncertain) is an epoch or milliseconds; two, because a sliding counter
takes up to two windows to forget. A longer one is right if it ends where a week or a month begins in some zone, by the
response's Date, or within a longer window of the contract's calendar. A date is the number of seconds after the response's Date, and
\`retry-after-ms\` counts before Retry-After. Any other value is read from the captured response and fails;
without a capture nothing is decided.
A number of seconds is too short if a later request, alone, was rejected again with
nothing admitted since (with W/N and 1 % of the window as tolerance, and a second for rounding). It is
also too short if only fixed windows explain the record and their reset (RATE-13) is later.`,
  async decide(history, evidence) {
    const { contract, store, runIds } = evidence
    const { byAccount } = history
    let shown = 0
    const worded: RateEvent[] = []
    for (const events of byAccount.values()) {
      for (const event of events) {
        const isWorded = (event.flags & flags.retryAfterNotSeconds) !== 0
        if (event.retryAfterS === null && !isWorded) continue
        shown++
        if (isWorded) worded.push(event)
      }
    }
    worded.sort(inOrder)
    if (shown === 0) return notObserved('an answer with Retry-After')
    const wrong = (event: RateEvent, observed: string) =>
      fail(shown, {
        expected: 'delta-seconds within the window, or an HTTP date',
        observed,
        witnesses: [witnessOf(event, `retry-after ${observed}`)],
      })
    // Windows of a calendar end with it, and take no two.
    const { rolling, ofCalendar } = longestWindowUs(contract.bands ?? [])
    const calendarS = ofCalendar / 1e6
    for (const events of byAccount.values()) {
      const pacing = pacingOf(events)
      for (const [index, event] of events.entries()) {
        const { retryAfterS, limit } = event
        if (retryAfterS === null) continue
        const cells = limit === null ? [] : cellsNamed(contract, limit)
        const isOfCells =
          cells.length > 0 &&
          cells.every(
            ({ band, window }) => !otherWindowMayRefuse(band, window, events, index, pacing),
          )
        // A counter that weighs the last window may need two windows to be free again.
        const longestS = (2 * (isOfCells ? longestNamedUs(contract, limit!)! : rolling)) / 1e6
        const isTooLong = retryAfterS > longestS + 1 && retryAfterS > calendarS + 1
        if (retryAfterS < 0 || (isTooLong && !endsAPeriod(event.dateS, retryAfterS)))
          return wrong(event, `${retryAfterS}`)
      }
    }
    const rejected = rejectionsOfKeys(history, evidence)
    const early = tooShort(history, evidence, rejected)
    if (early !== null) {
      const { rejection, shows, next } = early
      return fail(shown, {
        expected: 'no rejection of who waited as long as it says',
        observed: `retry-after ${rejection.retryAfterS}, and ${shows}`,
        witnesses: [
          witnessOf(rejection, `429, retry-after ${rejection.retryAfterS}`),
          ...(next === null ? [] : [witnessOf(next, shows)]),
        ],
      })
    }
    const right = withNote(pass(shown), rejected.note)
    if (worded.length === 0) return right
    const captured = await store.rows<{
      run_id: string
      slot: number
      retry: number
      headers: string
    }>(
      `SELECT run_id, slot, retry, headers FROM bodies
       WHERE list_contains($1::VARCHAR[], run_id) AND headers ILIKE '%retry-after:%'`,
      [JSON.stringify(runIds)],
    )
    const nameOf = (runId: string, slot: number, retry: number) => `${runId} ${slot} ${retry}`
    const headers = new Map(
      captured.map(({ run_id, slot, retry, headers: text }) => [nameOf(run_id, slot, retry), text]),
    )
    let dated = 0
    for (const event of worded) {
      const text = headers.get(nameOf(event.runId, event.slot, event.retry))
      const value = text?.match(/^retry-after:\s*(.*?)\s*$/im)?.[1]
      if (value === undefined) continue
      // A date in an older form is read, too, and has its seconds.
      const isWrong = event.retryAfterS === null ? !isHttpDate(value) : isNumber(value)
      if (isWrong) return wrong(event, JSON.stringify(value.slice(0, 60)))
      dated++
    }
    if (dated > 0) return withNote(right, 'as HTTP dates')
    if (worded.every(({ retryAfterS }) => retryAfterS !== null)) return right
    return inconclusive(shown, 'Retry-After is no number, and no answer with it was captured')
  },
})

/** Whether so many seconds after a Date a week or a month begins in some zone, within the rounding of both. */
function endsAPeriod(dateS: number | null, retryAfterS: number): boolean {
  if (dateS === null || retryAfterS > longestUs.month / 1e6) return false
  const endS = dateS + retryAfterS
  return zonesS.some((zoneS) =>
    [-2, -1, 0, 1, 2].some((offS) => {
      const local = new Date((endS + offS + zoneS) * 1e3)
      const isMidnight = local.getTime() % 86_400e3 === 0
      return isMidnight && (local.getUTCDate() === 1 || [0, 1].includes(local.getUTCDay()))
    }),
  )
}

/** Offsets of zones from UTC, in seconds: quarters of an hour from -12:00 to +14:00. */
const zonesS = Array.from({ length: 26 * 4 + 1 }, (_, nth) => (nth - 12 * 4) * 900)

/** A Retry-After that ends before anything is admitted again. */
function tooShort(history: RateHistory, known: Known, { waits }: Rejected) {
  const readings = readingsOf(history, known)
  for (const wait of waits) {
    for (const [index, rejection] of wait.trace.requests.entries()) {
      if (rejection.decision !== 'rejected' || rejection.retryAfterS === null) continue
      const overUs = rejection.untilUs + (rejection.retryAfterS + 1) * 1e6
      const next = rejectedAgain(wait, index, overUs + wait.grainUs)
      if (next !== null && next.fromUs > overUs + wait.spareUs(index)) {
        const sinceS = Math.round((next.fromUs - rejection.untilUs) / 1e6)
        return { rejection, next, shows: `429 again ${sinceS} s later` }
      }
      const resets = readings.map((resetOf) => resetOf(rejection)?.lowUs ?? -Infinity)
      const isBefore = resets.length > 0 && resets.every((us) => us > overUs + wait.grainUs)
      if (!isBefore || !wait.hasFixedWindows()) continue
      return { rejection, next: null, shows: `reset ${rejection.reset}` }
    }
  }
  return null
}

/** The first attempt after the instant, if rejected, alone, and nothing was admitted since. If rejections count, they may have moved it. */
function rejectedAgain(
  wait: RejectionsOfKey,
  index: number,
  instantUs: number,
): LimitedRequest | null {
  const { requests } = wait.trace
  let at = index + 1
  while (at < requests.length && requests[at]!.fromUs <= instantUs) at++
  const next = requests[at]
  if (next?.decision !== 'rejected' || !wait.isAlone(index, next)) return null
  const between = requests.slice(index + 1, at)
  const since = between.filter(({ decision }) => decision !== 'read')
  const mayAll = since.every(
    ({ decision, untilUs }) => decision === 'rejected' && untilUs <= next.fromUs,
  )
  return mayAll && (since.length === 0 || !wait.mayCountRejections()) ? next : null
}

const isNumber = (value: string) => value !== '' && Number.isFinite(Number(value))

/** IMF-fixdate, the form that RFC 9110 requires of senders. */
function isHttpDate(value: string): boolean {
  return /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(
    value,
  )
}
