import {
  absolute,
  compare,
  divide,
  isZero,
  multiply,
  one,
  type Rational,
  rational,
  subtract,
} from '../../money/rational.ts'
import type { Judged } from './judge.ts'

/** What gives amounts more often than once in so many, whatever the fault is, is no cause: a guess would be told. */
export const leastChance = rational(1n, 1000n)

type Amount = Pick<Judged, 'statement' | 'nearest' | 'unit'>

/** Amounts that are the same, for the same cost, are one amount, however often it was charged. */
export const unlikeAmounts = <Of extends Amount>(amounts: readonly Of[]): readonly Of[] => [
  ...new Map(
    amounts.map((each) => {
      const { statement, nearest } = each
      const [value, cost] = [statement.value, nearest ?? statement.value]
      return [`${value.numerator}/${value.denominator} ${cost.numerator}/${cost.denominator}`, each]
    }),
  ).values(),
]

/**
 * How often a change that has nothing to do with the fault gives all of these amounts. A place that shows 0.0154 where 0.0156 is right has
 * two amounts as near to it as that: each change gives one of them. Nothing is no amount by chance.
 */
export function chanceOf(amounts: readonly Amount[]): Rational {
  return unlikeAmounts(amounts).reduce((chance, { statement, nearest, unit }) => {
    if (isZero(statement.value)) return multiply(chance, leastChance)
    const apart = nearest === null ? unit : absolute(subtract(statement.value, nearest))
    return compare(apart, unit) <= 0 ? chance : multiply(chance, divide(unit, apart))
  }, one)
}

export const isByChance = (amounts: readonly Amount[]) =>
  compare(chanceOf(amounts), leastChance) > 0
