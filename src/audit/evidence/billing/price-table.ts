import type { Contract } from '../../../contract/contract.ts'

/** Models and prices of the contract as a SQL relation; quotes in names are doubled. */
export function priceTable({ models }: Contract): string {
  const rows = models.map(
    ({ id, costCredits }, at) => `('${id.replaceAll("'", "''")}', ${at}, ${costCredits})`,
  )
  return `(VALUES ${rows.join(', ')})`
}

/** What a request may cost whose price is not known. */
export function highestPrice({ models }: Contract): number {
  return Math.max(...models.map((model) => model.costCredits))
}
