import type { Credits } from '../../../contract/contract.ts'
import { countBelow } from '../../../limits/count-below.ts'
import { costOfLeaving, type Moment, type Prediction } from './alignment.ts'
import { type BalanceHistory, effects } from './history.ts'
import { isPlaced, type Operations, rowsWhere } from './operations.ts'
import {
  likeliestFirst,
  median,
  neighbours,
  type Place,
  type TimeSpan,
  timesAlong,
} from './place.ts'
import type { Hole } from './tiles.ts'

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
      Array<Moment>(Math.ceil(Math.min(credits, mostUnits))).fill({ ...moments[of]!, of }),
    )
    .sort((a, b) => middle(a) - middle(b))
  const kinds = Map.groupBy(unplaced(operations), (row) =>
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
  return likeliestFirst(
    holes.map((hole, of) => ({ hole, ...moments[of]! })),
    weights,
  )
}

/** A hole of more credits is no double charge, so its further credits need no match. */
const mostUnits: Credits = 64

const middle = ({ fromUs, toUs }: TimeSpan) => (fromUs + toUs) / 2

/** Attempts that may have been charged at an unknown place. */
function unplaced(operations: Operations): readonly number[] {
  const { size, costCredits } = operations
  return [...rowsWhere(size, (row) => costCredits[row] !== 0 && !isPlaced(operations, row))]
}

/**
 * The time of each hole: between the neighbouring charges. They were taken about their calls or their ends, whichever
 * follows the balance more closely.
 */
function momentsOf(operations: Operations, holes: readonly Hole[]): readonly TimeSpan[] {
  const { size, callUs, untilUs, after } = operations
  const order = rowsWhere(
    size,
    (row) => isPlaced(operations, row),
    (a, b) => after[b]! - after[a]!,
  )
  const times = timesAlong(order, median, callUs, untilUs)
  const placeOf = new Map(Array.from(order, (row, at) => [row, at]))
  return holes.map(({ below, fromUs, toUs }) => {
    const at = placeOf.get(below)!
    const clamped = (rows: Int32Array) =>
      Math.max(fromUs, Math.min(toUs, median(Array.from(rows, (row) => times[row]!))!))
    const before = clamped(order.slice(Math.max(0, at - neighbours), at))
    const behind = clamped(order.slice(at, at + neighbours))
    return { fromUs: Math.min(before, behind), toUs: Math.max(before, behind) }
  })
}

/** The predicted charge times of attempts of one kind, on the scale of the holes. */
function predictionsOf(
  { callUs, endUs, costCredits }: BalanceHistory,
  rows: readonly number[],
  missing: readonly Moment[],
): readonly Prediction[] {
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
    const from = countBelow(holesUs, anchorUs - near.earlierUs)
    for (let at = from; at < Math.min(holesUs.length, from + near.mostHoles); at++) {
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

/** The holes that an attempt's delay may lead to. */
const near = { earlierUs: 20_000, mostHoles: 200 }
const widthsUs = [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]
