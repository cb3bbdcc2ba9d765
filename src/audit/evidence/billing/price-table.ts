import { namesOf } from '../../../contract/contract.ts'
import type { Promising } from '../../../contract/promises.ts'
import { literal } from '../../../store/literal.ts'
import { largest } from '../../../user/extremes.ts'
import type { Evidence } from '../../rule.ts'

export type PricedEvidence = Evidence<'models.cost_credits'>

type Priced = Promising<'models.cost_credits'>

/**
 * The models of the contract as an SQL relation: each name in lower case, the index of its model in the contract, its price in
 * credits.
 */
export function priceTable({ models }: Priced): string {
  const rows = models.flatMap((model, at) =>
    // Names are compared without case, so those of a model that differ in case only are one.
    [...new Set(namesOf(model).map((name) => name.toLowerCase()))].map(
      (name) => `(${literal(name)}, ${at}, ${model.costCredits})`,
    ),
  )
  return `(VALUES ${rows.join(', ')})`
}

/** The highest price of the contract: what a request of an unknown model can cost at most. */
export const highestPrice = ({ models }: Priced): number =>
  largest(models.map((model) => model.costCredits))
