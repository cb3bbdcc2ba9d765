import { dayUs } from '../../../user/durations.ts'
import { type CourseOfUnit, forecastOfHeld, type UsageForecast } from '../shape.ts'

/** Days of the outlook if nothing runs out. */
const outlookDays = 45

/** A figure in the early, the median and the late future. */
interface OfFutures {
  readonly low: number
  readonly median: number
  readonly high: number
}

export interface OutlookPoint {
  readonly atUs: number
  /** What is left. */
  readonly balance: OfFutures
  /** What is used since the forecast began. It never falls, also not where credits expire. */
  readonly used: OfFutures
}

/**
 * The balance and the use to come in the early, median and late future. A balance burns evenly until it is empty, or at the
 * forecast's daily burn if that is beyond the horizon, with a step where credits expire unused. Empty without a forecast.
 */
export function outlookPoints(page: UsageForecast): readonly OutlookPoint[] {
  const { depletion, courses } = page
  const forecast = forecastOfHeld(page)
  if (!depletion.known || !forecast.known) return []
  // From there the page counts its dates.
  const { fromUs } = courses[0]!
  const { earlyUs, medianUs, lateUs } = depletion.runsOut
  const heldAt = (us: number) =>
    depletion.wasted.reduce(
      (left, each) => left - (each.expiresUs <= us ? each.creditsMedian : 0),
      depletion.balance,
    )
  const future = (
    emptyUs: number | null,
    perDay: number,
    which: 'creditsLow' | 'creditsMedian' | 'creditsHigh',
  ) => {
    const lost = depletion.wasted.map((each) => ({ us: each.expiresUs, credits: each[which] }))
    const lostBefore = (us: number) =>
      lost.reduce((sum, each) => sum + (each.us <= us ? each.credits : 0), 0)
    const burned = depletion.balance - (emptyUs === null ? 0 : lostBefore(emptyUs))
    const perUs = emptyUs === null ? perDay / dayUs : burned / Math.max(1, emptyUs - fromUs)
    const endUs = emptyUs ?? fromUs + depletion.balance / Math.max(perUs, Number.EPSILON)
    const balance = (us: number) =>
      us >= endUs ? 0 : Math.max(0, depletion.balance - perUs * (us - fromUs) - lostBefore(us))
    // All futures end on the one line of what is held.
    const used = (us: number) =>
      emptyUs === null
        ? Math.min(perUs * (us - fromUs), heldAt(us))
        : heldAt(emptyUs) * Math.min(1, (us - fromUs) / Math.max(1, emptyUs - fromUs))
    return { endUs, balance, used }
  }
  const low = future(earlyUs, forecast.highPerDay, 'creditsLow')
  const median = future(medianUs, forecast.medianPerDay, 'creditsMedian')
  const high = future(lateUs, forecast.lowPerDay, 'creditsHigh')
  // The drawing covers the dates that the page mentions.
  const untilUs = Math.min(
    high.endUs,
    Math.max(fromUs + outlookDays * dayUs, earlyUs ?? 0, medianUs ?? 0, lateUs ?? 0),
  )
  const steps = 48
  const even = Array.from({ length: steps + 1 }, (_, step) =>
    Math.round(fromUs + ((untilUs - fromUs) * step) / steps),
  )
  const edges = depletion.wasted
    .flatMap(({ expiresUs }) => [expiresUs - 1000, expiresUs])
    .filter((us) => us > fromUs && us < untilUs)
  return [...new Set([...even, ...edges])]
    .sort((a, b) => a - b)
    .map((atUs) => {
      const of = (figure: 'balance' | 'used'): OfFutures => ({
        low: low[figure](atUs),
        median: median[figure](atUs),
        high: high[figure](atUs),
      })
      return { atUs, balance: of('balance'), used: of('used') }
    })
}

/** Until when the use of a page is known: now, if it is known until the forecast begins, which is at most some minutes ago. */
export function knownUntil(
  page: Pick<UsageForecast, 'courses' | 'scope'> | null,
  lastUs: number,
  nowUs: number,
): number {
  const fromUs = page?.courses[0]?.fromUs ?? null
  if (page === null || fromUs === null) return Math.min(lastUs, nowUs)
  return fromUs >= page.scope.nowUs ? nowUs : Math.min(nowUs, Math.max(lastUs, fromUs))
}

/**
 * From when on use is forecast: now, if it is known until the forecast was made. A forecast is kept for an hour, and what was used since
 * is known.
 */
export function forecastFrom(
  { scope }: Pick<UsageForecast, 'scope'>,
  { fromUs }: Pick<CourseOfUnit, 'fromUs'>,
  nowUs: number,
): number {
  return fromUs >= scope.nowUs ? Math.max(fromUs, nowUs) : fromUs
}

/**
 * Use to come, from a later moment on: without what the median future has used of its first point before.
 *
 * @param points each with what is used since `fromUs` until `timeOf` it, Unix microseconds
 */
export function usedSince<Point extends OfFutures>(
  points: readonly Point[],
  timeOf: (point: Point) => number,
  { fromUs, sinceUs }: { readonly fromUs: number; readonly sinceUs: number },
): readonly Point[] {
  const coming = points.filter((point) => timeOf(point) > sinceUs)
  const [first] = coming
  if (first === undefined) return []
  const before = (first.median * (sinceUs - fromUs)) / (timeOf(first) - fromUs)
  const less = (value: number) => Math.max(0, value - before)
  return coming.map((point) => ({
    ...point,
    low: less(point.low),
    median: less(point.median),
    high: less(point.high),
  }))
}

/** What the cumulative chart shows of the time to come. */
export interface Outlook {
  /** What is left now: the line of what is held; null draws none. */
  readonly balance: number | null
  /** A line at this much use until the budget begins anew; null draws none. */
  readonly budget: { readonly amount: number; readonly hour: number } | null
  /** When the median future has used up what is held; null if it has not by the end of the points, or what is left expires then. */
  readonly runsOut: { readonly hour: number } | null
  /** The use to come since it is no longer known. */
  readonly points: readonly (OfFutures & { readonly hour: number })[]
  readonly expiries: readonly { readonly hour: number; readonly credits: number }[]
}

/**
 * The balance at the start, the use to come, and the credits that expire unused, with Unix microseconds as hours. Null without
 * a forecast.
 *
 * @param unit of the chart: what is held in another one is no line of it
 * @param budget of the time of the chart
 * @param nowUs of the chart
 */
export function outlookOf(
  page: UsageForecast,
  unit: string,
  budget: Outlook['budget'],
  nowUs: number,
): Outlook | null {
  const points = outlookPoints(page)
  if (points.length === 0 || !page.depletion.known || page.depletion.unit !== unit) return null
  const { balance, wasted, runsOut } = page.depletion
  const isExpiry = wasted.some(
    (each) => each.expiresUs === runsOut.medianUs && each.creditsMedian > 0,
  )
  const course = page.courses[0]!
  const sinceUs = forecastFrom(page, course, nowUs)
  const coming = usedSince(
    points.map(({ atUs, used }) => ({ hour: atUs, ...used })),
    ({ hour }) => hour,
    { fromUs: course.fromUs, sinceUs },
  )
  return {
    balance,
    budget,
    runsOut: runsOut.medianUs === null || isExpiry ? null : { hour: runsOut.medianUs },
    points: [{ hour: sinceUs, low: 0, median: 0, high: 0 }, ...coming],
    expiries: wasted.map(({ expiresUs, creditsMedian }) => ({
      hour: expiresUs,
      credits: creditsMedian,
    })),
  }
}
