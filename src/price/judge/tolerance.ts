import type { ModelPrice } from '../../contract/prices.ts'
import type { Currency } from '../../money/money.ts'
import {
  absolute,
  compare,
  decimalText,
  larger,
  multiply,
  one,
  powerOfTen,
  type Rational,
  smaller,
  subtract,
} from '../../money/rational.ts'
import type { StatedCost } from './request.ts'

/** From this many different amounts on, the decimals of a place are those that it shows. */
export const fewAmounts = 3
/** A unit of at most this share of an amount is a place that the amount shows, and no accident. */
const fine = powerOfTen(-2)

/**
 * The unit of a place: that of the last decimal that its amounts show, in the currency of the contract. A JSON number drops its last
 * zeros, so the finest amount of the place counts. Of few and coarse amounts nobody knows whether they are rounded: then the
 * currency's own unit counts, and 0 is 0.
 */
export function unitOf(statements: readonly StatedCost[], currency: Currency): Rational {
  const shown = new ShownPlace(currency)
  for (const each of statements) shown.add(each)
  const { finest, own } = shown
  if (finest === null) return own
  if (new Set(statements.map(({ text }) => text)).size >= fewAmounts) return finest
  const isFine = statements.some(
    ({ value }) => compare(finest, multiply(absolute(value), fine)) <= 0,
  )
  return isFine ? finest : own
}

/** The units of a place by what an amount of it is worth: rows of a log may be in currencies of their own. */
export function unitsOf(statements: readonly StatedCost[], currency: Currency): UnitOf {
  const shown = new ShownUnits(currency)
  for (const each of statements) shown.add(each)
  if (shown.hasSeveral) return shown.unitOf
  const byTimes = Map.groupBy(statements, worthOf)
  const units = new Map([...byTimes].map(([worth, own]) => [worth, unitOf(own, currency)]))
  return (statement) => units.get(worthOf(statement))!
}

export type UnitOf = (statement: StatedCost) => Rational

const worthOf = ({ times }: StatedCost) => (times === undefined ? '' : decimalText(times))

/** The same of amounts that are seen one after the other. */
export class ShownUnits {
  readonly #places = new Map<string, ShownPlace>()
  readonly #texts = new Set<string>()
  readonly #currency: Currency

  constructor(currency: Currency) {
    this.#currency = currency
  }

  add(statement: StatedCost): void {
    const worth = worthOf(statement)
    const place = this.#places.get(worth) ?? new ShownPlace(this.#currency)
    this.#places.set(worth, place)
    place.add(statement)
    if (!this.hasSeveral) this.#texts.add(statement.text)
  }

  /** Whether there are so many different amounts, whatever they are worth, that their decimals are those of the place. */
  get hasSeveral(): boolean {
    return this.#texts.size >= fewAmounts
  }

  readonly unitOf: UnitOf = (statement) => {
    const { finest, own } = this.#places.get(worthOf(statement))!
    return this.hasSeveral ? (finest ?? own) : own
  }
}

/** The unit of a place whose amounts are seen one after the other. */
class ShownPlace {
  /** The smallest unit of the currency. */
  readonly own: Rational
  /** The unit of the last decimal of the finest amount; null: all are whole numbers of the currency, which show none. */
  finest: Rational | null = null

  constructor({ digits }: Currency) {
    this.own = powerOfTen(-digits)
  }

  add({ decimals, times }: StatedCost): void {
    if (decimals === 0 && times === undefined) return
    const unit = larger(multiply(powerOfTen(-decimals), times ?? one), this.own)
    this.finest = this.finest === null ? unit : smaller(unit, this.finest)
  }
}

const floatError = powerOfTen(-12)

/**
 * How far two amounts may be apart and still be equal: 10^-12 of the cost, half of the place's unit, and all of it
 * without a promise of rounding, since the service may have rounded in any way.
 */
export function toleranceOf(cost: Rational, unit: Rational, model: ModelPrice | null): Rational {
  const shown = model?.round === null ? unit : multiply(unit, { numerator: 1n, denominator: 2n })
  return larger(multiply(absolute(cost), floatError), shown)
}

/** A difference within a promise of no rounding is less than a unit: exactly one unit is too much. */
export function isWithin(
  observed: Rational,
  cost: Rational,
  unit: Rational,
  model: ModelPrice | null,
): boolean {
  const beyond = compare(absolute(subtract(observed, cost)), toleranceOf(cost, unit, model))
  return beyond < 0 || (beyond === 0 && model?.round !== null)
}

/** Whether an explanation gives an amount: to half of the unit, also where no rounding is promised. */
export const isExactly = (observed: Rational, cost: Rational, unit: Rational): boolean =>
  isWithin(observed, cost, unit, null)
