import { dayUs, hourUs } from '../../user/durations.ts'
import { quarterUs } from './quantities.ts'
import { endOfDayUs, parseMoment, shiftDaysUs, startOfDayUs, wallMs, weekdayOf } from './zone.ts'

/** Unix microseconds; `toUs` is exclusive. */
export interface Period {
  readonly fromUs: number
  readonly toUs: number
  readonly timezone: string
}

/** Widths of bars, from narrow to wide. */
export const barWidths = ['hour', 'day', 'week', 'month'] as const
export type BarWidth = (typeof barWidths)[number]

export interface Bar {
  readonly startUs: number
  readonly endUs: number
}

/** So many bars fit into a chart. */
export const mostBars = 400

/** The narrowest width with at most 400 bars; the widest if none has so few. Hours are for at most 16 days. @param firstWeekday 1 is Monday */
export function fittingWidth(period: Period, firstWeekday = 1): BarWidth {
  const isShort = period.toUs - period.fromUs <= 16 * dayUs
  return (
    barWidths
      .slice(isShort ? 0 : 1)
      .find((width) => barsOf(period, width, firstWeekday, mostBars).length <= mostBars) ?? 'month'
  )
}

/**
 * The bars of a period in local time. The first and the last are cut to the period. An hour that occurs twice is two.
 *
 * @param firstWeekday 1 is Monday
 * @param most at most one more than these is listed
 */
export function barsOf(
  { fromUs, toUs, timezone }: Period,
  width: BarWidth,
  firstWeekday = 1,
  most = Number.POSITIVE_INFINITY,
): readonly Bar[] {
  const bars: Bar[] = []
  for (let startUs = fromUs; startUs < toUs && bars.length <= most; ) {
    const endsUs =
      width === 'hour'
        ? hoursOfDay(startUs, timezone)
        : [endOfBarUs(startUs, timezone, width, firstWeekday)]
    for (const endUs of endsUs) {
      if (startUs >= toUs || bars.length > most) break
      bars.push({ startUs, endUs: Math.min(toUs, endUs) })
      startUs = endUs
    }
  }
  return bars
}

/** The ends of the hours of a local day after a moment of it: a day is asked of the calendar once. */
function hoursOfDay(us: number, timezone: string): readonly number[] {
  const endUs = endOfDayUs(us, timezone)
  const passed = (us - startOfDayUs(us, timezone)) % hourUs
  const first = us - passed + hourUs
  return Array.from({ length: Math.ceil((endUs - first) / hourUs) + 1 }, (_, at) =>
    Math.min(first + at * hourUs, endUs),
  )
}

function endOfBarUs(
  us: number,
  timezone: string,
  width: Exclude<BarWidth, 'hour'>,
  firstWeekday: number,
): number {
  switch (width) {
    case 'day':
      return endOfDayUs(us, timezone)
    case 'week': {
      const left = 7 - ((weekdayOf(us, timezone) - firstWeekday + 7) % 7)
      return shiftDaysUs(startOfDayUs(us, timezone), left, timezone)
    }
    case 'month': {
      return parseMoment(nextMonth(timeIn(us, timezone)), timezone)
    }
  }
}

/** The first day of the month after one: `2026-11-01`. @param from a date of that one, or `2026-10` */
export function nextMonth(from: string): string {
  const [year, month] = from.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10)
}

/** The local day, week, month or year that a moment is in. */
export function periodAround(
  us: number,
  timezone: string,
  kind: 'day' | 'week' | 'month' | 'year',
  firstWeekday: number,
): Period {
  const day = startOfDayUs(us, timezone)
  if (kind === 'day') return { fromUs: day, toUs: endOfDayUs(us, timezone), timezone }
  if (kind === 'week') {
    const passed = (weekdayOf(us, timezone) - firstWeekday + 7) % 7
    const [fromUs, toUs] = [-passed, 7 - passed].map((days) =>
      startOfDayUs(shiftDaysUs(day, days, timezone), timezone),
    ) as [number, number]
    return { fromUs, toUs, timezone }
  }
  const [year, month] = timeIn(us, timezone).split('-').map(Number) as [number, number]
  const first = (years: number, months: number) =>
    parseMoment(new Date(Date.UTC(years, months - 1, 1)).toISOString().slice(0, 10), timezone)
  return kind === 'month'
    ? { fromUs: first(year, month), toUs: first(year, month + 1), timezone }
    : { fromUs: first(year, 1), toUs: first(year + 1, 1), timezone }
}

/** Share of the period before that may be missing at its start: no log begins exactly on time. */
const mostMissing = 0.02

/**
 * The period before, of as many local days. It is cut to the part of this one that is measured, to compare half a month with half a month.
 *
 * @param measured the first and the last request, Unix microseconds; null without any
 * @returns null if it was not measured from its start
 */
export function periodBefore(
  { fromUs, toUs, timezone }: Period,
  measured: { readonly firstUs: number | null; readonly lastUs: number | null },
): Period | null {
  const { firstUs, lastUs } = measured
  if (firstUs === null || lastUs === null) return null
  const days = Math.round((toUs - fromUs) / dayUs)
  const isWhole = shiftDaysUs(fromUs, days, timezone) === toUs
  const beforeFromUs = isWhole ? shiftDaysUs(fromUs, -days, timezone) : fromUs - (toUs - fromUs)
  const passed = Math.min(toUs, Math.max(lastUs + 1, fromUs)) - fromUs
  const elapsed = passed < toUs - fromUs ? passed : fromUs - beforeFromUs
  const beforeToUs = Math.min(fromUs, beforeFromUs + Math.ceil(elapsed / quarterUs) * quarterUs)
  return firstUs - beforeFromUs > mostMissing * (beforeToUs - beforeFromUs)
    ? null
    : { fromUs: beforeFromUs, toUs: beforeToUs, timezone }
}

/** RFC 3339 in a zone, with its offset to the minute. */
export function timeIn(us: number, timezone: string): string {
  const wall = wallMs(us, timezone)
  const minutes = Math.round((wall - Math.floor(us / 1000)) / 60_000)
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  const offset = Math.abs(minutes)
  return `${new Date(wall).toISOString().slice(0, 19)}${minutes < 0 ? '-' : '+'}${twoDigits(Math.floor(offset / 60))}:${twoDigits(offset % 60)}`
}
