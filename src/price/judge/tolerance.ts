import type { ModelPrice } from '../../contract/prices.ts'
import type { Currency } from '../../money/money.ts'
import {
  absolute,
  compare,
  decimalText,
  isZero,
  multiply,
  one,
  powerOfTen,
  type Rational,
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
  if (shown.hasSeveral) return finest
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
  readonly #texts = new Set<string>()

  constructor({ digits }: Currency) {
    this.own = powerOfTen(-digits)
  }

  add({ text, decimals, times }: StatedCost): void {
    if (this.#texts.size < fewAmounts) this.#texts.add(text)
    if (decimals === 0 && times === undefined) return
    const unit = multiply(powerOfTen(-decimals), times ?? one)
    if (this.finest !== null && compare(unit, this.finest) >= 0) return
    this.finest = compare(unit, this.own) > 0 ? unit : this.own
  }

  /** Whether there are so many different amounts that their decimals are those of the place. */
  get hasSeveral(): boolean {
    return this.#texts.size >= fewAmounts
  }
}

const floatError = powerOfTen(-12)

/**
 * How far two amounts may be apart and still be equal: 10^-12 of the cost, half of the place's unit, and all of it
 * without a promise of rounding, since the service may have rounded in any way.
 */
export function toleranceOf(cost: Rational, unit: Rational, model: ModelPrice | null): Rational {
  const ofFloat = multiply(absolute(cost), floatError)
  const shown = model?.round === null ? unit : multiply(unit, { numerator: 1n, denominator: 2n })
  return compare(ofFloat, shown) > 0 ? ofFloat : shown
}

/** A difference within a promise of no rounding is less than a unit: exactly one unit is too much. */
export function isWithin(
  observed: Rational,
  cost: Rational,
  unit: Rational,
  model: ModelPrice | null,
): boolean {
  const apart = absolute(subtract(observed, cost))
  return (
    isZero(apart) ||
    compare(apart, toleranceOf(cost, unit, model)) < 0 ||
    (model?.round !== null && compare(apart, toleranceOf(cost, unit, model)) === 0)
  )
}

const exact = { at: 'request', digits: 0, mode: 'half_even' } as const

/** Whether an explanation gives an amount: to half of the unit, also where no rounding is promised. */
export const isExactly = (
  observed: Rational,
  cost: Rational,
  unit: Rational,
  model: ModelPrice,
): boolean => isWithin(observed, cost, unit, { ...model, round: model.round ?? exact })
