import { shownAmount } from '../../money/money.ts'
import { add, decimalText, type Rational, readNumber, zero } from '../../money/rational.ts'

/**
 * An amount for people, without its unit: money to the minor unit of its currency, other units to two decimals. An
 * amount that is not 0 is never shown as 0.
 */
export function amountText(amount: string | number, unit: string): string {
  const value = readNumber(String(amount))
  if (value === null) return String(amount)
  const isMoney = /^[A-Z]{3}$/.test(unit)
  // Any name that is no currency has two decimals.
  const shown = shownAmount(value, isMoney ? unit : 'other').split(' ')[0]!
  return isMoney ? shown : shown.replace(/\.?0+$/, (zeros) => (shown.includes('.') ? '' : zeros))
}

/** The amount in full where its text is rounded; else null. */
export function exactAmount(amount: string, unit: string): string | null {
  const shown = readNumber(amountText(amount, unit).replaceAll(',', ''))
  const value = readNumber(amount)
  return value === null || shown === null || decimalText(value) === decimalText(shown)
    ? null
    : decimalText(value)
}

export function sumOfAmounts(amounts: readonly string[]): string {
  const sum = amounts.reduce<Rational>((all, each) => add(all, readNumber(each) ?? zero), zero)
  return decimalText(sum)
}
