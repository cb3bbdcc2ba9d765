import {
  compare,
  divide,
  isEqual,
  multiply,
  type Rational,
  rational,
  roundWhole,
  subtract,
} from '../../money/rational.ts'
import type { Part, Usage } from '../../tokens/usage.ts'
import { calculate } from '../calculate.ts'
import type { UsageReading } from './expected.ts'
import { isExactly } from './tolerance.ts'

/** The parts that a service counts itself where it does not take the count of its upstream. */
export const countedParts = { input_uncached: 'input', output_visible: 'output' } as const
export type CountedPart = keyof typeof countedParts

/**
 * The count of one part that gives an amount exactly, if it is another one than the answer states, by one of its readings.
 * The price of one token must be larger than the unit of the amount, and the count between half and twice the stated one:
 * else some count gives any amount.
 */
export function otherCount(
  amount: Rational,
  readings: readonly UsageReading[],
  unit: Rational,
  part: CountedPart,
): number | null {
  const counts = readings.map((reading) => countBy(amount, reading, unit, part))
  return counts.find((count) => count !== null) ?? null
}

/** What one more token of a part costs; null if nothing says. */
export function priceOfCount({ model, usage, context }: UsageReading, part: CountedPart) {
  const stated = usage.parts[part] ?? 0
  const costOf = (count: number) => calculate(model, withCount(usage, part, count), context).cost
  const [own, next] = [costOf(stated), costOf(stated + 1)]
  return own === null || next === null || isEqual(own, next) ? null : subtract(next, own)
}

function countBy(
  amount: Rational,
  { model, usage, context }: UsageReading,
  unit: Rational,
  part: CountedPart,
): number | null {
  const stated = usage.parts[part]
  if (stated === null || model.round !== null) return null
  const costOf = (count: number) => calculate(model, withCount(usage, part, count), context).cost
  const own = costOf(stated)
  const each = priceOfCount({ model, usage, context }, part)
  if (own === null || each === null) return null
  if (compare(each, multiply(unit, rational(2n))) < 0) return null
  const more = Number(roundWhole(divide(subtract(amount, own), each), 'half_even'))
  const count = stated + more
  if (more === 0 || !Number.isSafeInteger(count)) return null
  if (2 * count < stated || count > 2 * stated) return null
  const cost = costOf(count)
  return cost !== null && isExactly(amount, cost, unit) ? count : null
}

const withCount = (usage: Usage, part: Part, count: number): Usage => ({
  ...usage,
  parts: { ...usage.parts, [part]: count },
})
