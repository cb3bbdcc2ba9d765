import type { Credits } from '../../../contract/contract.ts'
import { countBelow } from '../../../user/count-below.ts'
import { median } from '../median.ts'
import { costOfLeaving, type Moment, type Prediction } from './alignment.ts'
import type { BalanceGap } from './charge-intervals.ts'
import { type BalanceHistory, effects } from './history.ts'
import { isPlaced, type Operations, rowsWhere } from './operations.ts'
import { likeliestFirst, neighbours, type Place, type TimeSpan, timesAlong } from './place.ts'

/**
 * The likely places of the stray credits, likeliest first.
 *
 * The charge intervals leave an arbitrary gap of a chain. But a service charges each kind of abandoned attempt after a fixed
 * delay from the call or the abort. The gaps reveal that delay, and are matched with the attempts at the least total distance: a
 * gap that costs less to leave over is likelier stray.
 */
export function placesOf(
  history: BalanceHistory,
  operations: Operations,
  balanceGaps: readonly BalanceGap[],
): readonly Place[] {
  const moments = momentsOf(operations, balanceGaps)
  const missing = balanceGaps
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
  const weights = new Float64Array(balanceGaps.length)
  const least = costs.reduce((some, cost) => Math.min(some, cost), Infinity)
  for (const [at, { of }] of missing.entries())
    weights[of] = Math.max(weights[of]!, Math.exp(least - costs[at]!))
  return likeliestFirst(
    balanceGaps.map((balanceGap, of) => ({ balanceGap, ...moments[of]! })),
    weights,
  )
}

/** A balance gap of more credits is no double charge, so its further credits need no match. */
const mostUnits: Credits = 64

const middle = ({ fromUs, toUs }: TimeSpan) => (fromUs + toUs) / 2

/** Attempts that may have been charged at an unknown place. */
function unplaced(operations: Operations): readonly number[] {
  const { size, costCredits } = operations
  return [...rowsWhere(size, (row) => costCredits[row] !== 0 && !isPlaced(operations, row))]
}

/** The time of each balance gap: charges are about their calls or their ends, whichever follows the balance more closely. */
function momentsOf(
  operations: Operations,
  balanceGaps: readonly BalanceGap[],
): readonly TimeSpan[] {
  const { size, callUs, untilUs, after } = operations
  const order = rowsWhere(
    size,
    (row) => isPlaced(operations, row),
    (a, b) => after[b]! - after[a]!,
  )
  const times = timesAlong(order, [callUs, untilUs], median)
  const placeOf = new Map(Array.from(order, (row, at) => [row, at]))
  return balanceGaps.map(({ below, fromUs, toUs }) => {
    const at = placeOf.get(below)!
    const clamped = (rows: Int32Array) =>
      Math.max(fromUs, Math.min(toUs, median(Array.from(rows, (row) => times[row]!))))
    const before = clamped(order.slice(Math.max(0, at - neighbours), at))
    const behind = clamped(order.slice(at, at + neighbours))
    return { fromUs: Math.min(before, behind), toUs: Math.max(before, behind) }
  })
}

/** The predicted charge times of attempts of one kind, on the scale of the balance gaps. */
function predictionsOf(
  { callUs, endUs, costCredits }: BalanceHistory,
  rows: readonly number[],
  missing: readonly Moment[],
): readonly Prediction[] {
  const gapsUs = Float64Array.from(missing, middle)
  const byCall = delayOf(
    rows.map((row) => callUs[row]!),
    gapsUs,
  )
  const byEnd = delayOf(
    rows.map((row) => endUs[row]!),
    gapsUs,
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

/** The delay at which most of these have a balance gap, more than chance explains. */
function delayOf(anchorsUs: readonly number[], gapsUs: Float64Array) {
  const delays: number[] = []
  const sampled = anchorsUs.filter((_, at) => at % Math.ceil(anchorsUs.length / 2000) === 0)
  for (const anchorUs of sampled) {
    const from = countBelow(gapsUs, anchorUs - near.earlierUs)
    for (let at = from; at < Math.min(gapsUs.length, from + near.mostGaps); at++)
      delays.push(gapsUs[at]! - anchorUs)
  }
  const sorted = Float64Array.from(delays).sort()
  const spanUs = gapsUs.at(-1)! - gapsUs[0]!
  const byChance = (widthUs: number) => (sampled.length * gapsUs.length * widthUs) / spanUs
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

/** The balance gaps that an attempt's delay may lead to. */
const near = { earlierUs: 20_000, mostGaps: 200 }
const widthsUs = [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]
