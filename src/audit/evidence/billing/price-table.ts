import type { Contract } from '../../../contract/contract.ts'
import { literal } from '../../../store/import/literal.ts'

/** Models and prices of the contract as a SQL relation; quotes in names are doubled. */
export function priceTable({ models }: Contract): string {
  const rows = models.map(({ id, costCredits }, at) => `(${literal(id)}, ${at}, ${costCredits})`)
  return `(VALUES ${rows.join(', ')})`
}

/** What a request may cost whose price is not known. */
export function highestPrice({ models }: Contract): number {
  return Math.max(...models.map((model) => model.costCredits))
}
