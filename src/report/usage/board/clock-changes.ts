import { offsetChanges, wallMs } from '../../../measure/usage/zone.ts'
import { hourMs } from '../../../user/durations.ts'
import { secondPart } from './offsets.js'

/** A change of the clock. Times are Unix microseconds. */
export interface ClockChange {
  readonly atUs: number
  /** How far the clock is set forward, milliseconds; back is below 0. */
  readonly byMs: number
}

/** A period may begin with the second of two equal hours. */
const earlierUs = hourMs * 1000

/** The changes of the clock in a period. */
export const clockChanges = (
  { fromUs, toUs }: { readonly fromUs: number; readonly toUs: number },
  timezone: string,
): readonly ClockChange[] =>
  offsetChanges(fromUs - earlierUs, toUs, timezone).map(({ atUs, beforeUs, afterUs }) => ({
    atUs,
    byMs: (afterUs - beforeUs) / 1000,
  }))

/** From when on the clock has an offset: local hours since 1970, and `+02:00`. */
export interface OffsetSpan {
  readonly hour: number
  readonly offset: string
}

/** The offsets of a period. Where the clock is set back, the second of two equal hours begins in the last part of the first. */
export function offsetsOf(
  { fromUs }: { readonly fromUs: number },
  timezone: string,
  changes: readonly ClockChange[],
): readonly OffsetSpan[] {
  const spanAt = (us: number, byMs: number) => {
    const wall = wallMs(us, timezone)
    const minutes = Math.round((wall - Math.floor(us / 1000)) / 60_000)
    const two = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, '0')
    const hour = wall / hourMs
    return {
      hour: byMs < 0 ? Math.floor(hour) + secondPart : hour,
      offset: `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`,
    }
  }
  return [spanAt(fromUs - earlierUs, 0), ...changes.map(({ atUs, byMs }) => spanAt(atUs, byMs))]
}

/** A local hour with its fraction, of a moment: in two equal hours, what the clock shows of each is drawn together. */
export function toldApart(hour: number, us: number, changes: readonly ClockChange[]): number {
  const change = changes.find(
    ({ atUs, byMs }) => byMs < 0 && us >= atUs + byMs * 1000 && us < atUs - byMs * 1000,
  )
  if (change === undefined) return hour
  const whole = Math.floor(hour)
  const part = hour - whole
  return us < change.atUs ? whole + part * secondPart : whole + secondPart + part * (1 - secondPart)
}

/** The times of the second of two equal hours, for `secondSql`. */
export const secondsList = (changes: readonly ClockChange[]) =>
  `[${changes.flatMap(({ atUs, byMs }) => (byMs < 0 ? [`[${atUs}, ${atUs - byMs * 1000}]`] : [])).join()}]::BIGINT[][]`

/** SQL for what is added to the local hour of a moment that is in the second of two equal ones. */
export const secondSql = (us: string) =>
  `(CASE WHEN len([each FOR each IN getvariable('usage_second') IF ${us} >= each[1] AND ${us} < each[2]]) > 0 THEN ${secondPart} ELSE 0 END)::DOUBLE`
