import { headerTimeS } from '../../../user/header-time.ts'
import { sumOf, type UsageBucket } from '../../evidence/usage/buckets.ts'
import type { UsageReport } from '../../evidence/usage/reports.ts'
import { reportRule } from './report-rule.ts'

export const use03 = reportRule({
  id: 'USE-03',
  title: 'Hours add up to their day, and days to the total',
  explain: `Compares credits and requests of a day with those of its hours. Between the first and the last
listed day, each day must be the sum of its hours. On the first and the last day some hours may be
missing, unless they contain all requests of the day. Hours are never more than their day. Hours with
usage must belong to a listed day if days before and after are listed, or if hours and days count the same requests (or else credits) in all; then
every day is the sum of its hours, too. No hour with usage begins
after the Date of the response, nor a day that has not begun in the zone that the response names, or in any
time zone if it names none. The days may be less than the total, unless the response shows when the
account began and its days reach back to that.`,
  expected: 'sum of hours = day, sum of days = total',
  requires: 'an answer with usage by hour and by day of the same days',
  judge(report) {
    const early = ahead(report)
    if (early !== null) return early
    const judged = (['credits', 'requests'] as const).flatMap((field) => [
      hoursInZones(report, field),
      daysOfTotal(report, field),
    ])
    return (
      judged.find((observed) => typeof observed === 'string') ??
      judged.find((observed) => observed === null)
    )
  },
})

type Counted = 'credits' | 'requests'

/** Allowed difference between the clocks of one service. */
export const clockSkewMs = 60e3

/** Usage of an hour or a day that had not begun at the time of the response, by any clock that its time can be of. */
function ahead({ hours, days, exchange }: UsageReport): string | null {
  const nowMs = headerTimeS(exchange.header('date') ?? '') * 1000
  const isAhead = ({ startMs, credits, requests }: UsageBucket) =>
    startMs !== null && startMs > nowMs + clockSkewMs && Boolean(credits || requests)
  const hour = hours?.find(isAhead)
  if (hour !== undefined)
    return `usage of the hour ${new Date(hour.startMs!).toISOString()} in an answer of ${new Date(nowMs).toISOString()}`
  const day = days?.find(isAhead)
  return day === undefined
    ? null
    : `usage of the day ${day.day} in an answer of ${new Date(nowMs).toISOString()}`
}

/** The zone that a report names may be that of its reader: if hours fit days as they are written, and not in that zone, nothing is decided. */
function hoursInZones(report: UsageReport, field: Counted): string | null | undefined {
  const inZone = hoursOfDays(report, field)
  if (typeof inZone !== 'string') return inZone
  const hours = report.hours?.map((hour) => ({ ...hour, day: hour.written })) ?? null
  return typeof hoursOfDays({ ...report, hours }, field) === 'string' ? inZone : undefined
}

function hoursOfDays({ days, hours }: UsageReport, field: Counted): string | null | undefined {
  if (days?.some(({ day }) => day === null)) return undefined
  const hoursOf = byDay(hours ?? [])
  const known = [...hoursOf.keys()].toSorted()
  const [first = '', last = ''] = [known[0], known.at(-1)]
  let isCompared = false
  const listed = [...byDay(days ?? []).keys()].toSorted()
  // Hours that count all requests of the days, or all credits where requests are not shown, leave no day out.
  const totals = (['requests', 'credits'] as const)
    .map((each) => [sumOf(hours ?? [], each), sumOf(days ?? [], each)] as const)
    .find(([ofHours, ofDays]) => ofHours !== null && ofDays !== null)
  const isSame = known.length > 0 && (totals?.[0] ?? 0) > 0 && totals?.[0] === totals?.[1]
  const missing = known.find(
    (day) =>
      (isSame || (day > (listed[0] ?? day) && day < (listed.at(-1) ?? day))) &&
      !listed.includes(day) &&
      sumOf(hoursOf.get(day)!, field),
  )
  if (missing !== undefined) return `${field} in hours of ${missing}, which is no day of the list`
  for (const [day, lines] of byDay(days ?? [])) {
    const [ofDay, ofHours] = [sumOf(lines, field), sumOf(hoursOf.get(day) ?? [], field)]
    if (!isSame && (day < first || day > last)) continue
    if (ofDay === null || ofHours === null) continue
    // Nothing is the sum of nothing.
    isCompared ||= ofDay !== 0 || ofHours !== 0
    // If the hours contain all of the day's requests, none is missing.
    const requests = sumOf(lines, 'requests')
    const isWhole =
      isSame ||
      (day > first && day < last) ||
      (requests !== null && requests === sumOf(hoursOf.get(day) ?? [], 'requests'))
    if (isWhole ? ofHours !== ofDay : ofHours > ofDay)
      return `${ofHours} ${field} in the hours of ${day}, ${ofDay} on that day`
  }
  return isCompared ? null : undefined
}

/** Lines by day; empty if one has no day. */
function byDay(buckets: readonly UsageBucket[]): ReadonlyMap<string, readonly UsageBucket[]> {
  const byDay = Map.groupBy(buckets, ({ day }) => day ?? '')
  return byDay.has('') ? new Map() : byDay
}

function daysOfTotal(report: UsageReport, field: Counted): string | null | undefined {
  const { days, beganAt, exchange } = report
  const [first] = [...byDay(days ?? []).keys()].toSorted()
  if (first === undefined || beganAt === null || first > beganAt.slice(0, 10)) return undefined
  const total = field === 'credits' ? report.consumed : report.requests
  const sum = sumOf(days ?? [], field)
  if (sum === null || total === null || exchange.row.path?.includes('?')) return undefined
  if (sum === 0 && total === 0) return undefined
  // A smaller total may cover only a part of the time.
  return total > sum ? `${sum} ${field} by day since the account began, ${total} in all` : null
}

export const use05 = reportRule({
  id: 'USE-05',
  title: 'The average is all tokens divided by all successes, not a mean of means',
  explain: `If a breakdown has tokens and requests, and contains all requests of the response, the
overall average must be all tokens divided by all requests. With two unequal buckets, a mean of their
means differs; where it would be the same number, a right average decides nothing.`,
  expected: 'sum of tokens / sum of requests',
  requires:
    'a usage answer with a number of requests, and tokens of as many requests in two of its days or hours, with different averages',
  judge({ averageTokens, days, hours, requests }) {
    const buckets = [days, hours].find(
      (list) =>
        list !== null && sumOf(list, 'tokens') !== null && sumOf(list, 'requests') === requests,
    )
    if (averageTokens === null || !requests || !buckets) return undefined
    const tokens = sumOf(buckets, 'tokens')!
    const average = tokens / requests
    if (isRounded(averageTokens, average))
      return isRounded(averageTokens, meanOfMeans(buckets)) ? undefined : null
    return `${averageTokens} for ${tokens} tokens of ${requests} requests (${average.toFixed(1)})`
  },
})

/** A service may round its figures, or leave their fractions out. */
const isRounded = (shown: number, exact: number): boolean =>
  shown - exact <= 0.5 && exact - shown < 1

/** What a service shows that takes the mean of the averages of days or hours. */
function meanOfMeans(buckets: readonly UsageBucket[]): number {
  const means = buckets.flatMap(({ tokens, requests }) =>
    tokens !== null && requests ? [tokens / requests] : [],
  )
  return means.reduce((sum, mean) => sum + mean, 0) / means.length
}
