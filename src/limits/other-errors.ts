import type { Contract } from '../contract/contract.ts'
import { refusalsFor, saysFor } from '../contract/refusals.ts'

/** Whether a 429 with these words is no rate limit's: by the contract, or by what the words mean if the contract has none of them for a 429. */
export function otherErrors(contract: Contract): (named: readonly string[]) => boolean {
  const others = otherWords(contract)
  const listed = new Set(wordsOf429(contract))
  return (named) =>
    named.some((word) => others.has(word) || (!listed.has(word) && /tokens/i.test(word))) ||
    (!named.some((word) => listed.has(word)) &&
      named.some((word) => saysFor('overload', word) || saysFor('credits', word)))
}

function wordsOf429({ chatErrors = [], messagesErrors = [] }: Contract): readonly string[] {
  return [
    ...chatErrors.flatMap(({ code, type, status }) => (status === 429 ? [code, type] : [])),
    ...messagesErrors.flatMap(({ type, statuses }) => (statuses?.includes(429) ? [type] : [])),
  ]
}

/** What a contract calls a 429 for want of credits or for overload; nothing if it has no other 429, so that one word stands for all. */
function otherWords(contract: Contract): ReadonlySet<string> {
  const { chatErrors = [], messagesErrors = [] } = contract
  const words = new Set(
    [...refusalsFor('credits', contract), ...refusalsFor('overload', contract)].flatMap(
      ({ word, status }) => (status === 429 ? [word] : []),
    ),
  )
  const hasOther =
    chatErrors.some(
      ({ code, type, status }) => status === 429 && !words.has(code) && !words.has(type),
    ) ||
    messagesErrors.some(
      ({ type, statuses }) => statuses?.includes(429) === true && !words.has(type),
    )
  return hasOther ? words : new Set()
}
