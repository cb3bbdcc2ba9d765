import { shownAmount } from '../../../money/money.ts'
import { add, isZero, negate, type Rational, subtract, zero } from '../../../money/rational.ts'
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

  /** `0.0024 USD too much in these requests`. */
  text(currency: string): string {
    const said = (amount: Rational, how: string) =>
      isZero(amount) ? [] : [`${shownAmount(amount, currency)} too ${how} in these requests`]
    return [...said(this.#over, 'much'), ...said(negate(this.#under), 'little')].join('; ')
  }
}

export function stakeOf(judged: readonly Judged[], currency: string): string {
  const stake = new Stake()
  for (const each of judged) stake.add(each)
  return stake.text(currency)
}
