import { type Period, periodAround } from '../../measure/usage/calendar.ts'
import { forecastFrom, usedSince } from '../../report/usage/board/outlook.ts'
import type { CoursePoint, UsageForecast } from '../../report/usage/shape.ts'
import type { Asked } from '../api/asked.ts'
import { amountIn } from './cause.ts'
import { within } from './rows.ts'
import { readFigures } from './sums.ts'

/** What a period will have used at its end: 80 % of the futures are from `low` to `high`. */
export interface Projection {
  readonly fromUs: number
  readonly toUs: number
  /** Until now. */
  readonly used: number
  readonly low: number
  readonly median: number
  readonly high: number
}

/** The days to come from now on in a unit, in which credits with a price are money, too. */
export function courseIn(
  page: UsageForecast | null,
  unit: string,
  { view, nowMs }: Pick<Asked, 'view' | 'nowMs'>,
): readonly CoursePoint[] {
  const daysOf = (wanted: string) => {
    const course = page?.courses.find((each) => each.unit === wanted)
    if (page === null || course === undefined) return []
    const sinceUs = forecastFrom(page, course, nowMs * 1000)
    return usedSince(course.days, ({ endUs }) => endUs, { fromUs: course.fromUs, sinceUs })
  }
  const own = daysOf(unit)
  if (own.length > 0 || unit === 'credits') return own
  const price = view.moneyOf('1')
  if (price?.currency !== unit) return []
  const times = Number(price.value)
  return daysOf('credits').map((day) => ({
    endUs: day.endUs,
    low: day.low * times,
    median: day.median * times,
    high: day.high * times,
  }))
}

/** @param used so far in the period */
export function projectedTo(
  course: readonly CoursePoint[],
  used: number,
  { fromUs, toUs }: Pick<Period, 'fromUs' | 'toUs'>,
): Projection | null {
  // The last day may end an hour apart from the period where clocks change.
  const end = course.find(({ endUs }) => endUs >= toUs)
  if (end === undefined) return null
  const { low, median, high } = end
  return { fromUs, toUs, used, low: used + low, median: used + median, high: used + high }
}

/** When the median future has used this much more, Unix microseconds; null if not before the end of the period. */
export function crossedAt(
  course: readonly CoursePoint[],
  left: number,
  { toUs }: Pick<Period, 'toUs'>,
): number | null {
  const day = course.find(({ median }) => median >= left)
  return day === undefined || day.endUs > toUs ? null : day.endUs - 1
}

/** What this month will have used in each of these units that has a forecast. */
export async function monthProjections(
  asked: Asked,
  page: UsageForecast | null,
  units: readonly string[],
): Promise<ReadonlyMap<string, Projection>> {
  const { view, nowMs } = asked
  const month = periodAround(nowMs * 1000, view.timezone, 'month', view.firstWeekday)
  const [sums] = await readFigures<object, never>(asked, [], within(asked, month))
  return new Map(
    units.flatMap((unit) => {
      const used = amountIn(asked, sums!, unit)
      const found = projectedTo(courseIn(page, unit, asked), Number(used ?? 0), month)
      return found === null ? [] : [[unit, found] as const]
    }),
  )
}
