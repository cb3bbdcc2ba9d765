import type { Contract, Credits } from '../../../contract/contract.ts'
import type { IncludesOwn } from './bounds.ts'
import { type BalanceHistory, effects, withColumns } from './history.ts'
import { rowsWhere } from './operations.ts'
import { RunningSum } from './running-sum.ts'

/** Credits that came in during a run: a bought package or a grant. */
export interface Gift {
  readonly credits: Credits
  /** The first row, by its reading, that shows them. */
  readonly row: number
}

export const giftsOf = ({ packages = [], grants = {} }: Contract): readonly Credits[] => [
  ...packages.map((each) => each.credits),
  ...Object.values(grants),
]

/**
 * Subtracts gifts from the values that show them, so that all charges form one falling line.
 *
 * A rise is a gift if requests in flight cannot have caused it, and it equals one of `sizes` up to their cost. A wrong credit of
 * exactly that size passes: no client can tell.
 *
 * @param includesOwn the meaning of the header: a balance shown before its own charge is lower right after
 */
export function withoutGifts(
  history: BalanceHistory,
  sizes: readonly Credits[],
  includesOwn: IncludesOwn,
): { readonly history: BalanceHistory; readonly gifts: readonly Gift[] } {
  const { size, value, callUs, readUs, endUs, effect, costCredits } = history
  if (sizes.length === 0) return { history, gifts: [] }
  const order = rowsWhere(
    size,
    (row) => !Number.isNaN(value[row]!),
    (a, b) => readUs[a]! - readUs[b]!,
  )
  const charging = rowsWhere(size, (row) => costCredits[row] !== 0)
  const cost = (row: number) => costCredits[row]!
  /** The row's charge if its value excludes it. */
  const toCome = (row: number) =>
    effect[row] === effects.charge && !includesOwn(row) ? cost(row) : 0
  const called = new RunningSum(charging, (row) => callUs[row]!, cost)
  const ended = new RunningSum(charging, (row) => endUs[row]!, cost)
  const callsUpTo = (row: number) => called.upTo(readUs[row]!)
  const endsBefore = (row: number) => ended.before(callUs[row]!)
  const gifts: Gift[] = []
  const lowered = value.slice()
  let [received, before, lowest] = [0, 0, Infinity]
  for (const row of order) {
    // A request in flight during the gift may show the balance before it.
    const sides = [value[row]! - received, value[row]! - before]
    let normal = nearest(sides, lowest)
    const rise = normal - lowest
    // Requests in flight together may show their charges in any order.
    const inFlight = callsUpTo(row) - endsBefore(row)
    const gift = rise > inFlight ? nearest(sizes, rise) : Infinity
    if (Math.abs(rise - gift) <= inFlight) {
      gifts.push({ credits: gift, row })
      before = received
      received += gift
      normal -= gift
    }
    lowered[row] = normal
    lowest = Math.min(lowest, normal - toCome(row))
  }
  return { history: withColumns(history, { value: lowered }), gifts }
}

/** Credits that may come in between two values: one of the sizes, or the sum of two or three. */
export function sumsOf(sizes: readonly Credits[]): readonly Credits[] {
  const ones = sizes.filter((credits) => credits > 0)
  const plusOne = (sums: readonly Credits[]) =>
    sums.flatMap((sum) => ones.map((credits) => sum + credits))
  const twos = plusOne(ones)
  return [...new Set([...ones, ...twos, ...plusOne(twos)])]
}

const nearest = (numbers: readonly number[], to: number): number =>
  numbers.reduce((best, each) => (Math.abs(each - to) < Math.abs(best - to) ? each : best))
