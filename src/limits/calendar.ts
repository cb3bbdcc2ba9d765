import type { CalendarLimit } from '../contract/contract.ts'

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
  })
  fields.set(zone, made)
  return made
}

/** The name of the window of a calendar that holds a moment: `2026-11-28T10 UTC+01:00`, `2026-11-28`, the Monday of its week, `2026-11`. */
export function calendarWindow(atMs: number, { each, zone }: CalendarLimit): string {
  const parts = new Map(
    clockOf(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  )
  const day = `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`
  if (each === 'day') return day
  if (each === 'month') return day.slice(0, 7)
  if (each === 'hour')
    return `${day}T${parts.get('hour')} UTC${parts.get('timeZoneName')?.slice(3)}`
  const noonMs = Date.parse(`${day}T12:00:00Z`)
  const sinceMonday = (new Date(noonMs).getUTCDay() + 6) % 7
  return new Date(noonMs - sinceMonday * 86_400e3).toISOString().slice(0, 10)
}

/** The greatest length of a window of a calendar, in microseconds. */
export const longestUs: Readonly<Record<CalendarLimit['each'], number>> = {
  hour: 3600e6,
  day: 25 * 3600e6,
  week: (7 * 24 + 1) * 3600e6,
  month: 31 * 86_400e6 + 3600e6,
}

/** Midnights and full hours of every zone fall on a quarter of an hour of Unix time. */
export const edgesOfZonesUs = 900e6
