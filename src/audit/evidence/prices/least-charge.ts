import {
  absolute,
  add,
  compare,
  decimalText,
  divide,
  isZero,
  multiply,
  powerOfTen,
  type Rational,
  rational,
  roundTo,
  subtract,
  zero,
} from '../../../money/rational.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import { onceForEach } from '../../../user/once.ts'
import { exactCost, type Window } from './windows.ts'

/** Decimals of a smallest charge. */
const mostPlaces = 6
/** They are so many times coarser than what the values hide. */
const coarser = rational(1000n)

/**
 * `a smallest charge of 0.02`, if one that nothing promises gives all wrong sums and changes no right one. Requests of one cost alone do
 * not say so: any other cause may give that one amount.
 */
export function leastCharge(
  wrong: readonly Window[],
  right: readonly Window[],
  judge: PriceJudge,
): readonly string[] {
  const costsOf = onceForEach(({ requests }: Window) =>
    requests
      .map((request) => exactCost(request, judge) ?? zero)
      .filter((cost) => !isZero(cost))
      .toSorted(compare),
  )
  const [first] = wrong
  const solved = first === undefined ? null : leastIn(costsOf(first), first.apart)
  if (first === undefined || solved === null) return []
  for (let places = 0; places <= mostPlaces; places++) {
    const least = roundTo(solved, places, 'half_even')
    const isRound = compare(multiply(first.unit, coarser), powerOfTen(-places)) <= 0
    const adds = (window: Window, apart: Rational) =>
      compare(absolute(subtract(apart, addedBy(least, costsOf(window)))), window.slack) <= 0
    if (!isRound || !wrong.every((window) => adds(window, window.apart))) continue
    const raised = wrong.flatMap((window) =>
      costsOf(window).filter((cost) => compare(cost, least) < 0),
    )
    const isSound = right.every((window) => adds(window, zero))
    return isSound && new Set(raised.map(decimalText)).size > 1
      ? [`a smallest charge of ${decimalText(least)}`]
      : []
  }
  return []
}

/** What a smallest charge adds to these costs. */
const addedBy = (least: Rational, costs: readonly Rational[]): Rational =>
  costs
    .filter((cost) => compare(cost, least) < 0)
    .map((cost) => subtract(least, cost))
    .reduce(add, zero)

/** The smallest charge that adds so much to these costs, which are in their order; null if none does. */
function leastIn(costs: readonly Rational[], more: Rational): Rational | null {
  if (more.numerator <= 0n) return null
  let sum = more
  for (const [at, cost] of costs.entries()) {
    sum = add(sum, cost)
    const least = divide(sum, rational(BigInt(at + 1)))
    const next = costs[at + 1]
    if (next === undefined || compare(least, next) <= 0) return least
  }
  return null
}
