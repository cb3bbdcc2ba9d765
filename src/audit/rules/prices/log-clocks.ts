import { hourMs } from '../../../user/durations.ts'
import { aheadOfUtcMs } from '../../evidence/usage/zones.ts'

/** A clock by which a log may write times without a zone. */
export interface LogClock {
  /** A place that has it, if it changes within the log; null if it is ahead of UTC by the same at all times. */
  readonly place: string | null
  /** How far it is ahead of UTC at a moment, in milliseconds; negative if it is behind. */
  aheadMs(ms: number): number
}

const fixed = (aheadMs: number): LogClock => ({ place: null, aheadMs: () => aheadMs })
export const utc: LogClock = fixed(0)

/** Whole hours from 14 ahead of UTC to 12 behind, whether or not a place has them. */
const wholeHours = Array.from({ length: 27 }, (_, nth) => fixed((14 - nth) * hourMs))

/**
 * The clocks on earth that differ at some moments: those of whole hours, then those of places. A clock that changes does so at the
 * hour.
 */
export function clocksOnEarth(momentsMs: readonly number[]): readonly LogClock[] {
  const hours = [...new Set(momentsMs.map(hourOf))]
  const textOf = ({ aheadMs }: LogClock) => hours.map(aheadMs).join()
  const byText = new Map(wholeHours.map((clock) => [textOf(clock), clock]))
  for (const place of Intl.supportedValuesOf('timeZone')) {
    const clock = clockOf(place, hours)
    const text = textOf(clock)
    if (!byText.has(text)) byText.set(text, clock)
  }
  return [...byText.values()]
}

function clockOf(place: string, hours: readonly number[]): LogClock {
  const known = new Map(hours.map((hour) => [hour, aheadOfUtcMs(place, hour)]))
  const [first, ...rest] = new Set(known.values())
  if (first === undefined || rest.length === 0) return fixed(first ?? 0)
  const aheadMs = (ms: number) => {
    const hour = hourOf(ms)
    const ahead = known.get(hour) ?? aheadOfUtcMs(place, hour)
    known.set(hour, ahead)
    return ahead
  }
  return { place, aheadMs }
}

const hourOf = (ms: number) => Math.floor(ms / hourMs) * hourMs
