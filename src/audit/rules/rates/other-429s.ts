import type { Contract } from '../../../contract/contract.ts'
import { otherErrors } from '../../../limits/other-errors.ts'
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
