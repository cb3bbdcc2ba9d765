import { decimalsOf, readNumber, zero } from '../money/rational.ts'
import { largest } from '../user/extremes.ts'
import { isList, isObject, type Json, type JsonObject } from '../user/json.ts'
import { modelPriceWords, type ReadPrices, readPrices, topPriceWords } from './read-prices.ts'

/**
 * Takes the price fields out of a contract as written, and reads them: null if it has none. Where a model costs a part of a credit,
 * every `cost_credits` is a price in credits, so the contract has no other currency.
 */
export function splitPrices(given: JsonObject): {
  readonly rest: JsonObject
  readonly prices: ReadPrices | null
} {
  const [stated, rest] = parted(given, topPriceWords)
  const decimals = creditDecimals(given)
  const listed = isList(given.models) ? given.models : []
  const models = decimals === 0 ? listed : listed.map(asPrice)
  const split = models.map((model) =>
    isObject(model) ? parted(model, modelPriceWords) : ([{}, model] as const),
  )
  const named = Object.entries(stated).filter(([, value]) => value !== null)
  const top =
    decimals === 0
      ? stated
      : { currency: 'credits', digits: decimals, ...Object.fromEntries(named) }
  const isPriced = Object.keys(top).length > 0 || split.some(([own]) => Object.keys(own).length > 0)
  if (!isPriced) return { rest: given, prices: null }
  const entries = split.map(([fields, other]) => ({
    id: isObject(other) && typeof other.id === 'string' ? other.id : '',
    fields,
  }))
  return {
    rest: Array.isArray(given.models) ? { ...rest, models: split.map(([, other]) => other) } : rest,
    prices: withIssues(readPrices(top, entries), decimals === 0 ? [] : mixed(given, listed)),
  }
}

const withIssues = (prices: ReadPrices, issues: readonly string[]): ReadPrices => ({
  ...prices,
  issues: [...prices.issues, ...issues],
})

/** What cannot stand beside a price of a part of a credit. */
function mixed({ currency }: JsonObject, models: readonly Json[]): readonly string[] {
  const isNamed = currency !== undefined && currency !== null
  const ofModels = models.flatMap((model, at) => {
    if (!isObject(model)) return []
    const own = ['price', 'ratios'].find((word) => model[word] !== undefined)
    if (own === undefined) return []
    if (typeof model.cost_credits === 'number')
      return [
        `  models.${at}.${own}: expected no ${own} beside cost_credits ${model.cost_credits}: state the credits of a request as price.request`,
      ]
    return isNamed
      ? []
      : [
          `  models.${at}.${own}: expected currency: credits at the top, since another model costs a part of a credit, or no such model`,
        ]
  })
  return isNamed && currency !== 'credits'
    ? [
        `  currency: expected credits, since a model costs a part of a credit; got ${JSON.stringify(currency)}`,
        ...ofModels,
      ]
    : ofModels
}

/** Decimals of the prices in credits: `cost_credits: 0.0004` has 4. */
function creditDecimals(given: JsonObject): number {
  const costs = (isList(given.models) ? given.models : []).flatMap((model) =>
    isObject(model) && typeof model.cost_credits === 'number' ? [model.cost_credits] : [],
  )
  const decimals = costs.map((cost) => decimalsOf(readNumber(String(cost)) ?? zero) ?? 0)
  return largest(decimals, 0)
}

/** A price in credits as a price of any kind. */
function asPrice(model: Json): Json {
  if (!isObject(model) || typeof model.cost_credits !== 'number') return model
  const { cost_credits: cost, ...fields } = model
  return { price: { request: cost }, ...fields }
}

/** @returns the fields with these names, and the others */
function parted(fields: JsonObject, names: readonly string[]): readonly [JsonObject, JsonObject] {
  const entries = Object.entries(fields)
  const isNamed = ([name]: readonly [string, unknown]) => names.includes(name)
  return [
    Object.fromEntries(entries.filter(isNamed)),
    Object.fromEntries(entries.filter((entry) => !isNamed(entry))),
  ]
}
