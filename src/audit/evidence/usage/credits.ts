import { type Field, numbersNamed, unreadableNamed } from './fields.ts'

/** Names of spent credits. */
export const spent = [/consumed/, /used/, /spent/, /usage/]

/** Names of times, and of counts in other units than credits. */
const isOther = /token|request|limit|percent|today|hour|da(?:y|ily)|week|month|_at$/

/** The first text where an amount of credits should be, and that is no number; null without one. */
export function unreadableCredits(
  fields: readonly Field[],
  ...patterns: readonly RegExp[]
): string | null {
  return unreadableNamed(
    fields.filter(({ name }) => !isOther.test(name)),
    ...patterns,
  )
}

/** All amounts of credits whose names match, in the order of the patterns. */
export function creditsNamed(
  fields: readonly Field[],
  ...patterns: readonly RegExp[]
): readonly number[] {
  return numbersNamed(
    fields.filter(({ name }) => !isOther.test(name)),
    ...patterns,
  )
}
