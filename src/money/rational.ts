/**
 * Exact fractions, for prices and for costs until they are rounded. A double never holds money.
 *
 *     const price = readNumber('2.5')!                      // per 1,000,000 tokens
 *     const cost = multiply(price, rational(3000n, 1_000_000n))
 *     decimalText(cost)                                     // '0.0075'
 */
export interface Rational {
  readonly numerator: bigint
  /** At least 1; without a divisor in common with the numerator. */
  readonly denominator: bigint
}

/** @throws RangeError if the denominator is 0 */
export function rational(numerator: bigint, denominator = 1n): Rational {
  if (denominator === 0n) throw new RangeError('a fraction needs a denominator that is not 0')
  if (denominator === 1n) return { numerator, denominator }
  const sign = denominator < 0n ? -1n : 1n
  const divisor = greatestDivisor(numerator, denominator) * sign
  return { numerator: numerator / divisor, denominator: denominator / divisor }
}

export const zero: Rational = { numerator: 0n, denominator: 1n }
export const one: Rational = { numerator: 1n, denominator: 1n }

/** Digits that a number may have on each side of its point: no amount of money has more. */
export const maxDigits = 60

/**
 * Reads a decimal (`0.0075`), one with an exponent (`3.06e-05`), or a fraction of two decimals (`1/3`),
 * exactly as it is written.
 *
 * @returns null for any other text, and for a number of more than 60 digits before or after its point
 */
export function readNumber(text: string): Rational | null {
  const [above, below, ...rest] = text.trim().split('/')
  if (rest.length > 0) return null
  const numerator = readDecimal(above!)
  if (below === undefined || numerator === null) return numerator
  const denominator = readDecimal(below)
  return denominator === null || denominator.numerator === 0n
    ? null
    : divide(numerator, denominator)
}

const decimal = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/

function readDecimal(text: string): Rational | null {
  const match = decimal.exec(text.trim())
  if (match === null) return null
  const [, sign, whole = '', part = '', power = '0'] = match
  if (whole === '' && part === '') return null
  const exponent = Number(power) - part.length
  const digits = (whole + part).replace(/^0+(?=\d)/, '')
  if (digits.length + exponent > maxDigits || -exponent > maxDigits || digits.length > maxDigits)
    return digits === '0' ? zero : null
  const value = BigInt(digits) * (sign === '-' ? -1n : 1n)
  return exponent < 0
    ? rational(value, 10n ** BigInt(-exponent))
    : rational(value * 10n ** BigInt(exponent))
}

export function add(a: Rational, b: Rational): Rational {
  return a.denominator === b.denominator
    ? rational(a.numerator + b.numerator, a.denominator)
    : rational(
        a.numerator * b.denominator + b.numerator * a.denominator,
        a.denominator * b.denominator,
      )
}

export const subtract = (a: Rational, b: Rational): Rational => add(a, negate(b))

export function negate({ numerator, denominator }: Rational): Rational {
  return { numerator: -numerator, denominator }
}

export const multiply = (a: Rational, b: Rational): Rational =>
  rational(a.numerator * b.numerator, a.denominator * b.denominator)

/** @throws RangeError if `b` is 0 */
export const divide = (a: Rational, b: Rational): Rational =>
  rational(a.numerator * b.denominator, a.denominator * b.numerator)

/** Negative if `a` is less than `b`, 0 if they are equal. */
export function compare(a: Rational, b: Rational): -1 | 0 | 1 {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

export const smaller = (a: Rational, b: Rational): Rational => (compare(a, b) < 0 ? a : b)

export const larger = (a: Rational, b: Rational): Rational => (compare(a, b) < 0 ? b : a)

export const isEqual = (a: Rational, b: Rational): boolean =>
  a.numerator === b.numerator && a.denominator === b.denominator

export const isZero = ({ numerator }: Rational): boolean => numerator === 0n

export const absolute = (a: Rational): Rational => (a.numerator < 0n ? negate(a) : a)

/** How a number loses digits: where a half goes; or `up`, away from 0; or `down`, toward 0. */
export const roundings = ['half_even', 'half_up', 'half_down', 'up', 'down'] as const
export type Rounding = (typeof roundings)[number]

/** @returns the whole number nearest to the fraction in the sense of `mode` */
export function roundWhole({ numerator, denominator }: Rational, mode: Rounding): bigint {
  const sign = numerator < 0n ? -1n : 1n
  const size = numerator * sign
  const floor = size / denominator
  const twice = (size % denominator) * 2n
  if (twice === 0n) return sign * floor
  const isHalf = twice === denominator
  const goesUp = isHalf
    ? mode === 'up' || mode === 'half_up' || (mode === 'half_even' && floor % 2n === 1n)
    : mode === 'up' || (mode !== 'down' && twice > denominator)
  return sign * (goesUp ? floor + 1n : floor)
}

/** @param digits decimals of the result; negative for tens and hundreds */
export function roundTo(value: Rational, digits: number, mode: Rounding): Rational {
  const unit = powerOfTen(digits)
  return divide(rational(roundWhole(multiply(value, unit), mode)), unit)
}

export const powerOfTen = (exponent: number): Rational =>
  exponent < 0 ? rational(1n, 10n ** BigInt(-exponent)) : rational(10n ** BigInt(exponent))

/** The decimals that a fraction has; null if they never end, as those of 1/3. */
export function decimalsOf({ denominator }: Rational): number | null {
  let [rest, twos, fives] = [denominator, 0, 0]
  for (; rest % 2n === 0n; rest /= 2n) twos++
  for (; rest % 5n === 0n; rest /= 5n) fives++
  return rest === 1n ? Math.max(twos, fives) : null
}

/** The exact decimal, without an exponent: `0.0075`. A fraction without an end is `1/3`. */
export function decimalText(value: Rational): string {
  const decimals = decimalsOf(value)
  if (decimals === null) return `${value.numerator}/${value.denominator}`
  return fixedText(value, decimals)
}

/** The double nearest to a fraction, for a drawing; sums and comparisons stay exact. */
export function numberOf({ numerator, denominator }: Rational): number {
  const digits = `${denominator}`.length
  const scaled = (numerator * 10n ** BigInt(digits + 20)) / denominator
  return Number(`${scaled}e-${digits + 20}`)
}

/** A fraction as a decimal with this many decimals. It must have no more. */
export function fixedText(value: Rational, decimals: number): string {
  const units = (value.numerator * 10n ** BigInt(decimals)) / value.denominator
  const digits = `${units < 0n ? -units : units}`.padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const text = decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`
  return units < 0n ? `-${text}` : text
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  let [divisor, rest] = [a < 0n ? -a : a, b < 0n ? -b : b]
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest]
  return divisor
}
