import type { Contract } from './contract.ts'
import { snake } from './mapping.ts'
import { writtenModel, writtenPrices } from './written-prices.ts'

/** A contract as its file states it, with every default as if it were written. */
export function writtenContract(contract: Contract): Readonly<Record<string, unknown>> {
  const { prices, ...fields } = contract
  const written = snakeKeys(fields) as Readonly<Record<string, unknown>>
  const whole = { extends: 'none', ...written }
  if (prices === undefined) return whole
  const models = (Array.isArray(written.models) ? written.models : []).map((model, at) => {
    const price = prices.models[at]
    return price === undefined ? model : { ...model, ...writtenModel(price) }
  })
  const { name, ...rest } = whole as { readonly name?: unknown }
  return { name, ...writtenPrices(prices), ...rest, models }
}

function snakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeKeys)
  if (typeof value === 'number' && !Number.isFinite(value)) return undefined
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [snake(key), snakeKeys(inner)]),
  )
}
