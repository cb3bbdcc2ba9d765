import {
  type Bar,
  type BarWidth,
  barsOf,
  barWidths,
  mostBars,
  type Period,
  periodAround,
  timeIn,
} from '../../measure/usage/calendar.ts'
import { quarterUs } from '../../measure/usage/quantities.ts'
import { checkTimeZone, parseMoment, shiftDaysUs, startOfDayUs } from '../../measure/usage/zone.ts'
import { dayUs, hourUs } from '../../user/durations.ts'
import { Problem } from './problem.ts'

/** A file is read by programs: it has the hours of a year. */
export const mostBarsOfFile = 9000

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

/** How long bars are, to a tenth: what is certain of a period is not asked of the calendar. */
const barUs = { hour: hourUs, day: dayUs, week: 7 * dayUs, month: 30.4 * dayUs } as const

/**
 * The bars of a period.
 *
 * @param firstWeekday 1 is Monday
 * @throws Problem for more than these, with the narrowest bucket that fits
 */
export function barsAsked(
  period: Period,
  bucket: BarWidth,
  firstWeekday = 1,
  most = mostBars,
): readonly Bar[] {
  const isFitting = (width: BarWidth) => {
    const bars = (period.toUs - period.fromUs) / barUs[width]
    if (bars * 0.9 - 2 > most) return false
    return bars * 1.1 + 2 <= most || barsOf(period, width, firstWeekday, most).length <= most
  }
  if (isFitting(bucket)) return barsOf(period, bucket, firstWeekday, most)
  const fitting = barWidths.find(isFitting)
  throw new Problem(400, 'too-many-bars', `This period has more than ${most} bars`, {
    hint: `bucket=${fitting} fits.`,
  })
}

/** The default period of the page: this month so far. */
export function usualPeriod(
  { timezone }: Pick<Period, 'timezone'>,
  nowMs: number,
): { readonly from: string; readonly to: string } {
  const endUs = shiftDaysUs(startOfDayUs(nowMs * 1000, timezone), 1, timezone)
  const day = (us: number) => timeIn(us, timezone).slice(0, 10)
  return { from: day(periodAround(nowMs * 1000, timezone, 'month', 1).fromUs), to: day(endUs) }
}

/** `quarter` is the last 90 days. */
export const presets = ['today', 'week', 'month', 'lastMonth', 'quarter'] as const

/** Periods that people ask for, as dates; `to` is exclusive. */
export function presetPeriods(
  { timezone }: Pick<Period, 'timezone'>,
  nowMs: number,
): readonly {
  readonly name: (typeof presets)[number]
  readonly from: string
  readonly to: string
}[] {
  const day = (us: number) => timeIn(us, timezone).slice(0, 10)
  const today = startOfDayUs(nowMs * 1000, timezone)
  const end = day(shiftDaysUs(today, 1, timezone))
  const month = periodAround(nowMs * 1000, timezone, 'month', 1).fromUs
  const back = (days: number) => day(shiftDaysUs(today, -days, timezone))
  return [
    { name: 'today', from: day(today), to: end },
    { name: 'week', from: back(6), to: end },
    { name: 'month', from: day(month), to: end },
    {
      name: 'lastMonth',
      from: day(periodAround(month - 1, timezone, 'month', 1).fromUs),
      to: day(month),
    },
    { name: 'quarter', from: back(89), to: end },
  ]
}
