import type { FullContract } from '../contract/contract.ts'
import { largest } from '../user/extremes.ts'

/** The model for most requests: the cheapest with a price. A free model reveals nothing about charges. */
export function cheapestModel({ models }: FullContract): FullContract['models'][number] {
  const paid = models.filter(({ costCredits }) => costCredits > 0)
  return (paid.length > 0 ? paid : models).reduce((a, b) => (b.costCredits < a.costCredits ? b : a))
}

/** Price of a success on that model, and on the most expensive one. */
export function pricesOf(contract: FullContract): {
  readonly least: number
  readonly most: number
} {
  return {
    least: cheapestModel(contract).costCredits,
    most: largest(contract.models.map(({ costCredits }) => costCredits)),
  }
}
