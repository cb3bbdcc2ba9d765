import { absolute, add, compare, type Rational, subtract, zero } from '../../../money/rational.ts'
import { changesOf } from './stretches.ts'

/** So many values that are too high, and as many too low, are no payments. */
const fewest = 2

/**
 * `: the values are not those of one balance …`, if as much is missing in some changes as is too much in others: several workers keep a
 * balance of their own, or values are later than the contract says. Empty otherwise.
 */
export function unlikeValues(...from: Parameters<typeof changesOf>): string {
  for (const { all, unit } of changesOf(...from)) {
    const costs = all.map(({ high, low }) => high ?? low).reduce(add, zero)
    const beyond = (of: (change: (typeof all)[number]) => Rational | null) =>
      all.flatMap((change) => {
        const amount = of(change)
        return amount !== null && compare(amount, unit) > 0 ? [amount] : []
      })
    const more = beyond(({ taken, high }) => (high === null ? null : subtract(taken, high)))
    const less = beyond(({ taken, low }) => subtract(low, taken))
    const apart = absolute(subtract(more.reduce(add, zero), less.reduce(add, zero)))
    if (more.length < fewest || less.length < fewest || compare(apart, costs) > 0) continue
    return `: the values are not those of one balance at one time, ${more.length} took too much and ${less.length} too little, and together they come near to the costs: several workers or regions each keep one, or values are later than evidence.balance.within says`
  }
  return ''
}
