import type { Credits } from '../../../contract/contract.ts'
import { countBelow } from '../../../limits/count-below.ts'
import { costOfLeaving } from './alignment.ts'
import { type BalanceHistory, effects } from './history.ts'
import type { Operations } from './operations.ts'
import type { Hole } from './tiles.ts'

/**
 * A hole, when its credits went (as narrowly as the neighbouring charges show), and the probability that it is stray.
 */
export interface Place {
  readonly hole: Hole
  readonly fromUs: number
  readonly toUs: number
  /** Probability among all places; they add up to 1. */
  readonly share: number
}

/** The place of a hole that certainly is stray. */
export function certainPlace(hole: Hole): Place {
  return { hole, fromUs: hole.fromUs, toUs: hole.toUs, share: 1 }
}

/** A missing credit, or one that an attempt may have cost, with its time. */
interface Unit {
  readonly fromUs: number
  readonly toUs: number
  /** Index of the hole, for missing credits. */
  readonly of: number
}

/**
 * The likely places of the stray credits, likeliest first.
 *
 * The tiles cannot distinguish holes that an attempt may fill, so their remainder is an arbitrary hole of a chain. But
 * a service charges abandoned attempts of each kind after a fixed delay, from the call or from the abort. The holes
 * reveal that delay, which predicts the time of each attempt's charge. Holes are then matched with attempts at the
 * least total distance. A hole that costs less to leave over is likelier to be stray.
 */
export function placesOf(
  history: BalanceHistory,
  operations: Operations,
  holes: readonly Hole[],
): readonly Place[] {
  const moments = momentsOf(operations, holes)
  const missing = holes
    .flatMap(({ credits }, of) =>
      // A service may show fractions of a credit.
      Array<Unit>(Math.ceil(Math.min(credits, mostUnits))).fill({ ...moments[of]!, of }),
    )
    .sort((a, b) => middle(a) - middle(b))
  const kinds = Map.groupBy(unplaced(history, operations), (row) =>
    history.effect[row] === effects.charge
      ? 'charge'
      : `${history.abandonment[row]} ${history.streamed[row]}`,
  )
  const predicted = [...kinds.values()]
    .flatMap((rows) => predictionsOf(history, rows, missing))
    .sort((a, b) => a.atUs - b.atUs)
  const costs = costOfLeaving(missing, predicted)
  const weights = new Float64Array(holes.length)
  const least = costs.reduce((some, cost) => Math.min(some, cost), Infinity)
  for (const [at, { of }] of missing.entries()) {
    weights[of] = Math.max(weights[of]!, Math.exp(least - costs[at]!))
  }
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return holes
    .map((hole, of) => ({ hole, ...moments[of]!, share: weights[of]! / total }))
    .sort((a, b) => b.share - a.share)
}

/** A hole of more credits is no double charge, so its further credits need no match. */
const mostUnits: Credits = 64

const middle = ({ fromUs, toUs }: { readonly fromUs: number; readonly toUs: number }) =>
  (fromUs + toUs) / 2

/** Attempts that may have been charged at an unknown place. */
function unplaced({ size }: BalanceHistory, { after, certain, costCredits }: Operations): number[] {
  return Array.from({ length: size }, (_, row) => row).filter(
    (row) => costCredits[row] !== 0 && !(certain[row] === 1 && !Number.isNaN(after[row]!)),
  )
}

/**
 * The time of each hole: between the neighbouring charges. They were taken about their calls or their ends, whichever
 * follows the balance more closely.
 */
function momentsOf({ size, callUs, untilUs, after, certain }: Operations, holes: readonly Hole[]) {
  const order = Array.from({ length: size }, (_, row) => row)
    .filter((row) => certain[row] === 1 && !Number.isNaN(after[row]!))
    .sort((a, b) => after[b]! - after[a]!)
  const scatter = (times: Float64Array) =>
    median(order.slice(1).map((row, at) => Math.abs(times[row]! - times[order[at]!]!)))
  const times = scatter(callUs) <= scatter(untilUs) ? callUs : untilUs
  const placeOf = new Map(order.map((row, at) => [row, at]))
  return holes.map(({ below, fromUs, toUs }) => {
    const at = placeOf.get(below)!
    const clamped = (rows: readonly number[]) =>
      Math.max(fromUs, Math.min(toUs, median(rows.map((row) => times[row]!))))
    const before = clamped(order.slice(Math.max(0, at - around), at))
    const behind = clamped(order.slice(at, at + around))
    return { fromUs: Math.min(before, behind), toUs: Math.max(before, behind) }
  })
}

/** Charges on each side of a hole that date it, so one of them may be out of line. */
const around = 3

/** The predicted charge times of attempts of one kind, on the scale of the holes. */
function predictionsOf(
  { callUs, endUs, costCredits }: BalanceHistory,
  rows: number[],
  missing: readonly Unit[],
) {
  const holesUs = Float64Array.from(missing, middle)
  const byCall = delayOf(
    rows.map((row) => callUs[row]!),
    holesUs,
  )
  const byEnd = delayOf(
    rows.map((row) => endUs[row]!),
    holesUs,
  )
  const [best, anchor] = byCall.hits >= byEnd.hits ? [byCall, callUs] : [byEnd, endUs]
  const share = Math.min(0.98, Math.max(0.02, best.hits / rows.length))
  return rows.flatMap((row) =>
    Array.from({ length: Math.min(costCredits[row]!, mostUnits) }, () => ({
      atUs: anchor[row]! + best.delayUs,
      scaleUs: best.scaleUs,
      share,
    })),
  )
}

/** The delay at which most of these have a hole, beyond chance. */
function delayOf(anchorsUs: readonly number[], holesUs: Float64Array) {
  const delays: number[] = []
  const sampled = anchorsUs.filter((_, at) => at % Math.ceil(anchorsUs.length / 2000) === 0)
  for (const anchorUs of sampled) {
    const from = countBelow(holesUs, anchorUs - neighbours.earlierUs)
    for (let at = from; at < Math.min(holesUs.length, from + neighbours.most); at++) {
      delays.push(holesUs[at]! - anchorUs)
    }
  }
  const sorted = Float64Array.from(delays).sort()
  const spanUs = holesUs.at(-1)! - holesUs[0]!
  const byChance = (widthUs: number) => (sampled.length * holesUs.length * widthUs) / spanUs
  let [best, bestScore] = [{ delayUs: 0, scaleUs: 1, hits: 0 }, 0]
  for (const widthUs of widthsUs) {
    for (let from = 0, to = 0; from < sorted.length; from++) {
      while (to < sorted.length && sorted[to]! <= sorted[from]! + widthUs) to++
      const hits = to - from - byChance(widthUs)
      const score = hits - 4 * Math.sqrt(byChance(widthUs))
      // A wider window must find clearly more.
      if (score > bestScore * 1.1) {
        best = { delayUs: sorted[(from + to) >> 1]!, scaleUs: widthUs / 4, hits }
        bestScore = score
      }
    }
  }
  return { ...best, hits: best.hits * (anchorsUs.length / sampled.length) }
}

const neighbours = { earlierUs: 20_000, most: 200 }
const widthsUs = [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!
}
