import { percentileOf } from '../../measure/percentile.ts'
import { hourUs } from '../../user/durations.ts'

/** What an hour used in a unit. */
export interface UsedHour {
  readonly startUs: number
  /** Its local time, as `2026-11-03 09:00 +00:00`. */
  readonly label: string
  readonly credits: number | null
  /** Requests of the hour. Where no hour says them, the scatter of amounts is that of the hours alone. */
  readonly requests?: number
  /** Whether it is not over, or only a part of its log was imported: at least so much. Default: false. */
  readonly open?: boolean
}

/** Fewer hours with use are no history. */
const fewestBusy = 24
/** An hour of fewer times the usual of its time of day is a busy one, and no surprise. */
const leastTimes = 3
/** Less, as a share of a week, is no matter: a loop of an hour at five times an even use is more. */
const leastShareOfWeek = 0.02
/** Accepted chance of an hour that the tail of the others does not explain. */
const falseAlarm = 1e-4
const hoursOfWeek = 168

/**
 * Hours that used so much more than usual that the others do not explain it, each with its usual: the median of its time of day, if that was busy on
 * seven days, else of all hours with use. An hour is at least three times its usual, has 2 % of what a week uses beyond it, and
 * is above the amount that, by the tail of all other hours, one hour in 10,000 would have.
 *
 * The tail is that of a power law through two percentiles of the ratios to the usual, the heaviest of four pairs: with a chance `p` beyond a
 * ratio `q`, the chance `r` is beyond `q (p / r)^γ` (Hill 1975, by percentiles as Pickands 1975, so that one or two such hours among
 * the others do not hide a third). It is heavier than that of sums of lognormal costs; bench/unusual-hours.ts counts how often it errs.
 *
 * @param hours that are over say what is usual, unless they are too few
 */
export function unusualIn<Hour extends UsedHour>(
  hours: readonly Hour[],
): readonly { readonly hour: Hour; readonly usual: number }[] {
  const whole = hours.filter(({ open = false }) => !open)
  const history = historyOf(whole) ?? historyOf(hours)
  if (history === null) return []
  return hours.flatMap((hour) => {
    const used = hour.credits ?? 0
    const usual = history.usualOf(hour)
    if (used < leastTimes * usual || used <= 0) return []
    const week = history.weekWithout(hour)
    const isUnusual =
      used - usual >= leastShareOfWeek * week && used / usual > history.mostWithout(hour)
    return isUnusual ? [{ hour, usual }] : []
  })
}

/** Robust sigmas, and a share of the median hour, beyond the usual. */
const [leastSigmas, leastShare] = [3, 0.25]

/**
 * Hours more than three robust sigmas and a quarter of the median hour above their usual, the greatest excess first. A sigma is 1.4826
 * times the median absolute deviation, but at least the scatter of as many requests of the mean amount. A steady log has some such hours,
 * too: they are told of days alone that are dear.
 */
export function busyIn<Hour extends UsedHour>(
  hours: readonly Hour[],
): readonly { readonly hour: Hour; readonly usual: number }[] {
  const whole = hours.filter(({ open = false }) => !open)
  const history = historyOf(whole) ?? historyOf(hours)
  if (history === null) return []
  return hours
    .flatMap((hour) => {
      const [used, usual] = [hour.credits ?? 0, history.usualOf(hour)]
      const isBusy =
        used - usual > leastSigmas * history.sigmaOf(hour) &&
        used - usual >= leastShare * history.median
      return used > 0 && isBusy ? [{ hour, usual }] : []
    })
    .toSorted((a, b) => b.hour.credits! - b.usual - (a.hour.credits! - a.usual))
}

interface PastHours {
  readonly median: number
  sigmaOf(hour: UsedHour): number
  usualOf(hour: UsedHour): number
  /** What the others use in a week of the mean. */
  weekWithout(hour: UsedHour): number
  /** The ratio to the usual that the others explain. */
  mostWithout(hour: UsedHour): number
}

function historyOf(hours: readonly UsedHour[]): PastHours | null {
  const busy = hours.filter(({ credits }) => (credits ?? 0) > 0)
  if (busy.length < fewestBusy) return null
  const clock = ({ label }: UsedHour) => label.slice(11, 16)
  const all = medianOf(busy.map(({ credits }) => credits!))
  const groups = new Map([...Map.groupBy(busy, clock)].filter(([, group]) => group.length >= 7))
  const byClock = new Map(
    [...groups].map(([time, group]) => [time, medianOf(group.map(({ credits }) => credits!))]),
  )
  const usualOf = (hour: UsedHour) => byClock.get(clock(hour)) ?? all
  const ratios = busy.map((hour) => hour.credits! / usualOf(hour)).sort((a, b) => a - b)
  const known = new Set(busy)
  const total = busy.reduce((sum, { credits }) => sum + credits!, 0)
  const counted = busy.filter(({ requests }) => (requests ?? 0) > 0)
  const requestsOf = counted.reduce((sum, { requests }) => sum + requests!, 0)
  const mean =
    requestsOf === 0 ? 0 : counted.reduce((sum, { credits }) => sum + credits!, 0) / requestsOf
  const first = hours.reduce((least, { startUs }) => Math.min(least, startUs), Infinity)
  const last = hours.reduce((most, { startUs }) => Math.max(most, startUs), -Infinity)
  const weeks = Math.max(1, ((last - first) / hourUs + 1) / hoursOfWeek)
  const sigmas = new Map<string | null, number>()
  return {
    ...{ median: all, usualOf },
    sigmaOf(hour) {
      const group = groups.get(clock(hour))
      const name = group === undefined ? null : clock(hour)
      const sigma = sigmas.get(name) ?? sigmaAbout(group ?? busy, usualOf(hour), mean)
      sigmas.set(name, sigma)
      return sigma
    },
    weekWithout: (hour) => (total - (known.has(hour) ? hour.credits! : 0)) / weeks,
    mostWithout(hour) {
      if (!known.has(hour)) return mostOf(ratios)
      const at = ratios.indexOf(hour.credits! / usualOf(hour))
      return mostOf([...ratios.slice(0, at), ...ratios.slice(at + 1)])
    },
  }
}

/** @param mean amount of a request: `n` of them scatter by the root of `n`, in any unit */
const sigmaAbout = (hours: readonly UsedHour[], usual: number, mean: number): number =>
  Math.max(
    1.4826 * medianOf(hours.map(({ credits }) => Math.abs(credits! - usual))),
    Math.sqrt(usual * mean),
  )

/** Pairs of percentiles that the tail is read from: the first where it begins, the second with few hours beyond. */
const pairs = [
  [0.75, 0.9],
  [0.8, 0.95],
  [0.9, 0.98],
  [0.95, 0.99],
] as const

/** The ratio that one in 10,000 is beyond. @param sorted ratios */
function mostOf(sorted: readonly number[]): number {
  const at = (share: number) => percentileOf(sorted, share)!
  const index = pairs
    // Of fewer than two hours beyond, a percentile says nothing.
    .filter(([, upper]) => (1 - upper) * sorted.length >= 2)
    .reduce(
      (most, [lower, upper]) =>
        Math.max(most, Math.log(at(upper) / at(lower)) / Math.log((1 - lower) / (1 - upper))),
      0,
    )
  const from = Math.min(0.98, Math.max(0.9, 1 - 3 / sorted.length))
  return at(from) * ((1 - from) / falseAlarm) ** index
}

/** 0 without values. */
export const medianOf = (values: readonly number[]): number =>
  percentileOf(
    [...values].sort((a, b) => a - b),
    0.5,
  ) ?? 0
