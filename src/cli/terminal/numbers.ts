import { ratePerSOf } from '../../scenario/quantity.ts'
import { userError } from '../../user/user-error.ts'

/** @throws UserError unless the text is a whole number from 0 */
export function wholeNumberOf(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= 0) return value
  throw userError.usage(`${name}: expected a whole number from 0; got ${text}.`)
}

/** A rate per second: `20/s`, `1200/min`, or a plain number. */
export const perSOf = (text: string) =>
  ratePerSOf(text) ?? (/^\d+(?:\.\d+)?$/.test(text) ? Number(text) : null)

/** @throws UserError unless the text is a number above 0 */
export function positiveOf(name: string, text: string): number {
  const value = Number(text)
  if (Number.isFinite(value) && value > 0) return value
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
