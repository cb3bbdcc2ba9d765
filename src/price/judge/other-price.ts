import { priceOfPart } from '../../contract/prices.ts'
import {
  absolute,
  add,
  compare,
  decimalText,
  divide,
  isZero,
  multiply,
  one,
  powerOfTen,
  type Rational,
  rational,
  readNumber,
  roundTo,
  subtract,
  zero,
} from '../../money/rational.ts'
import type { Part } from '../../tokens/usage.ts'
import { calculate } from '../calculate.ts'
import type { Reading } from './expected.ts'

/** A wrong amount, with what it should have been computed from: one request, or those between two values of a balance. */
export interface WrongAmount {
  readonly amount: Rational
  /** The last place that the amount shows. */
  readonly unit: Rational
  readonly readings: readonly Reading[]
}

/** One price, or the whole cost, at another number than the contract has. */
export interface OtherPrice {
  /** `input at 1.1 times its price`, or `1.1 times the cost`. */
  readonly summary: string
  /** The price; `the whole cost`. */
  readonly about: string
}

/**
 * The prices that give all wrong amounts exactly if they are another number, the same share of their promise each time.
 *
 * A cost is linear in each of its prices: a wrong amount gives the share that it was charged at, up to the place that it shows.
 * The shares of all wrong amounts must meet in a short decimal, such as 1.1. Amounts that have another cause do so by chance: the
 * coarser they are, and the longer the decimal, the more often; more often than once in a thousand explains nothing. A cost
 * that its smallest charge makes is not linear.
 *
 * @param right amounts that a price at another number would have moved
 */
export function otherPrices(
  wrong: readonly WrongAmount[],
  right: readonly WrongAmount[] = [],
): readonly OtherPrice[] {
  const sums = wrong.map(sumOf)
  if (sums.length === 0 || sums.some((sum) => sum === null)) return []
  const known = sums as readonly Sum[]
  const spared = right.flatMap((each) => sumOf(each) ?? [])
  const names = new Set(known.flatMap(({ shares }) => [...shares.keys()]))
  return [
    ...[...names].flatMap((name) => {
      const times = commonShare(known, spared, ({ shares }) => shares.get(name) ?? zero)
      return times === null ? [] : [{ summary: `${name} at ${times} times its price`, about: name }]
    }),
    ...[commonShare(known, spared, ({ cost }) => cost)].flatMap((times) =>
      times === null
        ? []
        : [{ summary: `${times} times the cost${asTax(times)}`, about: 'the whole cost' }],
    ),
  ]
}

/** What is added to prices in whole percents is often a tax, of so many at most. */
const mostTax = 27

function asTax(times: string): string {
  const percent = multiply(subtract(readNumber(times)!, one), rational(100n))
  const isWhole = percent.denominator === 1n && percent.numerator > 0n
  return isWhole && percent.numerator <= BigInt(mostTax)
    ? `, as with a tax or fee of ${percent.numerator} %`
    : ''
}

/** A right cost, and what of it each price is. */
interface Sum {
  readonly amount: Rational
  readonly slack: Rational
  readonly cost: Rational
  readonly shares: ReadonlyMap<string, Rational>
}

function sumOf({ amount, unit, readings }: WrongAmount): Sum | null {
  const shares = new Map<string, Rational>()
  let [cost, slack] = [zero, unit]
  for (const { model, usage, context } of readings) {
    const found = calculate({ ...model, round: null, minimum: null }, usage, context)
    const lines = found.lines.map((line) => line.cost).reduce(add, zero)
    if (found.cost === null) return null
    const { minimum } = model
    const isLeast = minimum !== null && compare(found.cost, minimum) < 0
    if (isLeast || (minimum !== null && compare(amount, minimum) <= 0)) return null
    const { round } = model
    if (round !== null) {
      const rounded = round.at === 'request' ? 1 : found.lines.length
      slack = add(slack, multiply(powerOfTen(-round.digits), rational(BigInt(rounded))))
    }
    cost = add(cost, found.cost)
    if (isZero(lines)) continue
    const factor = divide(found.cost, lines)
    for (const line of found.lines) {
      const name = priceOfPart[line.name as Part] ?? line.name
      shares.set(name, add(shares.get(name) ?? zero, multiply(line.cost, factor)))
    }
  }
  return { amount, slack, cost, shares }
}

/** A decimal of so many places at most is short. */
const mostPlaces = 4
/** Once in so many is by chance. */
const leastChance = rational(1n, 1000n)

/** The one share of a price that gives all amounts; null if there is none, or if it may be one by chance. */
function commonShare(
  sums: readonly Sum[],
  spared: readonly Sum[],
  of: (sum: Sum) => Rational,
): string | null {
  let [low, high]: [Rational | null, Rational | null] = [null, null]
  let chance = one
  for (const sum of sums) {
    const part = of(sum)
    if (part.numerator <= 0n) return null
    const [least, most] = [subtract(sum.amount, sum.slack), add(sum.amount, sum.slack)].map(
      (amount) => add(one, divide(subtract(amount, sum.cost), part)),
    ) as [Rational, Rational]
    const width = subtract(most, least)
    if (compare(width, one) < 0) chance = multiply(chance, width)
    if (low === null || compare(least, low) > 0) low = least
    if (high === null || compare(most, high) < 0) high = most
  }
  if (low === null || high === null || compare(low, high) > 0) return null
  const middle = divide(add(low, high), rational(2n))
  for (let places = 0; places <= mostPlaces; places++) {
    const short = roundTo(middle, places, 'half_even')
    if (compare(short, low) < 0 || compare(short, high) > 0) continue
    const isSure = compare(chance, multiply(leastChance, powerOfTen(-places))) <= 0
    const isSpared = spared.some((sum) => {
      const moved = multiply(of(sum), subtract(short, one))
      return compare(absolute(moved), sum.slack) > 0
    })
    return isSure && !isSpared && short.numerator > 0n && compare(short, one) !== 0
      ? decimalText(short)
      : null
  }
  return null
}
