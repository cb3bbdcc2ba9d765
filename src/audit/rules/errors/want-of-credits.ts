import type { Contract } from '../../../contract/contract.ts'
import { refusalsFor } from '../../../contract/refusals.ts'
import { literal } from '../../../store/literal.ts'

/** SQL: whether a row of `seen` is a refusal for want of credits, by the words and statuses of a contract. It may come before any other. */
export function wantsCreditsSql(contract: Contract): string {
  const refusals = refusalsFor('credits', contract).map(
    ({ word, status }) => `(${status}, ${literal(word)})`,
  )
  if (refusals.length === 0) return 'false'
  const isAmong = (name: string) =>
    `coalesce((status, ${name}) IN (VALUES ${refusals.join(', ')}), false)`
  return `(${isAmong('error_code')} OR ${isAmong('error_type')})`
}
