import type { Credits } from '../../../contract/contract.ts'
import { Heap } from '../heap.ts'
import { isPlaced, type Operations, rowsWhere } from './operations.ts'

/**
 * Tier 3, exact if a header shows the balance right after its own charge.
 *
 * Each charge covers an interval of the balance, `[after, after + cost)`. Costs are above zero and every balance is passed
 * once, so the charges can only have happened in the order of their values. No search is needed (in general the
 * question is NP-complete).
 *
 *     balance 100 ─────────────────────────────────────────────────────────── 91
 *             ├─ a ─┤├─ b ──┤        ├─ c ─┤├─ d ─┤   overlap: a charge was lost
 *                           └─ gap ──┘                an unknown charge: which requests were in flight?
 *     earliest   ── M: the latest call of all intervals to the left ──▶ nothing right of it is earlier
 *     latest     ◀── m: the earliest end of all intervals to the right ─ nothing left of it is later
 *
 * Charges at unknown places fill the balance gaps: certain ones must find room, the others may. Filling the gaps and
 * placing the certain charges are two matchings in one bipartite graph. If each exists, one does both (Mendelsohn and
 * Dulmage). So each is decided alone, earliest deadline first (Glover: the graph is convex). A fill may split a cost
 * over several balance gaps, so a conflict is never reported wrongly. Costs of 1 and 2 that never expire stay whole.
 */
export type IntervalConflict =
  /** Two charges cover the same credits: `lower` did not see what `upper` had taken. */
  | {
      readonly kind: 'overlap'
      readonly upper: number
      readonly lower: number
      readonly credits: Credits
    }
  /** `later` ended before `earlier` was called, but their values have the opposite order. */
  | { readonly kind: 'order'; readonly earlier: number; readonly later: number }
  | { readonly kind: 'balance-gap'; readonly balanceGap: BalanceGap; readonly unexplained: Credits }
  /** A certain charge without room in the balance. */
  | { readonly kind: 'missing'; readonly row: number }

/** A gap between neighbouring charge intervals, and the time span in which it arose. */
export interface BalanceGap {
  readonly above: number
  readonly below: number
  readonly credits: Credits
  readonly fromUs: number
  readonly toUs: number
}

export interface IntervalReading {
  /** Operations with a value. */
  readonly placed: number
  readonly conflicts: readonly IntervalConflict[]
  /** Number of all conflicts; `conflicts` keeps the first thousand. */
  readonly conflictCount: number
  readonly overlaps: number
  /** Credits in unfilled balance gaps, minus those that overlaps show twice: the loss from the first value to the last. */
  readonly missingCredits: Credits
  /** Filled balance gaps, and the credits in them that only uncertain charges can explain. */
  readonly filled: readonly BalanceGap[]
  readonly uncertainCredits: Credits
}

const keptConflicts = 1000

export function readIntervals(operations: Operations): IntervalReading {
  const { size, callUs, untilUs, costCredits, after, certain } = operations
  const order = rowsWhere(
    size,
    (row) => isPlaced(operations, row),
    (a, b) =>
      after[b]! - after[a]! ||
      Math.sign(costCredits[b]!) - Math.sign(costCredits[a]!) ||
      callUs[a]! - callUs[b]!,
  )
  const conflicts: IntervalConflict[] = []
  let conflictCount = 0
  let [overlaps, missingCredits] = [0, 0]
  const report = (conflict: IntervalConflict) => {
    conflictCount++
    if (conflict.kind === 'overlap') overlaps++
    if (conflicts.length < keptConflicts) conflicts.push(conflict)
  }

  // Latest call up to each charge interval, with its row, and earliest end from each charge interval on.
  const latestCall = new Float64Array(order.length)
  let latest = -1
  for (let at = 0; at < order.length; at++) {
    const row = order[at]!
    if (latest < 0 || callUs[row]! > callUs[latest]!) latest = row
    latestCall[at] = callUs[latest]!
    if (untilUs[row]! < callUs[latest]!) report({ kind: 'order', earlier: latest, later: row })
  }
  const earliestEnd = new Float64Array(order.length)
  let earliest = Infinity
  for (let at = order.length - 1; at >= 0; at--) {
    earliest = Math.min(earliest, untilUs[order[at]!]!)
    earliestEnd[at] = earliest
  }

  const balanceGaps: BalanceGap[] = []
  for (let at = 1; at < order.length; at++) {
    const [above, below] = [order[at - 1]!, order[at]!]
    const credits = after[above]! - (after[below]! + costCredits[below]!)
    if (credits < 0) {
      report({ kind: 'overlap', upper: above, lower: below, credits: -credits })
      missingCredits += credits
    }
    if (credits <= 0) continue
    balanceGaps.push({ above, below, credits, fromUs: latestCall[at - 1]!, toUs: earliestEnd[at]! })
  }

  const fills = rowsWhere(
    size,
    (row) => costCredits[row]! > 0 && !isPlaced(operations, row),
    (a, b) => callUs[a]! - callUs[b]!,
  )
  const sure = fills.filter((row) => certain[row] === 1)
  const unexplained = fillBalanceGaps(operations, balanceGaps, fills)
  for (const row of withoutRoom(operations, balanceGaps, sure, latestCall.at(-1) ?? -Infinity))
    report({ kind: 'missing', row })
  let explained = 0
  for (const [at, balanceGap] of balanceGaps.entries()) {
    const rest = unexplained[at]!
    explained += balanceGap.credits - rest
    missingCredits += rest
    if (rest > 0) report({ kind: 'balance-gap', balanceGap, unexplained: rest })
  }
  const byCertain =
    sum(balanceGaps.map((balanceGap) => balanceGap.credits)) -
    sum(fillSplit(operations, balanceGaps, sure).unexplained)
  return {
    placed: order.length,
    conflicts,
    conflictCount,
    overlaps,
    missingCredits: Math.max(0, missingCredits),
    filled: balanceGaps.filter((_, at) => unexplained[at] === 0),
    uncertainCredits: Math.max(0, explained - byCertain),
  }
}

export function sum(numbers: readonly number[] | Float64Array): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}

/** Credits of each balance gap that no fill explains. */
function fillBalanceGaps(
  operations: Operations,
  balanceGaps: readonly BalanceGap[],
  fills: Int32Array,
) {
  const { untilUs, costCredits, certain } = operations
  const wholeSizes = fills.every(
    (row) => certain[row] === 0 && untilUs[row] === Infinity && costCredits[row]! <= 2,
  )
  return wholeSizes
    ? fillWhole(operations, balanceGaps, fills)
    : fillSplit(operations, balanceGaps, fills).unexplained
}

/** Costs of 1 and 2 that never expire: twos first, because ones fit wherever a two does. */
function fillWhole(
  { callUs, costCredits }: Operations,
  balanceGaps: readonly BalanceGap[],
  fills: Int32Array,
) {
  let [ones, twos, next] = [0, 0, 0]
  return Float64Array.from(balanceGaps, (balanceGap) => {
    for (; next < fills.length && callUs[fills[next]!]! <= balanceGap.toUs; next++) {
      if (costCredits[fills[next]!] === 2) twos++
      else ones++
    }
    const usedTwos = Math.min(twos, Math.floor(balanceGap.credits / 2))
    const usedOnes = Math.min(ones, balanceGap.credits - 2 * usedTwos)
    twos -= usedTwos
    ones -= usedOnes
    return balanceGap.credits - 2 * usedTwos - usedOnes
  })
}

/** Earliest deadline first. A cost may be split over balance gaps; `left` is the part without a balance gap. */
function fillSplit(
  { callUs, untilUs, costCredits }: Operations,
  balanceGaps: readonly BalanceGap[],
  fills: Int32Array,
) {
  // Two that never end are alike, and their difference is no number.
  const heap = new Heap<number>((a, b) =>
    untilUs[a] === untilUs[b] ? 0 : untilUs[a]! - untilUs[b]!,
  )
  const left = Float64Array.from(costCredits)
  let next = 0
  const unexplained = Float64Array.from(balanceGaps, (balanceGap) => {
    for (; next < fills.length && callUs[fills[next]!]! <= balanceGap.toUs; next++)
      heap.push(fills[next]!)
    let open = balanceGap.credits
    for (let row = heap.first; open > 0 && row !== undefined; row = heap.first) {
      const used = untilUs[row]! < balanceGap.fromUs ? 0 : Math.min(open, left[row]!)
      left[row] = left[row]! - used
      open -= used
      if (used === 0 || left[row] === 0) heap.pop()
    }
    return open
  })
  return { unexplained, left }
}

/** Certain charges without room: neither in a balance gap, nor before the first or after the last charge interval. */
function withoutRoom(
  operations: Operations,
  balanceGaps: readonly BalanceGap[],
  sure: Int32Array,
  lastCallUs: number,
): readonly number[] {
  const { size, callUs, untilUs } = operations
  // There is unlimited room above the first interval for charges called before the first end, and below the last one
  // for charges that ended after the last call.
  let firstEndUs = Infinity
  for (let row = 0; row < size; row++) {
    if (isPlaced(operations, row)) firstEndUs = Math.min(firstEndUs, untilUs[row]!)
  }
  const bound = sure.filter((row) => callUs[row]! > firstEndUs)
  const { left } = fillSplit(operations, balanceGaps, bound)
  return [...bound].filter((row) => left[row]! > 0 && untilUs[row]! < lastCallUs)
}
