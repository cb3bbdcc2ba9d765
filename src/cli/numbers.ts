import { UsageError } from './exit.ts'

/** @throws UsageError unless the text is a whole number from 0 */
export function wholeOf(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= 0) return value
  throw new UsageError(`${name}: expected a whole number from 0; came ${text}.`)
}

/** @throws UsageError unless the text is a number above 0 */
export function positiveOf(name: string, text: string): number {
  const value = Number(text)
  if (Number.isFinite(value) && value > 0) return value
  throw new UsageError(`${name}: expected a number above 0; came ${text}.`)
}
