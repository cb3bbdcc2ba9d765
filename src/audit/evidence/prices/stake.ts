import { shownAmount } from '../../../money/money.ts'
import {
  add,
  decimalText,
  isZero,
  negate,
  type Rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import type { Judged } from '../../../price/judge/judge.ts'

/**
 * The money at stake: what was charged too much, and too little. It is that of the judged requests alone, since a rate of
 * audit traffic says nothing of a month.
 */
export class Stake {
  #over = zero
  #under = zero

  add({ statement, nearest, is }: Judged): void {
    if (is !== 'wrong' || nearest === null) return
    const apart = subtract(statement.value, nearest)
    if (apart.numerator > 0n) this.#over = add(this.#over, apart)
    else this.#under = add(this.#under, apart)
  }

  /** `0.002416 USD too much in these requests`: exact as long as a person can read it, so that it is the sum of the differences. */
  text(currency: string): string {
    const said = (amount: Rational, how: string) =>
      isZero(amount) ? [] : [`${exactAmount(amount, currency)} too ${how} in these requests`]
    return [...said(this.#over, 'much'), ...said(negate(this.#under), 'little')].join('; ')
  }
}

const mostShown = 12

export function exactAmount(amount: Rational, currency: string): string {
  const exact = decimalText(amount)
  return exact.length <= mostShown && !exact.includes('/')
    ? `${exact} ${currency}`
    : shownAmount(amount, currency)
}

/** What a wrong amount is too much, or with a minus too little; nothing if the contract gives more than one. */
export function differenceOf({ statement, expected, is }: Judged): {
  readonly difference?: string
} {
  const [cost] = expected.costs
  return is !== 'wrong' || cost === undefined || expected.costs.length > 1
    ? {}
    : { difference: decimalText(subtract(statement.value, cost)) }
}

export function stakeOf(judged: readonly Judged[], currency: string): string {
  const stake = new Stake()
  for (const each of judged) stake.add(each)
  return stake.text(currency)
}
