import { withoutNoise } from '../../../credits/fields.ts'
import { headerTimeS } from '../../../user/header-time.ts'
import { sumOf } from '../../evidence/usage/buckets.ts'
import { heldDuring } from '../../evidence/usage/held-during.ts'
import { type UsageReport, usageReports } from '../../evidence/usage/reports.ts'
import { sentBetween } from '../../evidence/usage/sent-between.ts'
import type { SentBetween } from '../../evidence/usage/sent-by-moment.ts'
import { type Judged, judgedRule, type Observed } from '../exchange-rule.ts'
import { isAfter, pairs } from './pairs.ts'
import { named } from './report-rule.ts'
import { clockSkewMs } from './within-an-answer.ts'

export const use07 = judgedRule({
  id: 'USE-07',
  title: 'Consumed credits never decrease',
  section: '§4.4',
  promised: ['paths.credits'],
  explain: `Compares responses of the credits endpoint for one key, one completely after the other. No
hour may be negative. A charge at the start may be refunded if its request fails or its client aborts
(gap G-13), so a fall is left out if such a request was sent by the first of the two and may be settled after it: a refusal for a key, for
credits or for a rate is settled with its answer, another failure at the latest by the service's deadline. ${named}`,
  expected: 'a count that only grows',
  requires: 'two captured answers of GET /user/credits for one key',
  async judged(evidence) {
    const reports = await usageReports(evidence)
    const falls = pairs(reports).filter(
      ([earlier, later]) => isAfter(later, earlier) && fallOf(earlier, later) !== null,
    )
    const held = await heldDuring(
      evidence,
      falls.map(([{ exchange }]) => exchange.row),
    )
    const negative = reports.map(({ exchange, hours }): Judged => {
      const isBelow = hours?.some(({ credits }) => (credits ?? 0) < 0)
      return [exchange, isBelow ? 'an hour below zero' : undefined]
    })
    const falling = pairs(reports).map(([earlier, later]): Judged => {
      const isSeen = earlier.consumed !== null && later.consumed !== null
      if (!isSeen || !isAfter(later, earlier)) return [later.exchange, undefined]
      const observed = fallOf(earlier, later)
      const isGivenBack = observed !== null && held.has(earlier.exchange.row)
      return [later.exchange, isGivenBack ? undefined : observed]
    })
    return [...negative, ...falling]
  },
})

/** What a fall of the consumed credits is told as; null without one. */
function fallOf(earlier: UsageReport, later: UsageReport): string | null {
  if (earlier.consumed === null || later.consumed === null) return null
  return later.consumed < earlier.consumed
    ? `${later.consumed} after ${earlier.consumed} consumed`
    : null
}

export const use04 = judgedRule({
  id: 'USE-04',
  title: 'On an account without other traffic, usage equals the cost of our attempts',
  section: '§4.4',
  needs: ['active', 'quiescence'],
  promised: ['paths.credits', 'models.cost_credits'],
  explain: `Between two responses of the credits endpoint with nothing in flight, consumed must grow by
the cost of our successes, and requests by their number. If reads cost credits (gap G-17), their cost is
added, and they may count as requests; so may requests that were refused for nothing, and then their number decides nothing. A pass by requests alone says so. Stretches are excluded if they contain
ambiguous attempts, or answers without a token, which may be free (gap G-16), and those in which consumed grew by what the balance of
the same answers lost: there the price is another (BILL-01, BILL-10).
If hours or days gained what was sent and nothing else, none of them may have been over, by any clock that its time can be of, when
the first of the responses was given.
${named}`,
  expected: 'consumed and requests that grow by what we sent',
  requires:
    'two captured answers of GET /user/credits with nothing in flight, and successes in between',
  async judged(evidence) {
    const neighbours = pairs(await usageReports(evidence))
    const rows = neighbours.map(
      ([{ exchange }, later]) => [exchange.row, later.exchange.row] as const,
    )
    const between = await sentBetween(evidence, rows)
    const accountOf = ({ exchange: { row } }: UsageReport) => `${row.runId}/${row.keyFp}`
    const byAccount = Map.groupBy(neighbours, ([earlier]) => accountOf(earlier))
    return neighbours.map(([earlier, later], at): Judged => {
      const sent = between[at]!
      if (sent === null) return [later.exchange, undefined]
      const [first] = byAccount.get(accountOf(earlier))![0]!
      const sums = compared(sent, earlier, later)
      // If the sums are right, or say nothing, the hours and days may still be wrong.
      const late = typeof sums === 'string' ? null : bookedLate(sent, first, earlier, later)
      return [later.exchange, late ?? sums]
    })
  },
})

/** Whether consumed and requests grew by what was sent; undefined if nothing shows it. */
function compared(sent: SentBetween, earlier: UsageReport, later: UsageReport): Observed {
  if (sent.requests === 0 || sent.openReads > 0) return undefined
  let isOtherPrice = false
  if (earlier.consumed !== null && later.consumed !== null) {
    const grew = withoutNoise(later.consumed - earlier.consumed)
    const cost = withoutNoise(sent.credits + sent.readCredits)
    // As much as the balance of the same pages lost: they agree, and the price is another (BILL-01, BILL-10).
    isOtherPrice =
      grew !== cost &&
      earlier.remaining !== null &&
      later.remaining !== null &&
      withoutNoise(earlier.remaining - later.remaining) === grew
    if (grew !== cost && !isOtherPrice)
      return `consumed grew by ${grew}, our successes cost ${cost}`
  }
  if (earlier.requests !== null && later.requests !== null) {
    const grew = later.requests - earlier.requests
    const counted = [sent.requests, sent.requests + sent.reads]
    // A service may count what it refuses, or some of it, if it takes nothing for it.
    const isOfRefused =
      !isOtherPrice && counted.some((least) => grew > least && grew <= least + sent.refused)
    if (!counted.includes(grew) && isOfRefused) return undefined
    if (!counted.includes(grew))
      return `requests grew by ${grew}, we had ${sent.requests} successes`
  }
  const isCostSeen = earlier.consumed !== null && later.consumed !== null
  const areRequestsSeen = earlier.requests !== null && later.requests !== null
  if (isOtherPrice || (!isCostSeen && !areRequestsSeen)) return undefined
  return isCostSeen
    ? null
    : { note: 'by the number of requests alone: no consumed credits are shown' }
}

/** What was booked under an hour or a day that was over before the first response of the run; null without any. */
function bookedLate(
  { requests, credits, readCredits }: SentBetween,
  first: UsageReport,
  earlier: UsageReport,
  later: UsageReport,
): string | null {
  const sinceMs = headerTimeS(first.exchange.header('date') ?? '') * 1000 - clockSkewMs
  for (const kind of ['hours', 'days'] as const) {
    const before = Map.groupBy(earlier[kind] ?? [], ({ startMs }) => startMs)
    const lines = [...Map.groupBy(later[kind] ?? [], ({ startMs }) => startMs)].flatMap(
      ([startMs, all]) => (startMs === null ? [] : [{ startMs, line: all[0]!, all }]),
    )
    for (const unit of ['requests', 'credits'] as const) {
      const sent = unit === 'requests' ? requests : credits + readCredits
      const gains = lines.map(({ startMs, line, all }) => ({
        line,
        gain: (sumOf(all, unit) ?? 0) - (sumOf(before.get(startMs) ?? [], unit) ?? 0),
      }))
      const over = gains.filter(({ line }) => line.endMs! < sinceMs)
      const late = over.reduce((sum, { gain }) => sum + gain, 0)
      const shown = over.find(({ gain }) => gain > 0)
      const isAll = gains.reduce((sum, { gain }) => sum + gain, 0) === sent
      if (shown === undefined || !isAll || late <= 0) continue
      const { day, startMs } = shown.line
      const of = kind === 'days' ? `the day ${day}` : `the hour ${new Date(startMs!).toISOString()}`
      return `${late} ${unit} were booked under ${of}, which was over before any of them was sent`
    }
  }
  return null
}
