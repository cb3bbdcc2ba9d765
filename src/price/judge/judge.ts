import {
  absolute,
  compare,
  multiply,
  one,
  powerOfTen,
  type Rational,
  rational,
  subtract,
} from '../../money/rational.ts'
import { type Expected, expectedCosts } from './expected.ts'
import type { PriceJudge } from './price-judge.ts'
import type { PricedRequest, StatedCost } from './request.ts'
import { fewAmounts, isWithin, unitsOf } from './tolerance.ts'

/** An amount that the service shows for a request, judged by the contract. */
export interface Judged {
  readonly request: PricedRequest
  readonly statement: StatedCost
  readonly expected: Expected
  /** `open`: the contract, or what is known, allows another cost. */
  readonly is: 'right' | 'wrong' | 'open'
  /** The expected cost that is nearest; null if none is known. */
  readonly nearest: Rational | null
  readonly unit: Rational
}

/** Judges all amounts of one place. */
export function judgePlace(
  amounts: readonly { readonly request: PricedRequest; readonly statement: StatedCost }[],
  judge: PriceJudge,
): readonly Judged[] {
  const unitOf = unitsOf(
    amounts.map(({ statement }) => statement),
    judge.currency,
  )
  const judged = amounts.map((amount) => judgeAmount(amount, unitOf(amount.statement), judge))
  return judged.length < fewAmounts ? judged.map(perhapsRounded) : judged
}

/** Of one or two amounts, nobody knows whether the service rounds what it shows: the cost to the last digit of two or more is open. */
function perhapsRounded(judged: Judged): Judged {
  const { statement, nearest, expected } = judged
  const last = multiply(powerOfTen(-statement.decimals), statement.times ?? one)
  const isLong = compare(absolute(statement.value), multiply(last, rational(10n))) >= 0
  if (judged.is !== 'wrong' || nearest === null || statement.decimals === 0 || !isLong)
    return judged
  const apart = absolute(subtract(statement.value, nearest))
  return compare(multiply(apart, rational(2n)), last) > 0
    ? judged
    : { ...judged, is: 'open', expected: { ...expected, open: ['the rounding of so few amounts'] } }
}

/** @param unit of its place */
export function judgeAmount(
  { request, statement }: Pick<Judged, 'request' | 'statement'>,
  unit: Rational,
  judge: PriceJudge,
): Judged {
  const expected = expectedCosts(request, judge)
  return { request, statement, expected, unit, ...verdictOf(statement.value, expected, unit) }
}

function verdictOf(
  value: Rational,
  { costs, ifCached, between, open, readings }: Expected,
  unit: Rational,
): Pick<Judged, 'is' | 'nearest'> {
  const model = readings[0]?.model ?? null
  const all = between === null ? costs : [...costs, ...between]
  const nearest =
    all.toSorted((a, b) =>
      compare(absolute(subtract(a, value)), absolute(subtract(b, value))),
    )[0] ?? null
  if (costs.some((cost) => isWithin(value, cost, unit, model))) return { is: 'right', nearest }
  if (ifCached.some((cost) => isWithin(value, cost, unit, model)))
    return { is: 'open', nearest: value }
  if (between !== null) {
    const [low, high] = between
    const isInside =
      (compare(value, low) >= 0 && compare(value, high) <= 0) ||
      between.some((bound) => isWithin(value, bound, unit, model))
    if (isInside) return { is: 'open', nearest: value }
  }
  return { is: open.length > 0 || nearest === null ? 'open' : 'wrong', nearest }
}
