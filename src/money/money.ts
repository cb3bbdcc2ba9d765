/** Currencies, and how an amount is shown. An amount itself is an exact fraction (`rational.ts`). */
import { groupedText } from '../user/grouped.ts'
import { decimalsOf, fixedText, isZero, type Rational, roundTo } from './rational.ts'

/** A currency, or another unit in which a service bills: `USD`, `credits`, `quota`. */
export interface Currency {
  readonly name: string
  /** The smallest unit is 10^-digits. */
  readonly digits: number
}

/** Digits that are none of a currency: the message states the bound. */
export class MoneyError extends Error {
  override readonly name = 'MoneyError'
}

/** Units that are counted whole where nothing else is said. */
const wholeUnits: ReadonlySet<string> = new Set(['credits', 'credit', 'quota'])
/** Decimals of money where nothing else is said: 9,007 USD is then exact as a JavaScript number. */
const defaultDigits = 12
/** Most decimals of a smallest unit: those of DECIMAL(38, 18), which holds imported amounts. */
export const mostDigits = 18

/**
 * @param digits by default 0 for credits and quota, 12 for all else
 * @throws MoneyError if the digits are not 0 to 18
 */
export function currency(
  name: string,
  digits = wholeUnits.has(name) ? 0 : defaultDigits,
): Currency {
  if (!Number.isInteger(digits) || digits < 0 || digits > mostDigits)
    throw new MoneyError(`digits: expected a whole number from 0 to ${mostDigits}; got ${digits}`)
  return { name, digits }
}

/** Decimals in which people read a currency: 2 for USD, 0 for JPY, credits and quota. */
export function minorDigits(name: string): number {
  if (wholeUnits.has(name)) return 0
  if (!/^[A-Z]{3}$/.test(name)) return 2
  return (
    new Intl.NumberFormat('en', { style: 'currency', currency: name }).resolvedOptions()
      .maximumFractionDigits ?? 2
  )
}

/**
 * An amount for people, with its currency: to the minor unit, a half to even. An amount below a tenth, which the minor unit
 * would round by much, has its first two significant digits: `0.0082 USD`, `0.000061 USD`.
 */
export const shownAmount = (value: Rational, name: string): string =>
  `${shownNumber(value, name)} ${name}`

/** The same without the currency. */
export function shownNumber(value: Rational, name: string): string {
  const decimals = minorDigits(name)
  const isSmall = !isZero(value) && leadingZeros(value) > 0
  if (!isSmall) return groupedText(fixedText(roundTo(value, decimals, 'half_even'), decimals))
  const fine = roundTo(value, Math.max(decimals, leadingZeros(value) + 2), 'half_even')
  return fixedText(fine, Math.max(decimals, decimalsOf(fine)!))
}

/** Zeros after the decimal point, before the first digit that is not 0; 0 from a tenth on. */
function leadingZeros({ numerator, denominator }: Rational): number {
  const size = numerator < 0n ? -numerator : numerator
  let [zeros, scaled] = [0, size * 10n]
  for (; scaled < denominator; scaled *= 10n) zeros++
  return zeros
}
