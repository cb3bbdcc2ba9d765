import { isCalendarDay } from '../../../user/calendar-day.ts'

/** A moment that a log writes. */
interface LogTime {
  readonly atMs: number
  /** Whether it is written without a zone, and so read as UTC. */
  readonly isZoneOpen: boolean
}

/** By their digits before the point: seconds, milliseconds, microseconds and nanoseconds of Unix. */
const unitsMs: Readonly<Record<number, number>> = { 10: 1e3, 13: 1, 16: 1e-3, 19: 1e-6 }

/** A date with an hour: `T` or a space between, any fraction, an offset of hours alone, and what Go writes after an offset. */
const dated =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))? ?(?:(Z|UTC|GMT)|([+-]\d\d)(?::?(\d\d))?(?: [A-Z]{1,5}| [+-]\d{4})?(?: m=.*)?)?$/i

/** A number that is no moment, such as a duration of some seconds. */
export const isPlainNumber = (text: string): boolean => /^[+-]?\d*\.?\d+(?:e[+-]?\d+)?$/i.test(text)

/** The moment that a text says; null if nobody can read it, or if it is a number that is none. */
export function readTime(written: string): LogTime | null {
  const text = written.trim()
  const [, digits] = /^(\d+)(?:\.\d*)?$/.exec(text) ?? []
  const unitMs = digits === undefined ? undefined : unitsMs[digits.length]
  if (unitMs !== undefined) return { atMs: Number(text) * unitMs, isZoneOpen: false }
  // Without a year of four digits, a parser makes a date of any number; of 09/11/2026 nobody knows which is the month.
  if (isPlainNumber(text) || !/(?:^|\D)\d{4}(?:\D|$)/.test(text)) return null
  if (/^\d{1,2}[/.-]\d{1,2}[/.-]\d{4}/.test(text)) return null
  const [isoDay] = /^\d{4}-\d\d-\d\d/.exec(text) ?? []
  if (isoDay !== undefined && !isCalendarDay(isoDay)) return null
  const [found, day, time, fraction = '0', utc, hours, minutes = '00'] = dated.exec(text) ?? []
  const hasZone =
    found === undefined
      ? /(?:Z|UTC|GMT|\d[+-]\d\d:?\d\d| [+-]\d{4})$/i.test(text)
      : (utc ?? hours) !== undefined
  const zone = hours === undefined ? 'Z' : `${hours}:${minutes}`
  const atMs = Date.parse(
    found === undefined
      ? hasZone
        ? text
        : `${text}Z`
      : `${day}T${time}${time!.length === 5 ? ':00' : ''}.${fraction}${zone}`,
  )
  return Number.isNaN(atMs) ? null : { atMs, isZoneOpen: /\d[:T]\d/.test(text) && !hasZone }
}
