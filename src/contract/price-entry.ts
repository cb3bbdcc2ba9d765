import { type Price, type PriceEntry, type TokenPrice, tokenPrices } from './prices.ts'

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
