import { quarterUs } from '../measure/usage/quantities.ts'
import {
  checkTimeZone,
  endOfDayUs,
  parseMoment,
  shiftDaysUs,
  startOfDayUs,
  weekdayOf,
} from '../report/usage/zone.ts'
import { Problem } from './problem.ts'

export const buckets = ['hour', 'day', 'week', 'month'] as const
export type BarWidth = (typeof buckets)[number]
export const mostBars = 400

/** Unix microseconds; `toUs` is exclusive. */
export interface Period {
  readonly fromUs: number
  readonly toUs: number
  readonly timezone: string
}

export interface Bar {
  readonly startUs: number
  readonly endUs: number
}

const dayUs = 86_400e6
const longestUs = 20 * 366 * dayUs

/** @throws Problem for a zone, a moment or a period that is not one */
export function periodOf(from: string, to: string, timezone: string): Period {
  try {
    checkTimeZone(timezone)
  } catch {
    throw new Problem(400, 'bad-timezone', 'The time zone is unknown', {
      hint: 'Use an IANA name, such as UTC or Europe/Berlin.',
    })
  }
  const moment = (text: string, name: string) => {
    try {
      return parseMoment(text, timezone)
    } catch {
      throw new Problem(400, 'bad-period', `${name} is not a time`, {
        hint: 'Use a date (2026-11-01), or a time with an offset (2026-11-01T09:30:00+01:00).',
      })
    }
  }
  const [fromUs, toUs] = [moment(from, 'from'), moment(to, 'to')]
  if (fromUs >= toUs || toUs - fromUs > longestUs) {
    throw new Problem(400, 'bad-period', 'The period is empty or longer than 20 years', {
      hint: 'to is exclusive, and comes after from.',
    })
  }
  if (fromUs % quarterUs !== 0 || toUs % quarterUs !== 0) {
    throw new Problem(400, 'bad-period', 'A period begins and ends on a quarter of an hour')
  }
  return { fromUs, toUs, timezone }
}

/** The period of equal length before: as many local days, if it has whole days. */
export function periodBefore({ fromUs, toUs, timezone }: Period): Period {
  const days = Math.round((toUs - fromUs) / dayUs)
  const isWhole = shiftDaysUs(fromUs, days, timezone) === toUs
  return {
    fromUs: isWhole ? shiftDaysUs(fromUs, -days, timezone) : fromUs - (toUs - fromUs),
    toUs: fromUs,
    timezone,
  }
}

/** The smallest bucket with at most 400 bars. */
export function autoBucket({ fromUs, toUs }: Period): BarWidth {
  const days = (toUs - fromUs) / dayUs
  return days <= 16 ? 'hour' : days <= 400 ? 'day' : days <= 7 * 365.25 ? 'week' : 'month'
}

/**
 * The bars of a period in local time. The first and the last are cut to the period. An hour that occurs twice is two.
 *
 * @param firstWeekday 1 is Monday
 * @throws Problem for more than 400, with the bucket that fits
 */
export function barsOf(period: Period, bucket: BarWidth, firstWeekday = 1): readonly Bar[] {
  const { fromUs, toUs } = period
  const bars: Bar[] = []
  for (let startUs = fromUs; startUs < toUs; ) {
    if (bars.length === mostBars) {
      throw new Problem(400, 'too-many-bars', `This period has more than ${mostBars} bars`, {
        hint: `bucket=${autoBucket(period)} fits.`,
      })
    }
    const endUs = Math.min(toUs, endOf(startUs, period.timezone, bucket, firstWeekday))
    bars.push({ startUs, endUs })
    startUs = endUs
  }
  return bars
}

function endOf(us: number, timezone: string, bucket: BarWidth, firstWeekday: number): number {
  switch (bucket) {
    case 'hour': {
      const passed = (us - startOfDayUs(us, timezone)) % 3600e6
      return Math.min(us - passed + 3600e6, endOfDayUs(us, timezone))
    }
    case 'day':
      return endOfDayUs(us, timezone)
    case 'week': {
      const left = 7 - ((weekdayOf(us, timezone) - firstWeekday + 7) % 7)
      return shiftDaysUs(startOfDayUs(us, timezone), left, timezone)
    }
    case 'month': {
      const [year, month] = new Intl.DateTimeFormat('en-CA', { timeZone: timezone })
        .format(us / 1000)
        .split('-')
        .map(Number) as [number, number]
      const next = new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10)
      return parseMoment(next, timezone)
    }
  }
}

/** RFC 3339 in a zone, with its offset. */
export function timeIn(us: number, timezone: string): string {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    })
      .formatToParts(Math.floor(us / 1000))
      .map(({ type, value }) => [type, value]),
  )
  const offset = parts.timeZoneName!.replace('GMT', '') || '+00:00'
  return `${parts.year}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}:${parts.second}${offset}`
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

/** The default period of the page: the last 31 local days. */
export function usualPeriod(
  { timezone }: Pick<Period, 'timezone'>,
  nowMs: number,
): { readonly from: string; readonly to: string } {
  const endUs = shiftDaysUs(startOfDayUs(nowMs * 1000, timezone), 1, timezone)
  const day = (us: number) => timeIn(us, timezone).slice(0, 10)
  return { from: day(shiftDaysUs(endUs, -31, timezone)), to: day(endUs) }
}
