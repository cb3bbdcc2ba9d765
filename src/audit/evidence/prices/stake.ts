import { shownAmount } from '../../../money/money.ts'
import {
  add,
  isZero,
  multiply,
  type Rational,
  rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import { largest, smallest } from '../../../user/extremes.ts'

/** How far an amount is from what is right: positive if too much was charged. */
function overcharge({ statement, nearest, is }: Judged): Rational {
  return is === 'wrong' && nearest !== null ? subtract(statement.value, nearest) : zero
}

const monthMs = 30 * 86_400_000
/** A rate over less time says nothing about a month. */
const leastMs = 1_000

/** The money at stake so far, and by month at this rate: `0.0024 USD too much so far; 6.22 USD a month at this rate`. */
export function stakeOf(judged: readonly Judged[], currency: string): string {
  const amounts = judged.map(overcharge)
  const over = amounts.filter(({ numerator }) => numerator > 0n).reduce(add, zero)
  const under = amounts.filter(({ numerator }) => numerator < 0n).reduce(add, zero)
  const starts = judged.map(({ request }) => request.startMs)
  const spanMs = largest(judged.map(({ request }) => request.endMs)) - smallest(starts)
  const monthly = (sum: Rational) =>
    spanMs < leastMs
      ? ''
      : `; ${shownAmount(multiply(sum, rational(BigInt(Math.round(monthMs)), BigInt(Math.max(1, Math.round(spanMs))))), currency)} in 30 days at this rate`
  const parts = [
    ...(isZero(over) ? [] : [`${shownAmount(over, currency)} too much so far${monthly(over)}`]),
    ...(isZero(under)
      ? []
      : [
          `${shownAmount({ ...under, numerator: -under.numerator }, currency)} too little so far${monthly({ ...under, numerator: -under.numerator })}`,
        ]),
  ]
  return parts.join('; ')
}
