import { isCalendarDay } from '../../user/calendar-day.ts'
import { dayMs, dayUs } from '../../user/durations.ts'
import { smallest } from '../../user/extremes.ts'
import { isZoneName } from '../../user/time-zone.ts'
import { userError } from '../../user/user-error.ts'

/** Local days of an IANA zone, from the runtime's own calendar. */

/** @throws UserError for a name that is not an IANA zone */
export function checkTimeZone(timezone: string): void {
  if (isZoneName(timezone)) return
  throw userError.report(
    `Unknown time zone "${timezone}". Use an IANA name, such as UTC, Asia/Kolkata or America/New_York.`,
  )
}

/** Whether a time is the one that was written: `Date` makes 2 March of 30 February, and January of a thirteenth month. */
const isWritten = (ms: number, text: string): boolean =>
  Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text.trim().replace(' ', 'T'))

/** An instant with its zone: `2026-11-01T09:30Z`. @returns Unix milliseconds; null for anything else, and for a day that does not exist */
export function instantMs(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:?\d\d)$/.test(text)) return null
  const ms = Date.parse(text)
  return Number.isFinite(ms) && isCalendarDay(text.slice(0, 10)) ? ms : null
}

/**
 * Parses a moment. A date is the start of that local day; a date with a time is local, or exact with an offset (or Z).
 *
 * @returns Unix microseconds
 * @throws UserError for anything else
 */
export function parseMoment(text: string, timezone: string): number {
  const local = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text.trim())
  if (local !== null) {
    const [year, month, day, hour, minute, second] = local
      .slice(1)
      .map((part) => Number(part ?? 0)) as [number, number, number, number, number, number]
    const wall = Date.UTC(year, month - 1, day, hour, minute, second)
    if (isWritten(wall, text)) return localToUs(wall, timezone)
  }
  const exact = instantMs(text.trim())
  if (exact !== null) return exact * 1000
  throw userError.report(
    `"${text}" is not a date: expected 2026-11-01, 2026-11-01T09:30 (both in ${timezone}) or 2026-11-01T09:30Z`,
  )
}

export const startOfDayUs = (us: number, timezone: string): number => midnightUs(us, 0, timezone)

/** End of the local day that holds a moment. */
export const endOfDayUs = (us: number, timezone: string): number => midnightUs(us, 1, timezone)

/** Start of the local day that is this many days after the one with the moment. */
function midnightUs(us: number, days: number, timezone: string): number {
  const wall = wallMs(us, timezone)
  return localToUs(wall - mod(wall, dayMs) + days * dayMs, timezone)
}

/** The same time of day, this many local days later. A day across a clock change has 23 or 25 hours. */
export const shiftDaysUs = (us: number, days: number, timezone: string): number =>
  localToUs(wallMs(us, timezone) + days * dayMs, timezone)

/** 1 is Monday. */
export const weekdayOf = (us: number, timezone: string): number =>
  new Date(wallMs(us, timezone)).getUTCDay() || 7

/** The local clock's time as if it were UTC, milliseconds. */
export function wallMs(us: number, timezone: string): number {
  const ms = Math.floor(us / 1000)
  const parts = Object.fromEntries(
    clockOf(timezone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year, month, day, hour, minute, second } = parts as Record<string, number>
  return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!) + mod(ms, 1000)
}

/** A change of a zone's clock, in Unix microseconds, and how far the clock is ahead of UTC before it and after it. */
export interface OffsetChange {
  readonly atUs: number
  readonly beforeUs: number
  readonly afterUs: number
}

/** No zone changes its clock twice within these. */
const stepUs = 7 * dayUs

const wholeSecond = (us: number): number => Math.floor(us / 1e6) * 1e6

/** The changes of a zone's clock in a period, each at a whole second. */
export function offsetChanges(
  fromUs: number,
  toUs: number,
  timezone: string,
): readonly OffsetChange[] {
  const aheadAt = (us: number) => (wallMs(us, timezone) - Math.floor(us / 1000)) * 1000
  const changes: OffsetChange[] = []
  // The search halves between whole seconds; a change is at one.
  const [first, last] = [wholeSecond(fromUs), wholeSecond(toUs)]
  for (let at = first, before = aheadAt(first); at < last; at += stepUs) {
    let [low, high] = [at, Math.min(at + stepUs, last)]
    const after = aheadAt(high)
    if (after === before) continue
    while (high - low > 1e6) {
      const middle = wholeSecond((low + high) / 2)
      if (aheadAt(middle) === before) low = middle
      else high = middle
    }
    changes.push({ atUs: high, beforeUs: before, afterUs: after })
    before = after
  }
  return changes
}

/**
 * The moment of a local time: the first of two if a clock change repeats it; the moment of the change if it skips it
 * (a day whose midnight is skipped begins there).
 */
function localToUs(wall: number, timezone: string): number {
  // Offsets are within 15 hours, so one of the neighbouring days has the right offset.
  const offsets = [wall - dayMs, wall + dayMs].map((ms) => wallMs(ms * 1000, timezone) - ms)
  const tried = [...new Set(offsets)].map((offset) => wall - offset)
  const fitting = tried.filter((ms) => wallMs(ms * 1000, timezone) === wall)
  if (fitting.length > 0) return smallest(fitting) * 1000
  // The clock skips this time: walk to the change, which is on a quarter hour.
  let at = smallest(tried)
  at -= mod(at, 900e3)
  while (wallMs(at * 1000, timezone) < wall) at += 900e3
  return at * 1000
}

const clocks = new Map<string, Intl.DateTimeFormat>()

function clockOf(timezone: string): Intl.DateTimeFormat {
  let clock = clocks.get(timezone)
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    clocks.set(timezone, clock)
  }
  return clock
}

const mod = (value: number, by: number): number => ((value % by) + by) % by
