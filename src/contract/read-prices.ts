import { type Currency, currency, MoneyError, mostDigits } from '../money/money.ts'
import { compare, decimalsOf, decimalText, divide, one, type Rational } from '../money/rational.ts'
import { answerDialectNames } from '../tokens/dialects.ts'
import type { JsonObject } from '../user/json.ts'
import { readPriceEvidence } from './price-evidence.ts'
import { PriceReader } from './price-reader.ts'
import {
  allowances,
  type ModelPrice,
  type PriceOverlay,
  type PriceTerms,
  priceClocks,
  pricedModels,
  servedModels,
} from './prices.ts'
import { overlayWords, readOverlay, readRatios } from './read-price.ts'
import { readCharged, readFactors, readRound } from './read-terms.ts'
import { readChange, readHours } from './read-times.ts'

/** Fields that may stand at the top or in a model; the model's own count. */
const shared = ['usage', 'by', 'charged', 'times', 'round', 'minimum', 'priced', 'served', 'clock']
export const topPriceWords = ['currency', 'digits', 'is', 'allowance', 'evidence', ...shared]
const ownWords = ['price', 'tiers', 'service', 'hours', 'changes', 'ratios']
export const modelPriceWords = [...ownWords, ...shared]

export interface ReadPrices {
  readonly terms: PriceTerms
  /** Sentences with their place. */
  readonly issues: readonly string[]
  readonly warnings: readonly string[]
}

/** Reads the price fields of a contract: those of `topPriceWords`, and of each model its id and `modelPriceWords`. */
export function readPrices(
  top: JsonObject,
  models: readonly { readonly id: string; readonly fields: JsonObject }[],
): ReadPrices {
  const reader = new PriceReader()
  const unit = readCurrency(top, reader)
  const is = Object.entries(reader.mapping(top.is, 'is', null)).map(
    ([name, value]) => [name, reader.number(value, `is.${name}`) ?? one] as const,
  )
  const terms: PriceTerms = {
    currency: unit,
    is: Object.fromEntries(is),
    allowance:
      top.allowance === undefined || top.allowance === null
        ? null
        : reader.word(top.allowance, 'allowance', allowances),
    models: models.map(({ id, fields }, at) =>
      readModel(id, { ...top, ...fields }, fields, `models.${at}`, reader),
    ),
    evidence: readPriceEvidence(top.evidence, unit, Object.fromEntries(is), reader),
  }
  return { terms, issues: reader.issues, warnings: reader.warnings }
}

function readCurrency(top: JsonObject, reader: PriceReader): Currency {
  const name = reader.text(top.currency, 'currency', 'a word such as USD or credits') ?? 'USD'
  const digits = reader.wholeNumber(top.digits, 'digits', 0, mostDigits)
  try {
    return digits === null ? currency(name) : currency(name, digits)
  } catch (error) {
    if (!(error instanceof MoneyError)) throw error
    return currency(name)
  }
}

/** @param terms the model's fields over those at the top */
function readModel(
  id: string,
  terms: JsonObject,
  own: JsonObject,
  path: string,
  reader: PriceReader,
): ModelPrice {
  const placeOf = (word: string) => (own[word] === undefined ? word : `${path}.${word}`)
  const base = readOverlay(own, path, reader)
  const ratios = own.ratios === undefined ? {} : readRatios(own.ratios, `${path}.ratios`, reader)
  const round = readRound(terms.round, placeOf('round'), reader)
  const factors = readFactors(terms.times, placeOf('times'), reader)
  const model: ModelPrice = {
    id,
    dialect:
      terms.usage === undefined || terms.usage === null
        ? null
        : reader.word(terms.usage, placeOf('usage'), answerDialectNames),
    price: { ...ratios, ...base.price },
    tiers: base.tiers,
    times: one,
    changes: reader
      .list(own.changes, `${path}.changes`)
      .map((change, at) => readChange(change, `${path}.changes.${at}`, reader))
      .toSorted((a, b) => a.fromMs - b.fromMs),
    service: readOverlays(own.service, `${path}.service`, reader),
    by: readBy(terms.by, placeOf('by'), reader),
    hours: reader
      .list(own.hours, `${path}.hours`)
      .map((hours, at) => readHours(hours, `${path}.hours.${at}`, reader)),
    factors,
    round,
    minimum:
      terms.minimum === undefined || terms.minimum === null
        ? null
        : reader.number(terms.minimum, placeOf('minimum')),
    charged: readCharged(terms.charged, placeOf('charged'), reader),
    priced: reader.word(terms.priced, placeOf('priced'), pricedModels),
    served: reader.word(terms.served, placeOf('served'), servedModels),
    clock: reader.word(clockOf(own, terms), placeOf('clock'), priceClocks),
  }
  warnOfCheapTiers(model, path, reader)
  if (round === null) refuseEndless(model, path, reader)
  return model
}

/** Prices by the values of a name. */
function readOverlays(
  value: unknown,
  path: string,
  reader: PriceReader,
): Readonly<Record<string, PriceOverlay>> {
  return Object.fromEntries(
    Object.entries(reader.mapping(value, path, null)).map(([name, entry]) => {
      const place = `${path}.${name}`
      return [name, readOverlay(reader.mapping(entry, place, overlayWords), place, reader, true)]
    }),
  )
}

/** `by: { speed: { fast: { times: 2 } } }`: prices by what the usage names. */
function readBy(value: unknown, path: string, reader: PriceReader): ModelPrice['by'] {
  const fields = reader.mapping(value, path, null)
  const instead = 'another name: a service tier stands in `service`'
  if (fields.service_tier !== undefined) reader.issue(`${path}.service_tier`, instead, undefined)
  return Object.fromEntries(
    Object.entries(fields).map(([name, values]) => [
      name,
      readOverlays(values, `${path}.${name}`, reader),
    ]),
  )
}

/** `clock` may also stand in an entry of `hours`. */
function clockOf(own: JsonObject, terms: JsonObject): unknown {
  const inHours = Array.isArray(own.hours)
    ? own.hours.find((entry) => entry?.clock !== undefined)?.clock
    : undefined
  return own.clock ?? inHours ?? terms.clock
}

/** A price without a decimal form, such as 1/3, needs a promise of rounding. */
function refuseEndless(value: unknown, path: string, reader: PriceReader): void {
  if (typeof value !== 'object' || value === null) return
  if ('numerator' in value && 'denominator' in value) {
    const number = value as Rational
    if (decimalsOf(number) === null)
      reader.issue(path, `\`round\`, since ${decimalText(number)} has no decimal form`, undefined)
    return
  }
  for (const [key, inner] of Object.entries(value)) refuseEndless(inner, `${path}.${key}`, reader)
}

function warnOfCheapTiers(model: ModelPrice, path: string, reader: PriceReader): void {
  for (const [at, step] of (model.tiers?.steps ?? []).entries()) {
    for (const [name, { price, per }] of Object.entries(step.price)) {
      const base = model.price[name]
      if (base === undefined || price === 'open' || base.price === 'open') continue
      if (compare(divide(price, per), divide(base.price, base.per)) < 0)
        reader.warnings.push(`${path}.tiers.steps.${at}.price.${name}: cheaper than its base`)
    }
  }
}
