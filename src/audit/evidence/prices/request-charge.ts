import {
  absolute,
  add,
  compare,
  divide,
  multiply,
  powerOfTen,
  type Rational,
  rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import { expectedCosts } from '../../../price/judge/expected.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import type { ChargeBounds } from './charge-sums.ts'

/** What the service itself logged, or stated, for a request, and one unit of the last place that it shows. */
export type Recorded = ReadonlyMap<
  PricedRequest,
  { readonly value: Rational; readonly unit: Rational }
>

/** Twice this many units are no longer exact as a double. */
const exactEnd = rational(2n ** 52n)

/** Whether a value is a whole number of units; after so many charges, a sum of doubles may be off by one. */
export function isWholeIn(value: Rational, unit: Rational, charges = 0): boolean {
  const units = divide(absolute(value), unit)
  const reach = multiply(units, rational(BigInt(charges + 1)))
  return units.denominator === 1n && compare(reach, exactEnd) < 0
}

/** What a recorded cost may be exactly, if the balance shows finer places than the record. */
export function recordedBounds(
  recorded: { readonly value: Rational; readonly unit: Rational } | undefined,
  unit: Rational,
): readonly [Rational, Rational] | null {
  if (recorded === undefined) return null
  const hidden = compare(recorded.unit, unit) > 0 ? recorded.unit : zero
  return [subtract(recorded.value, hidden), add(recorded.value, hidden)]
}

/** A cost between bounds is what the service recorded for it, if that is between them. */
export function chargeOf(
  request: PricedRequest,
  judge: PriceJudge,
  recorded: readonly [Rational, Rational] | null,
): ChargeBounds {
  const { low, high } = computedBounds(request, judge)
  const isComputed = high !== null && compare(low, high) === 0
  const unit = powerOfTen(-judge.currency.digits)
  const isWhole = high !== null && isWholeIn(low, unit) && isWholeIn(high, unit)
  if (recorded === null) return { request, low, high, isComputed, isWhole }
  const [least, most] = [
    compare(recorded[0], low) > 0 ? recorded[0] : low,
    high === null || compare(recorded[1], high) < 0 ? recorded[1] : high,
  ]
  return compare(least, most) <= 0
    ? { request, low: least, high: most, isComputed, isWhole: isComputed && isWhole }
    : { request, low, high, isComputed, isWhole }
}

/** The least and the most that a request costs by the prices alone; no most if its cost is open. */
export function computedBounds(
  request: PricedRequest,
  judge: PriceJudge,
): Pick<ChargeBounds, 'low' | 'high'> {
  const { costs, ifCached, between, open } = expectedCosts(request, judge)
  const all = [...costs, ...ifCached, ...(between ?? [])].toSorted(compare)
  // The first answer again costs nothing, or what it cost, where the contract does not say which. So does a part of one that came
  // whole later.
  if (
    request.isRepeat &&
    all.length > 0 &&
    open.every((name) => name === 'charged.gateway_cache')
  ) {
    const mayBeFree = open.length > 0 || request.outcomes[0] !== 'gateway_cache'
    return { low: mayBeFree ? zero : all[0]!, high: all.at(-1)! }
  }
  const isOpen = open.length > 0 || all.length === 0
  return { low: isOpen ? zero : all[0]!, high: isOpen ? null : all.at(-1)! }
}
