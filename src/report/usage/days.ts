import { endOfDayUs, startOfDayUs, weekdayOf } from '../../measure/usage/zone.ts'
import { dayUs } from '../../user/durations.ts'
import { largest, smallest } from '../../user/extremes.ts'
import type { PastDay } from './burn-model.ts'
import type { ComingDay } from './forecast.ts'
import type { SeriesPoint, UsageScope } from './shape.ts'

/** The least measured part of a day that counts. */
const leastShare = 0.02
/** Of at most a day, a silence so many times as long as any before is still no sign that use is missing. */
const slack = 4

/**
 * Until when use is known, Unix microseconds. After a silence that is usual for the account, that is now: nothing was used since. After
 * a longer one, more of the log is to come, and the last request is taken to last for the mean time between requests.
 *
 * @param longestUs the longest silence between two uses before, microseconds
 */
export function knownTo(
  {
    sources,
    nowUs,
  }: Pick<UsageScope, 'nowUs'> & {
    readonly sources: readonly Pick<
      UsageScope['sources'][number],
      'requests' | 'firstUs' | 'lastUs'
    >[]
  },
  longestUs: number,
): number {
  const firstUs = smallest(sources.map((each) => each.firstUs))
  const lastUs = largest(sources.map((each) => each.lastUs))
  const usual = Math.max(longestUs, Math.min(slack * longestUs, dayUs))
  if (nowUs - lastUs <= usual) return nowUs
  const requests = sources.reduce((sum, each) => sum + each.requests, 0)
  const between = requests === 0 ? 1 : (lastUs - firstUs) / Math.max(1, requests - 1)
  return Math.min(nowUs, lastUs + between)
}

/**
 * What a point used of a unit; null if that is not known. Of requests whose known costs are all in other units, nothing.
 */
function amountOf(
  { credits, money, requests }: SeriesPoint,
  unit: string,
  units: readonly string[],
) {
  if (units.length === 1 && unit === units[0]) return credits
  const amount = money[unit]
  if (amount !== undefined) return Number(amount)
  return requests === 0 || Object.keys(money).length > 0 ? 0 : null
}

/**
 * Measured days in the order of `days`. The first and the last may be partly measured.
 *
 * @param knownToUs until when use is known
 * @param unit of the amounts; default: the one of the page
 */
export function pastDays(
  days: readonly SeriesPoint[],
  scope: UsageScope,
  knownToUs: number,
  unit = scope.units[0] ?? scope.unit,
): readonly PastDay[] {
  const { sources, timezone, units } = scope
  // Without a known cost, a day without requests says nothing about the others.
  if (units.length === 0) return []
  const firstUs = smallest(sources.map((each) => each.firstUs))
  const sums = new Map<number, { endUs: number; credits: number | null }>()
  for (const day of days) {
    const { credits } = sums.get(day.startUs) ?? { credits: 0 }
    const amount = amountOf(day, unit, units)
    sums.set(day.startUs, {
      endUs: day.startUs + day.lengthS * 1e6,
      credits: credits === null || amount === null ? null : credits + amount,
    })
  }
  // A unit that took over from another begins on its first day.
  const all = [...sums]
  const begun =
    units.length > 1 ? all.findIndex(([, { credits }]) => credits !== null && credits !== 0) : 0
  return all.slice(Math.max(0, begun)).flatMap(([fromUs, { endUs, credits }]) => {
    const startUs = startOfDayUs(fromUs, timezone)
    const seenUs = Math.min(endUs, knownToUs) - Math.max(fromUs, firstUs)
    const part = seenUs / (endOfDayUs(fromUs, timezone) - startUs)
    // The first request of a full day is not exactly at midnight.
    const share = part > 0.9999 ? 1 : part
    return credits === null || share < leastShare
      ? []
      : [{ startUs, weekday: weekdayOf(startUs, timezone), credits, share }]
  })
}

/** The next `count` local days; the first one has begun. */
export function comingDays(fromUs: number, timezone: string, count: number): readonly ComingDay[] {
  const days: ComingDay[] = []
  let begunUs = startOfDayUs(fromUs, timezone)
  for (let startUs = fromUs; days.length < count; startUs = begunUs) {
    const endUs = endOfDayUs(startUs, timezone)
    const share = (endUs - startUs) / (endUs - begunUs)
    days.push({ startUs, endUs, weekday: weekdayOf(startUs, timezone), share })
    begunUs = endUs
  }
  return days
}
