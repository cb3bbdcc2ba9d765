import {
  type Band,
  type CalendarLimit,
  lengthUs,
  weekdayNames,
  windowsOf,
} from '../contract/contract.ts'
import { dayMs, dayUs, hourUs } from '../user/durations.ts'

const fields = new Map<string, Intl.DateTimeFormat>()

/** The clock of a zone, in numbers. */
function clockOf(zone: string): Intl.DateTimeFormat {
  const known = fields.get(zone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    calendar: 'iso8601',
    hourCycle: 'h23',
    // The hour that a clock repeats in autumn is two hours.
    timeZoneName: 'longOffset',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  })
  fields.set(zone, made)
  return made
}

type Begun = Pick<CalendarLimit, 'each' | 'zone' | 'begins' | 'at'>

/**
 * The name of the window of a calendar that holds a moment: `2026-11-28T10 UTC+01:00`, or the day on which it began. A month that
 * begins on the first is `2026-11`.
 */
export function calendarWindow(atMs: number, { each, zone, begins, at = '00:00' }: Begun): string {
  const parts = new Map(
    clockOf(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  )
  const date = `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`
  const [hour, minute] = [parts.get('hour'), parts.get('minute')]
  const offset = `UTC${parts.get('timeZoneName')?.slice(3)}`
  if (each === 'minute') return `${date}T${hour}:${minute} ${offset}`
  if (each === 'hour') return `${date}T${hour} ${offset}`
  const noonMs = Date.parse(`${date}T12:00:00Z`) - (`${hour}:${minute}` < at ? dayMs : 0)
  const noon = new Date(noonMs)
  const from = (days: number) => new Date(noonMs - days * dayMs).toISOString().slice(0, 10)
  if (each === 'day') return from(0)
  if (each === 'week') {
    const first = weekdayNames.findIndex((name) => name === (begins ?? 'monday'))
    return from((noon.getUTCDay() - first + 7) % 7)
  }
  const first = typeof begins === 'number' ? begins : 1
  if (first === 1) return from(0).slice(0, 7)
  const isBefore = noon.getUTCDate() < first
  const began = Date.UTC(noon.getUTCFullYear(), noon.getUTCMonth() - (isBefore ? 1 : 0), first)
  return new Date(began).toISOString().slice(0, 10)
}

/** The greatest length of a window of a calendar, in microseconds. */
export const longestUs: Readonly<Record<CalendarLimit['each'], number>> = {
  minute: 60e6,
  hour: hourUs,
  day: dayUs + hourUs,
  week: 7 * dayUs + hourUs,
  month: 31 * dayUs + hourUs,
}

/** The longest window of some bands, and a day where theirs are shorter: a service may have limits that it does not promise. */
export function longestWindowUs(bands: readonly Band[]): {
  readonly rolling: number
  readonly ofCalendar: number
} {
  const most = (lengths: readonly number[], least: number) =>
    lengths.reduce((longest, length) => Math.max(longest, length), least)
  return {
    rolling: most(
      bands.flatMap((band) => windowsOf(band).map(lengthUs)),
      lengthUs('day'),
    ),
    ofCalendar: most(
      bands.flatMap(({ calendar = [] }) => calendar.map(({ each }) => longestUs[each])),
      0,
    ),
  }
}

/** Midnights and full hours of every zone fall on a quarter of an hour of Unix time. */
export const edgesOfZonesUs = 900e6
