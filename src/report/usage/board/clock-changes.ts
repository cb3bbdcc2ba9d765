import { wallMs } from '../../../measure/usage/zone.ts'
import { dayUs, hourMs } from '../../../user/durations.ts'
import { secondPart } from './offsets.js'

/** A change of the clock. Times are Unix microseconds. */
export interface ClockChange {
  readonly atUs: number
  /** How far the clock is set forward, milliseconds; back is below 0. */
  readonly byMs: number
}

/** No zone changes its clock twice within these. */
const stepUs = 7 * dayUs
const quarterUs = 900e6
/** A period may begin with the second of two equal hours. */
const earlierUs = hourMs * 1000

const offsetMs = (us: number, timezone: string) => wallMs(us, timezone) - Math.floor(us / 1000)

/** The changes of the clock in a period, each at a quarter of an hour. */
export function clockChanges(
  { fromUs, toUs }: { readonly fromUs: number; readonly toUs: number },
  timezone: string,
): readonly ClockChange[] {
  const changes: ClockChange[] = []
  const firstUs = fromUs - earlierUs
  let before = offsetMs(firstUs, timezone)
  for (let at = firstUs; at < toUs; at += stepUs) {
    const end = Math.min(at + stepUs, toUs)
    const after = offsetMs(end, timezone)
    if (after === before) continue
    let [low, high] = [Math.floor(at / quarterUs), Math.ceil(end / quarterUs)]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (offsetMs(middle * quarterUs, timezone) === before) low = middle
      else high = middle
    }
    changes.push({ atUs: high * quarterUs, byMs: after - before })
    before = after
  }
  return changes
}

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
