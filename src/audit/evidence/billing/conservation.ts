import type { Credits } from '../../../contract/contract.ts'
import type { IncludesOwn } from './bounds.ts'
import { type BalanceHistory, effects } from './history.ts'
import { rowsWhere } from './operations.ts'
import { RunningSum } from './running-sum.ts'

/**
 * Tier 0: between two moments without requests in flight, the balance falls by at least the cost of the successes, and
 * at most by that and the cost of the ambiguous requests.
 */
export interface Conservation {
  /** Values seen while nothing else was in flight, in order of time. */
  readonly idle: Int32Array
  /** The balance after each of them. */
  readonly balance: Float64Array
  readonly segments: readonly Segment[]
  /** From the first idle value to the last; null with fewer than two. */
  readonly whole: Segment | null
}

/** The time from one idle value to the next. */
export interface Segment {
  readonly from: number
  readonly to: number
  readonly taken: Credits
  /** Cost of the successes. */
  readonly sure: Credits
  /** Additional cost of the ambiguous requests, at most. */
  readonly ambiguous: Credits
  /** Credits that ambiguous requests may have held before and returned since (gap G-13). */
  readonly returned: Credits
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
  const segmentOf = (first: number, last: number): Segment => {
    const [from, to] = [idle[first]!, idle[last]!]
    const between = (sum: RunningSum) => sum.upTo(callUs[to]!) - sum.upTo(callUs[from]!)
    return {
      from,
      to,
      taken: balance[first]! - balance[last]!,
      sure: between(sureBy),
      ambiguous: possibleBy.upTo(endUs[to]!) - expiredBy.before(callUs[from]!),
      returned: Math.max(
        0,
        Math.min(extra, possibleBy.upTo(endUs[from]!) - expiredBy.before(callUs[from]!)),
      ),
      charges: between(countBy),
    }
  }
  const segments: Segment[] = []
  const whole = idle.length < 2 ? null : segmentOf(0, idle.length - 1)
  for (let at = 1; at < idle.length; at++) {
    const segment = segmentOf(at - 1, at)
    segments.push(segment)
    extra += segment.taken - segment.sure
  }
  return { idle, balance, segments, whole }
}

/** Unexplained credits: positive if too many were taken, negative if too few. */
export function excessOf({ taken, sure, ambiguous, returned }: Segment): Credits {
  if (taken < sure) return Math.min(0, taken - sure + returned)
  return Math.max(0, taken - sure - ambiguous)
}
