import type { Contract } from '../../../contract/contract.ts'
import { refusalsFor, saysFor } from '../../../contract/refusals.ts'
import { largest } from '../../../user/extremes.ts'

/** Columns of the attempts of one account; NaN is null, words are indexes. */
type Columns = Readonly<
  Record<
    'error_code' | 'error_type' | 'token_limit' | 'token_remaining' | 'total_tokens',
    Float64Array
  >
>

/** @returns whether the 429 of a row may be for another reason than a limit of requests: want of credits, overload, or a limit of tokens */
export function otherReasonsFor(
  columns: Columns,
  words: readonly string[],
  contract: Contract,
): (row: number) => boolean {
  const isOtherError = otherErrors(contract)
  const areTokensLeft = tokensLeft(columns)
  const wordAt = (code: number) => (Number.isNaN(code) ? null : words[code]!)
  return (row) => {
    const named = [columns.error_code[row]!, columns.error_type[row]!].flatMap(
      (code) => wordAt(code) ?? [],
    )
    return isOtherError(named) || !areTokensLeft(row)
  }
}

/** Whether an error with these words is no rate limit's: by the contract, or by what the words mean if the contract has none of them for a 429. */
function otherErrors(contract: Contract): (named: readonly string[]) => boolean {
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

/**
 * Whether so many tokens remain, as a 429 shows itself, that no request can have needed them: half of the limit, and twice what any
 * answer used. All remain if the account never shows a limit of tokens.
 */
function tokensLeft({
  token_limit: limit,
  token_remaining: remaining,
  total_tokens: totals,
}: Columns): (row: number) => boolean {
  if (remaining.every(Number.isNaN) && limit.every(Number.isNaN)) return () => true
  const most = largest(
    totals.filter((total) => !Number.isNaN(total)),
    0,
  )
  return (row) => remaining[row]! >= limit[row]! / 2 && remaining[row]! > 2 * most
}
