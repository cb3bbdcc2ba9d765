import { largest } from '../../../user/extremes.ts'

/** A stream whose reasoning, if any, is hidden. */
export interface HiddenStream {
  readonly reasoning: number
  /** Tokens beside the reasoning. */
  readonly visible: number
  /** From the first text to the last, in microseconds. */
  readonly textUs: number
  /** From sending to the end, in microseconds. */
  readonly wholeUs: number
}

/** So many streams show how fast a model writes. */
const leastStreams = 10
/** Texts of fewer tokens may come in one piece. */
const leastVisible = 16
/** Hidden text may be written faster than any that was seen, since drafts fit it better: by so much at most. */
const faster = 2

/** The most tokens a microsecond that a model can have written (SOLD-10): twice the highest speed of visible text; null if unknown. */
export function mostSpeed(streams: readonly HiddenStream[]): number | null {
  const speeds = streams.flatMap(({ visible, textUs }) =>
    visible < leastVisible ? [] : [(visible - 1) / textUs],
  )
  if (speeds.length < leastStreams) return null
  const most = faster * largest(speeds)
  return Number.isFinite(most) ? most : null
}

export const isTooFast = ({ reasoning, visible, wholeUs }: HiddenStream, most: number): boolean =>
  reasoning > 0 && reasoning + visible > most * wholeUs
