import {
  absolute,
  add,
  compare,
  decimalText,
  multiply,
  type Rational,
  rational,
  roundTo,
  subtract,
} from '../../money/rational.ts'
import type { Judged } from './judge.ts'

/** One amount that explains all wrong costs. */
export interface FixedAmount {
  readonly summary: string
  readonly about: 'minimum' | 'fee'
}

/**
 * A smallest charge that nothing promises, if all wrong costs are the same and more than the right ones; or a fee, if all are more, or
 * less, by the same. One wrong cost, or several whose right costs are equal, may be either, and explain neither.
 */
export function fixedAmount(
  wrong: readonly Pick<Judged, 'statement' | 'nearest' | 'unit'>[],
  right: readonly Pick<Judged, 'statement'>[],
): FixedAmount | null {
  const [first] = wrong
  if (first === undefined || wrong.some(({ nearest }) => nearest === null)) return null
  const { unit } = first
  const costs = new Set(wrong.map(({ nearest }) => decimalText(nearest!)))
  if (costs.size < 2) return null
  const { value } = first.statement
  const isLeast =
    wrong.every(
      ({ statement, nearest }) =>
        isNear(statement.value, value, unit) && compare(nearest!, value) < 0,
    ) && right.every(({ statement }) => compare(add(statement.value, unit), value) >= 0)
  if (isLeast) return { summary: `a smallest charge of ${decimalText(value)}`, about: 'minimum' }
  const more = subtract(value, first.nearest!)
  // What the amounts hide must be little beside the fee.
  const isShown = compare(absolute(more), multiply(unit, rational(10n))) > 0
  const isEach = wrong.every(({ statement, nearest }) =>
    isNear(subtract(statement.value, nearest!), more, unit),
  )
  if (!isShown || !isEach) return null
  const text = shortest(more, unit)
  return {
    summary: text.startsWith('-')
      ? `${text.slice(1)} less for each request`
      : `${text} more for each request`,
    about: 'fee',
  }
}

const isNear = (a: Rational, b: Rational, unit: Rational) =>
  compare(absolute(subtract(a, b)), multiply(unit, rational(2n))) <= 0

const mostPlaces = 12

/** The shortest decimal that is as near to a value as its unit. */
function shortest(value: Rational, unit: Rational): string {
  for (let places = 0; places <= mostPlaces; places++) {
    const short = roundTo(value, places, 'half_even')
    if (compare(absolute(subtract(short, value)), unit) <= 0) return decimalText(short)
  }
  return decimalText(value)
}
