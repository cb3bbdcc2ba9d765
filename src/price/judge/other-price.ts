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
import { leastChance } from './by-chance.ts'
import { usualWords } from './changes/whole.ts'
import type { UsageReading } from './expected.ts'
import type { OtherCurrency } from './price-judge.ts'

/** A wrong amount, with what it should have been computed from: one request, or those between two values of a balance. */
export interface WrongAmount {
  readonly amount: Rational
  /** The last place that the amount shows. */
  readonly unit: Rational
  readonly readings: readonly UsageReading[]
}

/** One price, the whole cost, or a rate at another number than the contract has. */
export interface OtherPrice {
  /** `input at 1.1 times its price`, `1.1 times the cost`, or `converted from CNY at a rate of 7.5, where the contract has 7.2`. */
  readonly summary: string
  /** The price; `the whole cost`. */
  readonly about: string
  /** The share of it that was charged. */
  readonly times: Rational
  /** Whether it is a share below 1 that the contract has nowhere, as a discount is. */
  readonly isDiscount: boolean
}

/**
 * The prices that give all wrong amounts exactly if they are another number, the same share of their promise each time.
 *
 * A cost is linear in each of its prices: a wrong amount gives the share that it was charged at, up to the place that it shows.
 * The shares of all wrong amounts must meet in a short decimal, such as 1.1. Amounts that have another cause do so by chance: the
 * coarser they are, and the longer the decimal, the more often; more often than once in a thousand explains nothing. A charge
 * that is the smallest one is not linear.
 *
 * @param right amounts that a price at another number would have moved
 */
export function otherPrices(
  wrong: readonly WrongAmount[],
  right: readonly WrongAmount[] = [],
  others: readonly OtherCurrency[] = [],
): readonly OtherPrice[] {
  const sums = wrong.map(sumOf)
  if (sums.length === 0 || sums.some((sum) => sum === null)) return []
  const known = unlike(sums as readonly Sum[])
  const spared = right.flatMap((each) => sumOf(each) ?? [])
  const names = new Set(known.flatMap(({ shares }) => [...shares.keys()]))
  return [
    ...[...names].flatMap((name) => {
      const times = commonShare(known, spared, ({ shares }) => shares.get(name) ?? zero)
      return times === null
        ? []
        : [
            {
              ...{ summary: `${name} at ${times} times its price`, about: name },
              ...ofShare(readNumber(times)!),
            },
          ]
    }),
    ...ratesOf(known, spared, others),
    ...[commonShare(known, spared, ({ cost }) => cost)].flatMap((times) =>
      times === null
        ? []
        : [
            {
              summary:
                usualWords(readNumber(times)!) ?? `${times} times the cost${usualReason(times)}`,
              about: wholeCost,
              ...ofShare(readNumber(times)!),
            },
          ],
    ),
  ]
}

/** A hundredth, or another usual number of times, is a mistake of units and no discount. */
const ofShare = (times: Rational) => ({
  times,
  isDiscount: compare(times, one) < 0 && usualWords(times) === null,
})

const wholeCost = 'the whole cost'

/** Whether a right amount would be another one at such a price: if it has the price, and its smallest charge does not hide it. */
export function isMovedBy({ about, times }: OtherPrice, right: WrongAmount): boolean {
  const sum = linear(right)
  if (sum === null) return false
  const part = about === wholeCost ? sum.cost : (sum.shares.get(about) ?? zero)
  const moved = add(sum.cost, multiply(part, subtract(times, one)))
  const charged = (cost: Rational) =>
    right.readings.reduce(
      (most, { model: { minimum } }) =>
        minimum !== null && compare(most, minimum) < 0 ? minimum : most,
      cost,
    )
  return compare(absolute(subtract(charged(moved), charged(sum.cost))), right.unit) > 0
}

/** Amounts that follow from the same parts are one amount, however often it was charged. */
function unlike(sums: readonly Sum[]): readonly Sum[] {
  const seen = new Map<string, Sum>()
  for (const sum of sums)
    seen.set(
      JSON.stringify([sum.amount, sum.cost, ...sum.shares].flat(), (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
      sum,
    )
  return [...seen.values()]
}

/** A rate within so many times that of the contract is a wrong rate of that currency. */
const nearRate = rational(3n, 2n)

/** The rates of currencies of the contract by which all amounts follow: one that was converted at another rate, or not at all. */
function ratesOf(
  wrong: readonly Sum[],
  spared: readonly Sum[],
  others: readonly OtherCurrency[],
): readonly OtherPrice[] {
  return others
    .filter(({ isNamed }) => isNamed === true)
    .flatMap(({ name, rate }) => {
      // A rate says how many of the other currency one is, or else what one unit of that is.
      const found = (unit: Rational, how: string) =>
        [false, true]
          .flatMap((isOfOne) => {
            const rateOf = { unit, isOfOne }
            const promised = isOfOne ? rate : divide(one, rate)
            const times = commonShare(wrong, spared, ({ cost }) => cost, rateOf)
            if (times === null || !isNear(readNumber(times)!, promised)) return []
            return [
              {
                summary: `${how} at a rate of ${times}, where the contract has ${shortText(promised)}`,
                ...{ about: wholeCost, isDiscount: false },
                times: shareOf(readNumber(times)!, rateOf),
              },
            ]
          })
          .slice(0, 1)
      return [
        ...found(rate, `converted from ${name}`),
        ...found(one, `in ${name}, not converted, as`),
      ]
    })
}

const isNear = (a: Rational, b: Rational) =>
  compare(multiply(a, nearRate), b) >= 0 && compare(multiply(b, nearRate), a) >= 0

/** A number with so many decimals at most. */
const shortText = (value: Rational) => decimalText(roundTo(value, mostPlaces, 'half_even'))

/** What is added to prices in whole percents is often a tax, of so many at most. */
const mostTax = 27

/** What makes whole costs another number by the same share: a tax, or else the rate of a currency. */
function usualReason(times: string): string {
  const percent = multiply(subtract(readNumber(times)!, one), rational(100n))
  const isTax = percent.denominator === 1n && percent.numerator > 0n
  if (isTax && percent.numerator <= BigInt(mostTax))
    return `, as with a tax or fee of ${percent.numerator} %`
  return percent.numerator < 0n
    ? ', as with a discount, or with another currency at that rate'
    : ', as with another currency at that rate'
}

/** A right cost, and what of it each price is. */
interface Sum {
  readonly amount: Rational
  readonly slack: Rational
  readonly cost: Rational
  readonly shares: ReadonlyMap<string, Rational>
  /** Whether one of its requests costs less than its smallest charge. */
  readonly isBelowLeast: boolean
}

/** Null if an amount does not follow from prices alone: its smallest charge makes it. */
function sumOf(of: WrongAmount): Sum | null {
  const { amount, readings } = of
  const sum = linear(of)
  if (sum === null) return null
  const isLeast = readings.some(
    ({ model: { minimum } }) => minimum !== null && compare(amount, minimum) <= 0,
  )
  // One charge above the smallest one follows from the prices, whatever the right cost is.
  return isLeast || (sum.isBelowLeast && readings.length > 1) ? null : sum
}

function linear({ amount, unit, readings }: WrongAmount): Sum | null {
  const shares = new Map<string, Rational>()
  let [cost, slack] = [zero, unit]
  let isBelowLeast = false
  for (const { model, usage, context } of readings) {
    const found = calculate({ ...model, round: null, minimum: null }, usage, context)
    const lines = found.lines.map((line) => line.cost).reduce(add, zero)
    if (found.cost === null) return null
    const { round, minimum } = model
    if (minimum !== null && compare(found.cost, minimum) < 0) isBelowLeast = true
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
  return { amount, slack, cost, shares, isBelowLeast }
}

/** A number that gives a share: so many units of the price (`7.2` CNY a dollar), or the price of one in so many (`1.1` dollars a euro). */
interface RateOf {
  /** The share at a number of 1. */
  readonly unit: Rational
  readonly isOfOne: boolean
}

const numberOf = (share: Rational, { unit, isOfOne }: RateOf) =>
  isOfOne ? divide(unit, share) : divide(share, unit)

const shareOf = (number: Rational, { unit, isOfOne }: RateOf) =>
  isOfOne ? divide(unit, number) : multiply(number, unit)

/** A decimal of so many places at most is short. */
const mostPlaces = 4

/**
 * The one share of a price that gives all amounts; null if there is none, or if it may be one by chance.
 *
 * @param number what is a short decimal: the share, or a rate that gives it
 */
function commonShare(
  sums: readonly Sum[],
  spared: readonly Sum[],
  of: (sum: Sum) => Rational,
  number: RateOf = { unit: one, isOfOne: false },
): string | null {
  let [low, high]: [Rational | null, Rational | null] = [null, null]
  let chance = one
  for (const sum of sums) {
    const part = of(sum)
    if (part.numerator <= 0n) return null
    const shares = [subtract(sum.amount, sum.slack), add(sum.amount, sum.slack)].map((amount) =>
      add(one, divide(subtract(amount, sum.cost), part)),
    )
    if (number.isOfOne && shares.some(({ numerator }) => numerator <= 0n)) return null
    const [least, most] = shares.map((share) => numberOf(share, number)).toSorted(compare) as [
      Rational,
      Rational,
    ]
    const width = subtract(most, least)
    if (compare(width, one) < 0) chance = multiply(chance, width)
    if (low === null || compare(least, low) > 0) low = least
    if (high === null || compare(most, high) < 0) high = most
  }
  if (low === null || high === null || compare(low, high) > 0) return null
  const middle = divide(add(low, high), rational(2n))
  for (let places = 0; places <= mostPlaces; places++) {
    const short = roundTo(middle, places, 'half_even')
    if (short.numerator <= 0n || compare(short, low) < 0 || compare(short, high) > 0) continue
    const isSure = compare(chance, multiply(leastChance, powerOfTen(-places))) <= 0
    const isSpared = spared.some((sum) => {
      const moved = multiply(of(sum), subtract(shareOf(short, number), one))
      return compare(absolute(moved), sum.slack) > 0
    })
    const isOwn = compare(shareOf(short, number), one) === 0
    return isSure && !isSpared && short.numerator > 0n && !isOwn ? decimalText(short) : null
  }
  return null
}
