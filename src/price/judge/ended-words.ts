import type { ChargedOutcome } from '../../contract/prices.ts'
import type { PricedRequest } from './request.ts'

/** How an answer ended, as a sentence says it after `answers`. Whole ones need no words; an `inner_attempt` is no answer to a client. */
export const endings: Readonly<Partial<Record<ChargedOutcome, string>>> = {
  abort: 'whose client left before the end',
  broken: 'that the service broke off',
  refused: 'that were refused',
  empty: 'without text',
  filtered: 'that a filter ended',
  gateway_cache: 'that came again',
}

/** `answers that were refused`, by how the request ended. */
export const endedWords = ({ outcomes: [outcome] }: Pick<PricedRequest, 'outcomes'>): string =>
  endedAs(outcome!)

export function endedAs(outcome: ChargedOutcome): string {
  const ending = endings[outcome]
  return ending === undefined ? 'whole answers' : `answers ${ending}`
}
