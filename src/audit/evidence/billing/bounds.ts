import { type BalanceHistory, effects } from './history.ts'
import { rowsWhere } from './operations.ts'
import { RunningSum } from './running-sum.ts'

/**
 * Tier 2, for any meaning of the header. Each value bounds the balance at the start:
 *
 *     certainly gone before the call  <=  start - value  <=  possibly gone when it was read
 *
 * A correct history has a start that all bounds allow. This is the single pass of Jepsen's `counter` checker with the
 * opposite sign and an unknown start. Charges that a value certainly includes (its own) or excludes count as such.
 * Real time gives further bounds: a request called after another one's read cannot see more than that one saw.
 *
 * The own charge of a stream with an early header is either in its value (charged at the start) or announced by it
 * (`balance - cost`). Both give the same bounds.
 */
export interface BoundsReading {
  readonly observations: number
  /** Bounds of the balance at the start. They contradict each other if least is above most. */
  readonly least: StartBound
  readonly most: StartBound
  /** The largest rise against the clock; null if there is none. */
  readonly rise: {
    readonly earlier: number
    readonly later: number
    readonly credits: number
  } | null
}

export interface StartBound {
  /** The row with the bound; -1 if there is none. */
  readonly row: number
  readonly credits: number
}

/** Whether the value of this row includes its own charge. */
export type IncludesOwn = (row: number) => boolean

export interface BoundsOptions {
  readonly includesOwn: IncludesOwn
  /** How long after a response its charge may settle. */
  readonly graceUs: number
  /** How long after a response its charge settles at the earliest; absent: it may settle at the call already. */
  readonly leastUs?: number
  /** Whether a failing request may hold its price while it runs (reserve and refund, gap G-13). */
  readonly holds: boolean
}

export function readBounds(history: BalanceHistory, options: BoundsOptions): BoundsReading {
  const { size, callUs, readUs, endUs, effect, costCredits, value, settlesByUs } = history
  const { includesOwn, graceUs, leastUs, holds } = options
  const cost = (row: number) => costCredits[row]!
  const mayCost = (row: number) =>
    effect[row] === effects.charge || effect[row] === effects.ambiguous
  const chosen = (choose: (row: number) => boolean) => rowsWhere(size, choose)

  const surely = new RunningSum(
    chosen((row) => effect[row] === effects.charge),
    (row) => endUs[row]! + graceUs,
    cost,
  )
  // Charges that settle late, and for sure, are not possible before.
  const isLate = (row: number) => leastUs !== undefined && effect[row] === effects.charge
  const possibly = new RunningSum(
    chosen(mayCost),
    (row) => (isLate(row) ? endUs[row]! + leastUs! : callUs[row]!),
    cost,
  )
  const holding = chosen(
    (row) =>
      holds &&
      (effect[row] === effects.failure || effect[row] === effects.ambiguous) &&
      costCredits[row] !== 0,
  )
  const held = new RunningSum(holding, (row) => callUs[row]!, cost)
  const released = new RunningSum(
    holding,
    (row) => (effect[row] === effects.ambiguous ? settlesByUs[row]! : endUs[row]!),
    cost,
  )
  const mayBeHeld = (row: number) => held.upTo(readUs[row]!) - released.before(callUs[row]!)
  // What an ambiguous one holds is no more than what it may have cost, which is counted as such.
  const failing = holding.filter((row) => effect[row] === effects.failure)
  const heldByFailures = new RunningSum(failing, (row) => callUs[row]!, cost)
  const releasedByFailures = new RunningSum(failing, (row) => endUs[row]!, cost)

  let least: StartBound = { row: -1, credits: -Infinity }
  let most: StartBound = { row: -1, credits: Infinity }
  let observations = 0
  for (let row = 0; row < size; row++) {
    const seen = value[row]!
    if (Number.isNaN(seen)) continue
    observations++
    const own = effect[row] === effects.charge ? costCredits[row]! : 0
    const ownIn = includesOwn(row)
    const low = seen + surely.before(callUs[row]!) + (ownIn ? own : 0)
    const high =
      seen +
      possibly.upTo(readUs[row]!) -
      (ownIn || isLate(row) ? 0 : own) +
      heldByFailures.upTo(readUs[row]!) -
      releasedByFailures.before(callUs[row]!)
    if (low > least.credits) least = { row, credits: low }
    if (high < most.credits) most = { row, credits: high }
  }
  return { observations, least, most, rise: worstRise(history, options, mayBeHeld) }
}

/** Sweeps calls and earlier reads, and keeps the lowest balance that was certainly reached. */
function worstRise(
  { size, callUs, readUs, endUs, effect, costCredits, value }: BalanceHistory,
  { includesOwn, graceUs }: BoundsOptions,
  mayBeHeld: (row: number) => number,
): BoundsReading['rise'] {
  const seen = (row: number) => !Number.isNaN(value[row]!)
  const charged = (row: number) => effect[row] === effects.charge
  const byCall = rowsWhere(size, seen, (a, b) => callUs[a]! - callUs[b]!)
  const byRead = rowsWhere(size, seen, (a, b) => readUs[a]! - readUs[b]!)
  // A charge that its own value does not include has settled when its response ends.
  const settled = (row: number) => charged(row) && !includesOwn(row)
  const byEnd = rowsWhere(
    size,
    (row) => seen(row) && settled(row),
    (a, b) => endUs[a]! - endUs[b]!,
  )
  let [reads, ends] = [0, 0]
  let lowest = Infinity
  let lowestRow = -1
  const reach = (row: number, balance: number) => {
    if (balance < lowest) [lowest, lowestRow] = [balance, row]
  }
  let worst: BoundsReading['rise'] = null
  for (const later of byCall) {
    const call = callUs[later]!
    for (; reads < byRead.length && readUs[byRead[reads]!]! < call; reads++) {
      const row = byRead[reads]!
      reach(row, value[row]! + mayBeHeld(row))
    }
    for (; ends < byEnd.length && endUs[byEnd[ends]!]! + graceUs < call; ends++) {
      const row = byEnd[ends]!
      reach(row, value[row]! - costCredits[row]! + mayBeHeld(row))
    }
    // With a grace, the value may be older than the row's own charge.
    const own = charged(later) && includesOwn(later) && graceUs === 0 ? costCredits[later]! : 0
    const credits = value[later]! + own - lowest
    if (credits > 0 && (worst === null || credits > worst.credits))
      worst = { earlier: lowestRow, later, credits }
  }
  return worst
}
