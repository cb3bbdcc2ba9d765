import type { Contract } from '../../../contract/contract.ts'
import { literal } from '../../../store/import/literal.ts'

/** Models and prices of the contract as an SQL relation (id, index, credits). */
export function priceTable({ models }: Contract): string {
  const rows = models.map(({ id, costCredits }, at) => `(${literal(id)}, ${at}, ${costCredits})`)
  return `(VALUES ${rows.join(', ')})`
}

/** Upper bound of an unknown price. */
export function highestPrice({ models }: Contract): number {
  return Math.max(...models.map((model) => model.costCredits))
}
