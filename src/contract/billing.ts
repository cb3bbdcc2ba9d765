import { type Contract, costOf } from './contract.ts'
import { modelPriceOf } from './model-price.ts'
import type { PriceTerms } from './prices.ts'

/** In what the requests of a run are paid, as far as a contract says it. `none`: it states no price of their models. */
export type Billing =
  | { readonly kind: 'money'; readonly prices: PriceTerms }
  | { readonly kind: 'credits' }
  | { readonly kind: 'none' }

/** @param models the requested names */
export function billingOf(contract: Contract, models: Iterable<string | null>): Billing {
  const names = [...models].filter((name) => name !== null)
  const { prices } = contract
  const isPriced = (name: string) =>
    Object.keys(modelPriceOf(contract, name)?.price ?? {}).length > 0
  if (prices !== undefined && names.some(isPriced)) return { kind: 'money', prices }
  return { kind: names.some((name) => costOf(contract, name) !== null) ? 'credits' : 'none' }
}
