import type { Credits } from '../../../contract/contract.ts'
import type { IncludesOwn } from './bounds.ts'
import { effects, type History } from './history.ts'
import { rowsWhere } from './operations.ts'
import { RunningSum } from './running-sum.ts'

/** Credits that came in during a run: a package that was bought, a grant. */
export interface Gift {
  readonly credits: Credits
  /** The first row, by its reading, that shows them. */
  readonly row: number
}

/**
 * The history as if nothing had come in: values that show a gift are lowered by it, so that the charges
 * before and after are still one falling line, and both sides of it are decided.
 *
 * A rise is taken for a gift when requests in flight at the time cannot have caused it, and it is the size of
 * one that the contract knows but for what they cost: rows are put on the side of the gift to which they
 * are nearer. A wrong credit of just that size would pass as a gift; no client can tell them
 * apart.
 *
 * @param sizes what may come in at once
 * @param includesOwn what the header means; a balance that is shown before its own charge is lower at once
 */
export function withoutGifts(
  history: History,
  sizes: readonly Credits[],
  includesOwn: IncludesOwn,
): { readonly history: History; readonly gifts: readonly Gift[] } {
  const { size, value, callUs, readUs, endUs, effect, costCredits } = history
  if (sizes.length === 0) return { history, gifts: [] }
  const order = rowsWhere(
    size,
    (row) => !Number.isNaN(value[row]!),
    (a, b) => readUs[a]! - readUs[b]!,
  )
  const charging = rowsWhere(size, (row) => costCredits[row] !== 0)
  const cost = (row: number) => costCredits[row]!
  /** What a value does not show yet. */
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
    // In flight while the gift came in: it may show the balance from before.
    const sides = [value[row]! - received, value[row]! - before]
    let normal = nearest(sides, lowest)
    const rise = normal - lowest
    // Requests in flight together are shown their charges in any order.
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
  return { history: { ...history, value: lowered }, gifts }
}

/** What may come in between two values: one of the sizes, or two or three of them together. */
export function sumsOf(sizes: readonly Credits[]): readonly Credits[] {
  const ones = sizes.filter((credits) => credits > 0)
  const plusOne = (sums: readonly Credits[]) =>
    sums.flatMap((sum) => ones.map((credits) => sum + credits))
  const twos = plusOne(ones)
  return [...new Set([...ones, ...twos, ...plusOne(twos)])]
}

function nearest(numbers: readonly number[], to: number): number {
  return numbers.reduce((best, each) => (Math.abs(each - to) < Math.abs(best - to) ? each : best))
}
