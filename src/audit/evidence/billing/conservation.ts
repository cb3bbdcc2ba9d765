import type { Credits } from '../../../contract/contract.ts'
import type { IncludesOwn } from './bounds.ts'
import { type BalanceHistory, effects } from './history.ts'
import { rowsWhere } from './operations.ts'
import { RunningSum } from './running-sum.ts'

/** Tier 0: between two idle moments the balance falls by the successes' cost, and at most the ambiguous ones' besides. */
export interface Conservation {
  /** Values seen while nothing else was in flight, in order of time. */
  readonly idle: Int32Array
  /** The balance after each of them. */
  readonly balance: Float64Array
  readonly stretches: readonly Stretch[]
  /** From the first idle value to the last; null with fewer than two. */
  readonly whole: Stretch | null
}

/** What a balance did from one idle value to the next, and what the charges say that it must do. */
export interface Stretch {
  readonly from: number
  readonly to: number
  /** What was taken: the fall of the balance. */
  readonly taken: Credits
  /** Cost of the successes. */
  readonly sure: Credits
  /** Additional cost of the ambiguous requests, at most. */
  readonly ambiguous: Credits
  /** What may be taken: at least the successes less what was held before and is returned (gap G-13). */
  readonly between: { readonly least: Credits; readonly most: Credits }
  /** What nothing explains: positive if too much was taken, negative if too little. */
  readonly excess: Credits
  readonly charges: number
}

export function readConservation(history: BalanceHistory, includesOwn: IncludesOwn): Conservation {
  const { size, callUs, endUs, effect, costCredits, value, settlesByUs } = history
  const chosen = (choose: (row: number) => boolean) => rowsWhere(size, choose)
  const active = chosen((row) => effect[row] !== effects.ambiguous)
  const called = new RunningSum(active, (row) => callUs[row]!)
  const ended = new RunningSum(active, (row) => endUs[row]!)
  const idle = chosen(
    (row) =>
      effect[row] !== effects.ambiguous &&
      !Number.isNaN(value[row]!) &&
      called.upTo(endUs[row]!) - ended.before(callUs[row]!) === 1,
    // A view would keep a number for each row.
  ).slice()
  const balance = Float64Array.from(idle, (row) =>
    effect[row] === effects.charge && !includesOwn(row)
      ? value[row]! - costCredits[row]!
      : value[row]!,
  )

  const charges = chosen((row) => effect[row] === effects.charge)
  const ambiguous = chosen((row) => effect[row] === effects.ambiguous)
  const cost = (row: number) => costCredits[row]!
  const sureBy = new RunningSum(charges, (row) => callUs[row]!, cost)
  const countBy = new RunningSum(charges, (row) => callUs[row]!)
  const possibleBy = new RunningSum(ambiguous, (row) => callUs[row]!, cost)
  const expiredBy = new RunningSum(ambiguous, (row) => settlesByUs[row]!, cost)
  /** Credits taken beyond the successes so far: ambiguous requests can return at most these. */
  let extra = 0
  const stretchOf = (first: number, last: number): Stretch => {
    const [from, to] = [idle[first]!, idle[last]!]
    const since = (sum: RunningSum) => sum.upTo(callUs[to]!) - sum.upTo(callUs[from]!)
    const [taken, sure] = [balance[first]! - balance[last]!, since(sureBy)]
    const ambiguous = possibleBy.upTo(endUs[to]!) - expiredBy.before(callUs[from]!)
    const held = possibleBy.upTo(endUs[from]!) - expiredBy.before(callUs[from]!)
    const returned = Math.max(0, Math.min(extra, held))
    const between = { least: sure - returned, most: sure + ambiguous }
    const excess = excessOf(taken, between)
    return { from, to, taken, sure, ambiguous, between, excess, charges: since(countBy) }
  }
  const stretches: Stretch[] = []
  const whole = idle.length < 2 ? null : stretchOf(0, idle.length - 1)
  for (let at = 1; at < idle.length; at++) {
    const stretch = stretchOf(at - 1, at)
    stretches.push(stretch)
    extra += stretch.taken - stretch.sure
  }
  return { idle, balance, stretches, whole }
}

/** How far what was taken lies outside of what may be taken: positive if it is too much. */
export function excessOf(taken: Credits, { least, most }: Stretch['between']): Credits {
  if (taken < least) return taken - least
  return Math.max(0, taken - most)
}
