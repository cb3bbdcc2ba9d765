import type { UsagePage } from '../shape.ts'

/** Days of the outlook if nothing runs out. */
const outlookDays = 45
const dayUs = 86_400e6

export interface OutlookPoint {
  readonly atUs: number
  readonly low: number
  readonly median: number
  readonly high: number
}

/**
 * The balance to come in the early, median and late future. It burns evenly until it is empty, or at the forecast's
 * daily burn if that is beyond the horizon, with a step where credits expire unused. Empty without a forecast.
 */
export function outlookPoints({ depletion, forecast, scope }: UsagePage): readonly OutlookPoint[] {
  if (!depletion.known || !forecast.known) return []
  // The start of the forecast, from which the page counts its dates.
  const fromUs = Math.min(scope.nowUs, Math.max(...scope.sources.map((each) => each.lastUs)))
  const { earlyUs, medianUs, lateUs } = depletion.runsOut
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
    const at = (us: number) =>
      us >= endUs ? 0 : Math.max(0, depletion.balance - perUs * (us - fromUs) - lostBefore(us))
    return { endUs, at }
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
    .map((atUs) => ({ atUs, low: low.at(atUs), median: median.at(atUs), high: high.at(atUs) }))
}

/** What the board draws: the balance at the start, its course, and the credits that expire unused. Null without a forecast. */
export function outlookOf(page: UsagePage, hourOf: (us: number) => number) {
  const points = outlookPoints(page)
  if (points.length === 0 || !page.depletion.known) return null
  const { balance, wasted } = page.depletion
  return {
    balance,
    points: points.map(({ atUs, ...values }) => ({ hour: hourOf(atUs), ...values })),
    expiries: wasted.map(({ expiresUs, creditsMedian }) => ({
      hour: hourOf(expiresUs),
      credits: creditsMedian,
    })),
  }
}
