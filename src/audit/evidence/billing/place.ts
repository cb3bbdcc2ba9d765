import { type BalanceGap, sum } from './charge-intervals.ts'

export interface TimeSpan {
  readonly fromUs: number
  readonly toUs: number
}

/** A balance gap, the time of its credits by its neighbours' charges, and the probability that it is stray. */
export interface Place extends TimeSpan {
  readonly balanceGap: BalanceGap
  /** Probability among all places; they add up to 1. */
  readonly share: number
}

export const certainPlace = (balanceGap: BalanceGap): Place => ({
  balanceGap,
  fromUs: balanceGap.fromUs,
  toUs: balanceGap.toUs,
  share: 1,
})

export function likeliestFirst(
  places: readonly Omit<Place, 'share'>[],
  weights: readonly number[] | Float64Array,
): readonly Place[] {
  const total = sum(weights)
  return places
    .map((place, at) => ({ ...place, share: weights[at]! / total }))
    .sort((a, b) => b.share - a.share)
}

/** Charges on each side of a balance gap that date it, so one of them may be out of line. */
export const neighbours = 3

/**
 * Of two times of each row, those that follow the rows' order more closely: they have the smaller scatter. The first, which are of
 * the calls, unless the other ones are closer.
 *
 * @param scatterOf one number of the distances from row to row
 */
export function timesAlong(
  order: readonly number[] | Int32Array,
  [first, other]: readonly [Float64Array, Float64Array],
  scatterOf: (distancesUs: readonly number[]) => number,
): Float64Array {
  const scatter = (times: Float64Array) =>
    scatterOf(Array.from(order.slice(1), (row, at) => Math.abs(times[row]! - times[order[at]!]!)))
  return scatter(other) < scatter(first) ? other : first
}
