import type { PriceTerms, StatedPlace } from '../../../contract/prices.ts'
import { add, isEqual, multiply, one, type Rational } from '../../../money/rational.ts'
import type { PricedRequest, StatedCost } from '../../../price/judge/request.ts'
import { largest } from '../../../user/extremes.ts'
import { isObject } from '../../../user/json.ts'
import { type Amount, amountOf, atPlace, parseWritten, WrittenNumber } from './answer-json.ts'
import { type UnreadableCost, unreadableText } from './unreadable.ts'

/** What an answer states that it cost, at a place that the contract names. */
export function statedAt(
  place: StatedPlace,
  texts: readonly string[],
  headers: ReadonlyMap<string, string>,
): readonly StatedCost[] {
  const found = valuesAt(place, texts, headers).reduce<Amount | null>(
    (before, value) => amountOf(value) ?? before,
    null,
  )
  return found === null ? [] : [{ place: nameOf(place), ...inUnit(found, place.times) }]
}

export type InUnit<Shown> = Shown & Pick<StatedCost, 'times'>

/** An amount of which each unit is so much in the currency of the contract. */
export const inUnit = <Shown extends { readonly value: Rational }>(
  amount: Shown,
  times: Rational,
): InUnit<Shown> =>
  isEqual(times, one) ? amount : { ...amount, value: multiply(amount.value, times), times }

/** The sum of several charges for one request; null without any. */
export function sumOfCosts(costs: readonly StatedCost[]): StatedCost | null {
  const [first] = costs
  if (first === undefined) return null
  return {
    ...first,
    text: sumText(costs.map(({ text }) => text)),
    value: costs.map(({ value }) => value).reduce(add),
    decimals: largest(costs.map(({ decimals }) => decimals)),
  }
}

const shownTerms = 5

const sumText = (terms: readonly string[]) =>
  terms.length <= shownTerms
    ? terms.join(' + ')
    : `${terms.slice(0, shownTerms - 1).join(' + ')} + ${terms.length - shownTerms + 1} more`

const nameOf = (place: StatedPlace) =>
  'header' in place ? `header ${place.header}` : `body ${place.body}`

/** What an answer has at a place, in the order of its events. */
function valuesAt(
  place: StatedPlace,
  texts: readonly string[],
  headers: ReadonlyMap<string, string>,
): readonly unknown[] {
  if ('header' in place) return [headers.get(place.header)]
  // Most events have no amount, and parsing each twice takes time.
  const last = place.body.split('.').at(-1)!
  return texts
    .filter((text) => text.includes(`"${last}"`))
    .map((text) => atPlace(parseWritten(text), place.body))
}

/** Costs that the answer has at places of the contract, of which none is a number. */
export function unreadableIn(
  request: PricedRequest,
  texts: readonly string[],
  headers: ReadonlyMap<string, string>,
  { evidence }: PriceTerms,
): readonly UnreadableCost[] {
  return evidence.cost.flatMap((place) => {
    const name = nameOf(place)
    if (request.stated.some((cost) => cost.place === name)) return []
    const text = valuesAt(place, texts, headers)
      .map((value) => unreadableText(value) ?? otherThanAmount(value))
      .find((each) => each !== null)
    return text == null ? [] : [{ request, place: name, text }]
  })
}

/** A value that states something, and is neither a number nor a text; null if it says nothing. */
function otherThanAmount(value: unknown): string | null {
  if (Array.isArray(value)) return '[…]'
  if (isObject(value) && !(value instanceof WrittenNumber)) return '{…}'
  return typeof value === 'boolean' ? String(value) : null
}
