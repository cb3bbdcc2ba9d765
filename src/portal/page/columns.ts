import {
  absolute,
  compare,
  decimalsOf,
  isZero,
  multiply,
  numberOf,
  powerOfTen,
  type Rational,
  readNumber,
  roundWhole,
  subtract,
} from '../../money/rational.ts'
import { largest } from '../../user/extremes.ts'

/** How amounts of a unit are written. */
export interface AmountWriting {
  /** One amount with its unit, `€7.30`; a dash for none. */
  one(amount: string | null): string
  /** An estimate: three digits, and no cents where they say nothing. */
  about(amount: number): string
  /** How much less the estimate is, as they are both written: a decimal text of as many decimals. */
  beyond(amount: string, estimate: number): string
  /** The amounts of a column, which have the same decimals and add up to its total as it is shown. */
  column(amounts: readonly (string | null)[], total: string | null): readonly string[]
}

const none = '–'
/** What is shown of an amount that is only known roughly: three significant digits. */
export const roughly = (amount: number) => Number(amount.toPrecision(3))
export const isMoney = (unit: string) => /^[A-Z]{3}$/.test(unit)
const minorDigits = (currency: string) =>
  formatOf('en', currency, null).resolvedOptions().maximumFractionDigits ?? 2

/** A page writes hundreds of amounts, and to make a format takes longer than to use it. */
const formats = new Map<string, Intl.NumberFormat>()
const mostFormats = 1_000

/** How a number is written with so many decimals, an amount of money with its currency. @param digits null for those of the currency */
function formatOf(locale: string, unit: string, digits: number | null): Intl.NumberFormat {
  const currency = isMoney(unit) ? unit : null
  const key = JSON.stringify([locale, currency, digits])
  const format =
    formats.get(key) ??
    new Intl.NumberFormat(locale, {
      ...(digits === null ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits }),
      ...(currency === null ? {} : { style: 'currency', currency }),
    })
  if (formats.size >= mostFormats) formats.clear()
  formats.set(key, format)
  return format
}

/** Decimals that show an amount: money to its minor unit, all else to two at most; more if it is small. */
function digitsFor(amount: Rational, unit: string): number {
  const usual = isMoney(unit) ? minorDigits(unit) : Math.min(2, decimalsOf(amount) ?? 2)
  const size = Math.abs(numberOf(amount))
  if (size === 0 || size >= 0.1) return usual
  // An amount that is not 0 is never shown as 0.
  const needed = Math.min(18, Math.ceil(-Math.log10(size)) + 1)
  return Math.max(usual, Math.min(needed, decimalsOf(amount) ?? needed))
}

/** An estimate in the least units that are shown of it. */
function aboutIn(
  amount: number,
  unit: string,
): { readonly units: bigint; readonly digits: number } {
  const rough = roughly(amount)
  const isWhole =
    Math.abs(amount) >= (isMoney(unit) ? 50 : 100) || (!isMoney(unit) && Number.isInteger(rough))
  const digits = isWhole ? 0 : isMoney(unit) ? minorDigits(unit) : 1
  return { units: BigInt(Math.round(rough * 10 ** digits)), digits }
}

/** Writes amounts of a unit in the manner of a locale. */
export function amountWriting(locale: string, unit: string): AmountWriting {
  const write = (units: bigint, digits: number) => {
    const number = formatOf(locale, unit, digits).format(Number(units) / 10 ** digits)
    return unit === 'credits' || isMoney(unit) ? number : `${number} ${unit}`
  }
  const scaled = (amount: Rational, digits: number) =>
    roundWhole(multiply(amount, powerOfTen(digits)), 'half_even')
  return {
    one(amount) {
      const value = amount === null ? null : readNumber(amount)
      if (value === null) return none
      const digits = digitsFor(value, unit)
      return write(scaled(value, digits), digits)
    },
    about(amount) {
      const { units, digits } = aboutIn(amount, unit)
      return write(units, digits)
    },
    beyond(amount, estimate) {
      const value = readNumber(amount)!
      const about = aboutIn(estimate, unit)
      const digits = Math.max(digitsFor(value, unit), about.digits)
      const shown = scaled(value, digitsFor(value, unit))
      const whole = (units: bigint, of: number) => units * 10n ** BigInt(digits - of)
      const rest = whole(shown, digitsFor(value, unit)) - whole(about.units, about.digits)
      return (Number(rest) / 10 ** digits).toFixed(digits)
    },
    column(amounts, total) {
      const values = amounts.map((amount) => (amount === null ? null : readNumber(amount)))
      const known = values.filter((value) => value !== null)
      const whole = total === null ? null : readNumber(total)
      const all = whole === null ? known : [...known, whole]
      // The smallest is readable, and a cent is the least that is shown of money.
      const digits = Math.min(
        6,
        largest(
          all.map((value) => digitsFor(value, unit)),
          isMoney(unit) ? minorDigits(unit) : 0,
        ),
      )
      const units = values.map((value) => (value === null ? null : scaled(value, digits)))
      if (whole !== null) settle(values, units, digits, scaled(whole, digits))
      return units.map((each) => (each === null ? none : write(each, digits)))
    },
  }
}

/** Moves the least units that rounding lost or made to where they were cut most, so that the column adds up. */
function settle(
  values: readonly (Rational | null)[],
  units: (bigint | null)[],
  digits: number,
  total: bigint,
): void {
  const sum = units.reduce<bigint>((all, each) => all + (each ?? 0n), 0n)
  const missing = total - sum
  const step = missing < 0n ? -1n : 1n
  // A difference of more than rounding is no rounding: the rows are not all of the total.
  if (missing === 0n || missing * step > BigInt(units.length)) return
  const lost = (at: number) => {
    const exact = multiply(values[at]!, powerOfTen(digits))
    const rest = subtract(exact, { numerator: units[at]!, denominator: 1n })
    return step > 0n ? rest : subtract({ numerator: 0n, denominator: 1n }, rest)
  }
  const places = units
    .flatMap((each, at) => (each === null || isZero(values[at]!) ? [] : [at]))
    .sort(
      (a, b) => compare(lost(b), lost(a)) || compare(absolute(values[b]!), absolute(values[a]!)),
    )
  for (const at of places.slice(0, Number(missing * step))) units[at] = units[at]! + step
}
