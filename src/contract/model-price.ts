import { type Contract, modelNamed } from './contract.ts'
import type { ModelPrice } from './prices.ts'

/** The price of a model by any of its names; null if the contract has none. */
export function modelPriceOf(contract: Contract, name: string): ModelPrice | null {
  const model = modelNamed(contract.models ?? [], name)
  return contract.prices?.models.find(({ id }) => id === model?.id) ?? null
}
