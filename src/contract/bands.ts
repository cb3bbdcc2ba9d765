import { dayUs, hourUs } from '../user/durations.ts'
import type { Credits } from './credits.ts'

/** The windows of the rate limits, shortest first. */
export const windows = ['minute', 'hour', 'day'] as const
export type Window = (typeof windows)[number]

/** Length of each window, in microseconds of the service's own time. */
export const windowUs: Readonly<Record<Window, number>> = {
  minute: 60e6,
  hour: hourUs,
  day: dayUs,
}

/** The length of another window: `10s`, `5h`, `7d`. */
export type Length = `${number}${keyof typeof unitUs}`
const unitUs = { s: 1e6, m: 60e6, h: hourUs, d: dayUs } as const
export const lengthPattern = /^([1-9]\d{0,5})([smhd])$/

/** A window in which requests are limited. */
export type LimitWindow = Window | Length

/** The length of a window, in microseconds of the service's own time. */
export function lengthUs(window: LimitWindow): number {
  const [, number, unit] = lengthPattern.exec(window) ?? []
  return number === undefined
    ? windowUs[window as Window]
    : Number(number) * unitUs[unit as keyof typeof unitUs]
}

export const windowsOf = ({ requests }: Band) => Object.keys(requests) as LimitWindow[]

/** Most requests in a window; Infinity if none are promised. */
export const limitOf = ({ requests }: Band, window: LimitWindow): number =>
  requests[window] ?? Number.POSITIVE_INFINITY

/** Lengths of windows that begin by the calendar of a zone. */
export const calendarLengths = ['minute', 'hour', 'day', 'week', 'month'] as const

export const weekdayNames = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const

/** Most requests of one key in each window of a calendar. */
export interface CalendarLimit {
  readonly each: (typeof calendarLengths)[number]
  readonly requests: number
  /** An IANA zone, or an offset such as `+05:30`. */
  readonly zone: string
  /** The day on which a week or a month begins; absent: Monday, and the first. */
  readonly begins?: (typeof weekdayNames)[number] | number
  /** The time at which a day, a week or a month begins, `08:00`; absent: midnight. */
  readonly at?: string
}

/** A row of the rate-limit table: a range of the balance and its limits. */
export interface Band {
  readonly name: string
  /** Inclusive. */
  readonly minBalance: Credits
  /** Inclusive; null for no upper end. Neighbours may share an edge: the table overlaps at 10,000. */
  readonly maxBalance: Credits | null
  /** Most requests of one key in each window; Infinity if none are promised. */
  readonly requests: Readonly<Record<Window, number>> & {
    readonly [length: Length]: number | undefined
  }
  readonly calendar?: readonly CalendarLimit[]
  /** Most requests of one key that are answered at the same time. */
  readonly inFlight?: number
}

/** Whether a balance between two may be of a band. Ends are whole credits, so a band reaches to the next whole one. */
export const mayBeOfBand = (
  { minBalance, maxBalance }: Band,
  { low, high }: { readonly low: Credits; readonly high: Credits },
): boolean => high >= minBalance && (maxBalance === null || low < maxBalance + 1)

/**
 * Bands of a balance: two at a shared edge, none below the lowest band. Ends are whole credits, so a balance of 99.5 is of
 * the band that ends at 99 if no other has it.
 */
export function bandsAt(
  { bands = [] }: { readonly bands?: readonly Band[] },
  balance: Credits,
): readonly Band[] {
  const within = (past: number) =>
    bands.filter(
      ({ minBalance, maxBalance }) =>
        balance >= minBalance &&
        (maxBalance === null || balance <= maxBalance || balance < maxBalance + past),
    )
  const found = within(0)
  return found.length > 0 ? found : within(1)
}
