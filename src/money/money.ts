/**
 * Sums of money: a whole number of the smallest unit of a currency, in and out as text.
 *
 *     const usd = currency('USD', 12)                 // the smallest unit is 10^-12 USD
 *     const cost = readMoney('3.06e-05', usd)         // { units: 30600000n, currency: usd }
 *     const sum = sumOf([cost, cost], usd)
 *     exactText(sum)                                  // '0.0000612'
 *     shownMoney(sum)                                 // '0.000061 USD': never 0.00
 *     bigintUnits(sum)                                // for a BIGINT column, beside `digits`
 *
 * Amounts of two currencies are never added.
 */
import {
  decimalsOf,
  decimalText,
  fixedText,
  isZero,
  multiply,
  powerOfTen,
  type Rational,
  rational,
  readNumber,
  roundTo,
  roundWhole,
} from './rational.ts'

/** A currency, or another unit in which a service bills: `USD`, `credits`, `quota`. */
export interface Currency {
  readonly name: string
  /** The smallest unit is 10^-digits. */
  readonly digits: number
}

export interface Money {
  readonly units: bigint
  readonly currency: Currency
}

/** An amount that is no money of its currency: the message states the text, the bound and the way out. */
export class MoneyError extends Error {
  override readonly name = 'MoneyError'
}

/** Units that are counted whole where nothing else is said. */
const wholeUnits: ReadonlySet<string> = new Set(['credits', 'credit', 'quota'])
/** Decimals of money where nothing else is said: 9,007 USD is then exact as a JavaScript number. */
const defaultDigits = 12
/** Most decimals of a smallest unit: those of DECIMAL(38, 18), which holds imported amounts. */
export const mostDigits = 18
/** Sums have at most 38 digits in all, as DECIMAL(38) and HUGEINT sums in DuckDB. */
const unitsEnd = 10n ** 38n
const bigintEnd = 2n ** 63n

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

/** @throws MoneyError past 38 digits: a larger amount is a mistake of its writer */
export function money(units: bigint, currency: Currency): Money {
  if (units >= unitsEnd || units <= -unitsEnd) {
    const text = fixedText(rational(units, 10n ** BigInt(currency.digits)), currency.digits)
    throw new MoneyError(
      `${text} ${currency.name}: more than 38 digits; expected less than 10^${38 - currency.digits}`,
    )
  }
  return { units, currency }
}

/**
 * Reads an amount as it is written: `0.0075`, `3.06e-05`, `-2`.
 *
 * @throws MoneyError if the text is no number, has more decimals than the currency, or is too large
 */
export function readMoney(text: string, currency: Currency): Money {
  const value = readNumber(text)
  if (value === null)
    throw new MoneyError(`expected an amount of ${currency.name} such as 0.0075; got "${text}"`)
  return moneyOf(value, currency)
}

/** @throws MoneyError if the amount is not a whole number of smallest units, or is too large */
export function moneyOf(value: Rational, currency: Currency): Money {
  const { money: nearest, isExact } = nearestMoney(value, currency)
  if (isExact) return nearest
  throw new MoneyError(
    `${decimalText(value)} ${currency.name}: more than ${currency.digits} decimals; raise digits (at most ${mostDigits}), or round it`,
  )
}

/**
 * The nearest whole number of smallest units, a half to even. A stated cost with more decimals than
 * its currency, `isExact: false`, has been a float.
 */
export function nearestMoney(
  value: Rational,
  currency: Currency,
): { readonly money: Money; readonly isExact: boolean } {
  const scaled = multiply(value, powerOfTen(currency.digits))
  return {
    money: money(roundWhole(scaled, 'half_even'), currency),
    isExact: scaled.denominator === 1n,
  }
}

export function amountOf({ units, currency }: Money): Rational {
  return rational(units, 10n ** BigInt(currency.digits))
}

/** @throws MoneyError for amounts of another currency, or another smallest unit */
export function sumOf(amounts: Iterable<Money>, currency: Currency): Money {
  let units = 0n
  for (const amount of amounts) {
    const { name, digits } = amount.currency
    if (name !== currency.name || digits !== currency.digits)
      throw new MoneyError(
        `${name} (${digits} digits) is not added to ${currency.name} (${currency.digits} digits)`,
      )
    units += amount.units
  }
  return money(units, currency)
}

/**
 * The units for a BIGINT column.
 *
 * @throws MoneyError past 2^63: 9.2 million USD for one request with 12 digits
 */
export function bigintUnits(amount: Money): bigint {
  if (amount.units < bigintEnd && amount.units >= -bigintEnd) return amount.units
  throw new MoneyError(
    `${exactText(amount)} ${amount.currency.name}: too large for one cost with ${amount.currency.digits} digits; lower digits`,
  )
}

/** The exact decimal, without trailing zeros: the text that JSON, CSV and exports carry. */
export function exactText(amount: Money): string {
  return decimalText(amountOf(amount))
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
export function shownAmount(value: Rational, name: string): string {
  return `${shownNumber(value, name)} ${name}`
}

export function shownMoney(amount: Money): string {
  return shownAmount(amountOf(amount), amount.currency.name)
}

/** The same without the currency. */
export function shownNumber(value: Rational, name: string): string {
  const decimals = minorDigits(name)
  const isSmall = !isZero(value) && leadingZeros(value) > 0
  if (!isSmall) return grouped(fixedText(roundTo(value, decimals, 'half_even'), decimals))
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

function grouped(text: string): string {
  return text.replace(/^(-?)(\d+)/, (_, sign: string, whole: string) => {
    return sign + whole.replace(/\B(?=(\d{3})+$)/g, ',')
  })
}
