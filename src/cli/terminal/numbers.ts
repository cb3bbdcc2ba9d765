import { ratePerSOf } from '../../scenario/quantity.ts'
import { userError } from '../../user/user-error.ts'

/**
 * @param least the least number that makes sense
 * @throws UserError unless the text is a whole number from there, in digits
 */
export function wholeNumberOf(name: string, text: string, least = 0): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value
  throw userError.usage(`${name}: expected a whole number from ${least}; got ${text}.`)
}

/** A rate per second: `20/s`, `1200/min`, or a plain number. */
export const perSOf = (text: string) =>
  ratePerSOf(text) ?? (/^\d+(?:\.\d+)?$/.test(text) ? Number(text) : null)

/** @throws UserError unless the text is a number above 0, in digits */
export function positiveOf(name: string, text: string): number {
  const value = Number(text)
  const isDecimal = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text)
  if (isDecimal && Number.isFinite(value) && value > 0) return value
  throw userError.usage(`${name}: expected a number above 0; got ${text}.`)
}

/**
 * @param read returns null for any other text
 * @throws UserError unless the text is a quantity above 0
 */
export function quantityOf(
  name: string,
  text: string,
  read: (text: string) => number | null,
  expected: string,
): number {
  const value = read(text)
  if (value !== null && value > 0) return value
  throw userError.usage(`${name}: expected ${expected}; got ${text}.`)
}
