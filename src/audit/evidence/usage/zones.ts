import { dayMs, hourMs } from '../../../user/durations.ts'

const clocks = new Map<string, Intl.DateTimeFormat | null>()

/** The clock of a zone; null if its name is no zone. */
function clockOf(zone: string): Intl.DateTimeFormat | null {
  const known = clocks.get(zone)
  if (known !== undefined) return known
  let made: Intl.DateTimeFormat | null = null
  try {
    made = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
    })
  } catch {
    // Not a zone.
  }
  clocks.set(zone, made)
  return made
}

export const isZone = (zone: string | null): zone is string =>
  zone !== null && clockOf(zone) !== null

/** `2026-10-01 18:00:00`, by the clock of a zone. */
const localText = (ms: number, zone: string) => clockOf(zone)!.format(ms)

/** The day of a zone at a moment: `2026-10-01`. */
export const dayIn = (zone: string, ms: number) => localText(ms, zone).slice(0, 10)

/** How far the clock of a zone is ahead of UTC at a moment, in milliseconds. */
export const aheadOfUtcMs = (zone: string, ms: number): number =>
  Date.parse(`${localText(ms, zone).replace(' ', 'T')}Z`) - Math.floor(ms / 1e3) * 1e3

/** How far clocks on earth are from UTC. */
const furthestMs = { behind: -12 * hourMs, ahead: 14 * hourMs }

/** How far the clock of a zone is ahead of UTC within a day of a moment; of any zone, if its name is none. */
function offsetsOf(zone: string | null, ms: number): readonly [least: number, most: number] {
  if (!isZone(zone)) return [furthestMs.behind, furthestMs.ahead]
  const before = aheadOfUtcMs(zone, ms - dayMs)
  const after = aheadOfUtcMs(zone, ms + dayMs)
  return before < after ? [before, after] : [after, before]
}

/** When a time on the clock of a zone begins at the earliest, and so long a time from then on ends at the latest. */
export function localSpan(
  localMs: number,
  lengthMs: number,
  zone: string | null,
): { readonly startMs: number; readonly endMs: number } {
  const [least, most] = offsetsOf(zone, localMs)
  return { startMs: localMs - most, endMs: localMs - least + lengthMs }
}
