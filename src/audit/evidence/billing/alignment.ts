import type { TimeSpan } from './place.ts'

/** An event with its earliest and latest time. */
export interface Moment extends TimeSpan {
  /** Number of the thing that it belongs to. Moments of one thing may be left over together. */
  readonly of: number
}

/** An expected event: its time, the accuracy of that time, and its probability. */
export interface Prediction {
  readonly atUs: number
  readonly scaleUs: number
  readonly share: number
}

/** Predictions in the band on each side of a moment. */
const band = 32
const width = 2 * band + 1
/** Exponent of the chance of a moment without a prediction: wrong charges are rarer than pairs that a busy machine parts. */
const leaving = 24
/** Cost of each further moment of the same thing; at most `mostTogether` are left over together. */
const leavingMore = 1
const mostTogether = 4
const leavingOf = (together: number) => leaving + leavingMore * (together - 1)

/**
 * Matches moments with predictions, both in order of time, at the least total cost (Needleman and Wunsch, in a band). Returns
 * for each moment the cost of the best matching that leaves it over, alone or as the first of several. Costs are exponents of
 * chances; a pair follows Cauchy's law, as a busy machine is sometimes very late.
 */
export function costOfLeaving(
  moments: readonly Moment[],
  predictions: readonly Prediction[],
): Float64Array {
  const count = moments.length
  // Row `at` of the table knows matchings of predictions first[at] .. first[at] + width - 1.
  const first = new Int32Array(count)
  for (let at = 0, next = 0; at < count; at++) {
    while (next < predictions.length && predictions[next]!.atUs < moments[at]!.fromUs) next++
    first[at] = Math.max(0, next - band)
  }
  const skips = Float64Array.from(predictions, ({ share }) => -Math.log(1 - share))
  /** Total cost of leaving all predictions before this one unmatched. */
  const skipped = new Float64Array(predictions.length + 1)
  for (let at = 0; at < predictions.length; at++) skipped[at + 1] = skipped[at]! + skips[at]!
  const pair = (at: number, nth: number) => {
    const { fromUs, toUs } = moments[at]!
    const { atUs, scaleUs, share } = predictions[nth]!
    const off = Math.max(0, fromUs - atUs, atUs - toUs) / scaleUs
    return Math.log1p(off ** 2) - Math.log(share)
  }

  // forward[at][nth]: the first `at` moments are done, and the first `nth` predictions.
  const forward = new Float64Array(count * width).fill(Infinity)
  for (let at = 0; at < count; at++) {
    for (let offset = 0; offset < width; offset++) {
      const nth = first[at]! + offset
      if (nth > predictions.length) break
      let least = at === 0 ? skipped[nth]! : Infinity
      if (at > 0) {
        for (let from = at - 1; isTogether(from, at - 1); from--)
          least = Math.min(least, done(from, nth) + leavingOf(at - from))
        if (nth > 0) least = Math.min(least, done(at - 1, nth - 1) + pair(at - 1, nth - 1))
        // A band that leapt has left predictions behind that nobody took.
        if (offset === 0) least = Math.min(least, leapt(at, nth))
      }
      if (offset > 0) least = Math.min(least, forward[at * width + offset - 1]! + skips[nth - 1]!)
      forward[at * width + offset] = least
    }
  }
  const backward = new Float64Array(count * width).fill(Infinity)
  for (let at = count - 1; at >= 0; at--) {
    for (let offset = width - 1; offset >= 0; offset--) {
      const nth = first[at]! + offset
      if (nth > predictions.length) continue
      let least = Infinity
      for (let to = at; isTogether(at, to); to++)
        least = Math.min(least, onward(to, nth) + leavingOf(to - at + 1))
      if (nth < predictions.length) {
        least = Math.min(least, onward(at, nth + 1) + pair(at, nth))
        least = Math.min(least, cell(backward, at, nth + 1) + skips[nth]!)
      }
      backward[at * width + offset] = least
    }
  }
  return Float64Array.from(moments, (_, at) => {
    let least = Infinity
    for (let offset = 0; offset < width; offset++) {
      const nth = first[at]! + offset
      if (nth > predictions.length) break
      for (let to = at; isTogether(at, to); to++) {
        const through = forward[at * width + offset]! + leavingOf(to - at + 1) + onward(to, nth)
        least = Math.min(least, through)
      }
    }
    return least
  })

  function isTogether(from: number, to: number): boolean {
    return (
      from >= 0 && to < count && to - from < mostTogether && moments[from]!.of === moments[to]!.of
    )
  }

  function cell(table: Float64Array, at: number, nth: number): number {
    const offset = nth - first[at]!
    return offset >= 0 && offset < width ? table[at * width + offset]! : Infinity
  }

  /** The first `at` moments at their best with `nth` predictions done; those beyond the band are skipped. */
  function done(at: number, nth: number): number {
    const last = first[at]! + width - 1
    return nth <= last
      ? cell(forward, at, nth)
      : forward[at * width + width - 1]! + skipped[nth]! - skipped[last]!
  }

  /** The moment before is paired with a prediction before this band, and those between are skipped. */
  function leapt(at: number, nth: number): number {
    let least = Infinity
    for (let before = first[at - 1]!; before < nth; before++) {
      const paired = done(at - 1, before) + pair(at - 1, before)
      least = Math.min(least, paired + skipped[nth]! - skipped[before + 1]!)
    }
    return least
  }

  /** The cost after moment `at`, with `nth` predictions done. */
  function onward(at: number, nth: number): number {
    if (at + 1 === count) return skipped.at(-1)! - skipped[nth]!
    const start = first[at + 1]!
    return nth >= start
      ? cell(backward, at + 1, nth)
      : backward[(at + 1) * width]! + skipped[start]! - skipped[nth]!
  }
}
