import { isZero } from '../money/rational.ts'
import {
  type Price,
  type PriceEntry,
  type TokenPrice,
  tokenPriceNames,
  tokenPrices,
} from './prices.ts'

/** The price that holds for a name: its own, or that of its nearest parent that has one. */
export function entryFor(
  price: Price,
  name: TokenPrice,
): { readonly written: TokenPrice; readonly entry: PriceEntry } | null {
  for (let at: TokenPrice | null = name; at !== null; at = tokenPrices[at]) {
    const entry = price[at]
    if (entry !== undefined) return { written: at, entry }
  }
  return null
}

/** Whether an answer of the model costs something: a model for embeddings, whose answers count no output, has no such price. */
export function pricesOutput(price: Price): boolean {
  return tokenPriceNames
    .filter((name) => isOfOutput(name))
    .some((name) => {
      const entry = price[name]
      return entry !== undefined && (entry.price === 'open' || !isZero(entry.price))
    })
}

function isOfOutput(name: TokenPrice): boolean {
  const parent = tokenPrices[name]
  return name === 'output' || (parent !== null && isOfOutput(parent))
}
