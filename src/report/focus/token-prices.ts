import { type Contract, namesOf } from '../../contract/contract.ts'
import { modelPriceOf } from '../../contract/model-price.ts'
import type { PriceEntry } from '../../contract/prices.ts'
import { decimalsOf, decimalText, divide, multiply, rational } from '../../money/rational.ts'
import { lookup } from '../../user/lookup.ts'
import type { TokenPrices } from './export-focus.ts'

const million = rational(1_000_000n)

/** Credits for a million tokens, by name of a model: the plain prices of a contract in credits. */
export function readTokenPrices(contract: Contract): TokenPrices {
  if (contract.prices?.currency.name !== 'credits') return {}
  const prices: Record<string, TokenPrices[string]> = lookup()
  for (const model of contract.models ?? []) {
    const found = modelPriceOf(contract, model.id)
    if (found === null) continue
    const { input, output, cache_read } = found.price
    const own = {
      ...priceOf('input', input),
      ...priceOf('output', output),
      ...priceOf('cached input', cache_read ?? input),
    }
    for (const name of namesOf(model)) prices[name] = own
  }
  return prices
}

/** A price without a finite decimal cannot stand in a file. */
function priceOf(kind: string, entry: PriceEntry | undefined): Readonly<Record<string, string>> {
  if (entry === undefined || entry.price === 'open') return {}
  const value = multiply(divide(entry.price, entry.per), million)
  return decimalsOf(value) === null ? {} : { [kind]: decimalText(value) }
}
