import { type Field, numbersNamed } from './fields.ts'

/** What credits that are gone may be called. */
export const spent = [/consumed/, /used/, /spent/, /usage/]

/** Names of what is counted in something else than credits, or is a time. */
const isOther = /token|request|limit|percent|today|hour|da(?:y|ily)|week|month|_at$/

/** All amounts of credits with names of a pattern, in the order of the patterns. */
export function creditsNamed(
  fields: readonly Field[],
  ...patterns: readonly RegExp[]
): readonly number[] {
  return numbersNamed(
    fields.filter(({ name }) => !isOther.test(name)),
    ...patterns,
  )
}
