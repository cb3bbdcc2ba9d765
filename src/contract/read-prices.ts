import { type Currency, currency, MoneyError, mostDigits } from '../money/money.ts'
import {
  compare,
  decimalsOf,
  decimalText,
  divide,
  multiply,
  one,
  type Rational,
  rational,
  roundings,
  zero,
} from '../money/rational.ts'
import { answerDialectNames } from '../tokens/dialects.ts'
import { readPriceEvidence } from './price-evidence.ts'
import { type Mapping, PriceReader } from './price-reader.ts'
import {
  type Change,
  type Charge,
  type ChargedOutcome,
  chargedOutcomes,
  charges,
  type Factor,
  feeNames,
  type Hours,
  type ModelPrice,
  type Price,
  type PriceEntry,
  type PriceOverlay,
  type PriceTerms,
  type RoundingTerms,
  type TierStep,
  type Tiers,
  tokenPriceNames,
  weekdays,
} from './prices.ts'

/** Fields that may stand at the top or in a model; the model's own count. */
const sharedWords = [
  'usage',
  'charged',
  'times',
  'round',
  'minimum',
  'priced',
  'served',
  'clock',
] as const
/** Fields of prices at the top of a contract. */
export const topPriceWords: readonly string[] = [
  'currency',
  'digits',
  'is',
  'evidence',
  ...sharedWords,
]
const overlayWords = ['price', 'tiers', 'times'] as const
/** Fields of prices in a model. */
export const modelPriceWords: readonly string[] = [
  'price',
  'tiers',
  'service',
  'hours',
  'changes',
  'ratios',
  ...sharedWords,
]

export interface ReadPrices {
  readonly terms: PriceTerms
  /** Sentences with their place. */
  readonly faults: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * Reads the price fields of a contract.
 *
 * @param top the fields of `topPriceWords`, as in the file
 * @param models each with its id and the fields of `modelPriceWords`, as in the file
 */
export function readPrices(
  top: Mapping,
  models: readonly { readonly id: string; readonly fields: Mapping }[],
): ReadPrices {
  const reader = new PriceReader()
  const unit = readCurrency(top, reader)
  const is = Object.entries(reader.mapping(top.is, 'is', null)).map(
    ([name, value]) => [name, reader.number(value, `is.${name}`) ?? one] as const,
  )
  const terms: PriceTerms = {
    currency: unit,
    is: Object.fromEntries(is),
    models: models.map(({ id, fields }, at) =>
      readModel(id, { ...top, ...fields }, fields, `models.${at}`, reader),
    ),
    evidence: readPriceEvidence(top.evidence, unit, Object.fromEntries(is), reader),
  }
  return { terms, faults: reader.faults, warnings: reader.warnings }
}

function readCurrency(top: Mapping, reader: PriceReader): Currency {
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
  terms: Mapping,
  own: Mapping,
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
    service: Object.fromEntries(
      Object.entries(reader.mapping(own.service, `${path}.service`, null)).map(([name, entry]) => [
        name,
        readOverlay(
          reader.mapping(entry, `${path}.service.${name}`, overlayWords),
          `${path}.service.${name}`,
          reader,
          true,
        ),
      ]),
    ),
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
    priced: reader.word(terms.priced, placeOf('priced'), ['requested', 'returned']),
    served: reader.word(terms.served, placeOf('served'), ['requested', 'any']),
    clock: reader.word(clockOf(own, terms), placeOf('clock'), ['either', 'start', 'end']),
  }
  warnOfCheapTiers(model, path, reader)
  if (round === null) refuseEndless(model, path, reader)
  return model
}

/** `clock` may also stand in an entry of `hours`. */
function clockOf(own: Mapping, terms: Mapping): unknown {
  const inHours = Array.isArray(own.hours)
    ? own.hours.find((entry) => entry?.clock !== undefined)?.clock
    : undefined
  return own.clock ?? inHours ?? terms.clock
}

function readOverlay(
  fields: Mapping,
  path: string,
  reader: PriceReader,
  hasTimes = false,
): PriceOverlay {
  return {
    price: readPrice(fields.price, `${path}.price`, reader),
    tiers: fields.tiers === undefined ? null : readTiers(fields.tiers, `${path}.tiers`, reader),
    times:
      hasTimes && fields.times !== undefined
        ? (reader.number(fields.times, `${path}.times`) ?? one)
        : one,
  }
}

const million = rational(1_000_000n)

function isTool(name: string): boolean {
  return /^tool\.[\w.-]+$/.test(name)
}

function readPrice(value: unknown, path: string, reader: PriceReader): Price {
  const known = [...tokenPriceNames, ...feeNames, 'tool.<name>']
  const fields = reader.mapping(value, path, null)
  reader.mapping(
    Object.fromEntries(Object.entries(fields).filter(([name]) => !isTool(name))),
    path,
    known,
  )
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, entry]) => {
      const per = tokenPriceNames.some((token) => token === name) ? million : one
      const read = readEntry(entry, `${path}.${name}`, per, reader)
      return read === null ? [] : [[name, read]]
    }),
  )
}

function readEntry(
  value: unknown,
  path: string,
  usualPer: Rational,
  reader: PriceReader,
): PriceEntry | null {
  if (value === 'open') return { price: 'open', per: usualPer }
  if (typeof value !== 'object' || value === null) {
    const price = reader.number(value, path)
    return price === null ? null : { price, per: usualPer }
  }
  const fields = reader.mapping(value, path, ['price', 'per', 'minimum', 'step'])
  const optional = (word: string) => {
    if (fields[word] === undefined) return null
    const number = reader.number(fields[word], `${path}.${word}`)
    if (number === null || compare(number, zero) > 0) return number
    reader.fault(`${path}.${word}`, 'a number above 0', fields[word])
    return null
  }
  const price = fields.price === 'open' ? 'open' : reader.number(fields.price, `${path}.price`)
  if (price === null) return null
  const [minimum, step] = [optional('minimum'), optional('step')]
  return {
    price,
    per: optional('per') ?? usualPer,
    ...(minimum === null ? {} : { minimum }),
    ...(step === null ? {} : { step }),
  }
}

/**
 * one-api's and new-api's ratios: one unit of the currency for each token, times the model's ratio, times the part's
 * ratio to input. `completion` is that of output.
 */
function readRatios(value: unknown, path: string, reader: PriceReader): Price {
  const words = ['model', 'completion', 'audio', 'audio_completion', 'image']
  const parts = tokenPriceNames.filter((name) => name !== 'input' && name !== 'output')
  const fields = reader.mapping(value, path, [...words, ...parts])
  const ratio = (word: string) =>
    fields[word] === undefined ? null : reader.number(fields[word], `${path}.${word}`)
  const model = ratio('model')
  if (model === null) reader.fault(`${path}.model`, "the model's ratio", fields.model)
  const audio = ratio('audio')
  const relative: Record<string, Rational | null> = {
    input: one,
    output: ratio('completion') ?? one,
    input_audio: audio,
    output_audio:
      fields.audio_completion === undefined
        ? null
        : multiply(audio ?? one, ratio('audio_completion') ?? one),
    input_image: ratio('image'),
  }
  for (const part of parts) if (fields[part] !== undefined) relative[part] = ratio(part)
  return Object.fromEntries(
    Object.entries(relative).flatMap(([name, factor]) =>
      factor === null || model === null
        ? []
        : [[name, { price: multiply(model, factor), per: one }]],
    ),
  )
}

function readTiers(value: unknown, path: string, reader: PriceReader): Tiers {
  const fields = reader.mapping(value, path, ['count', 'apply', 'steps'])
  const steps = reader.list(fields.steps, `${path}.steps`).map((each, at): TierStep => {
    const place = `${path}.steps.${at}`
    const step = reader.mapping(each, place, ['above', 'from', 'price', 'times'])
    if ((step.above === undefined) === (step.from === undefined))
      reader.fault(place, 'either above or from', each)
    const threshold = reader.number(step.above ?? step.from ?? 0, place) ?? zero
    return {
      ...(step.from === undefined ? { above: threshold } : { from: threshold }),
      ...readOverlay(step, place, reader, true),
    }
  })
  if (steps.length === 0) reader.fault(`${path}.steps`, 'at least one step', fields.steps)
  return {
    count: reader.word(fields.count, `${path}.count`, ['prompt', 'input']),
    apply: reader.word(fields.apply, `${path}.apply`, ['whole', 'marginal']),
    steps: steps.toSorted((a, b) => compare(startOf(a), startOf(b))),
  }
}

/** A threshold: the first whole count of the step. */
export function startOf({ above, from }: TierStep): Rational {
  return from ?? rational(above!.numerator + above!.denominator, above!.denominator)
}

function readChange(value: unknown, path: string, reader: PriceReader): Change {
  const fields = reader.mapping(value, path, ['from', ...overlayWords])
  return {
    fromMs: reader.moment(fields.from, `${path}.from`) ?? 0,
    ...readOverlay(fields, path, reader, true),
  }
}

function readHours(value: unknown, path: string, reader: PriceReader): Hours {
  const fields = reader.mapping(value, path, ['days', 'except', 'utc', 'clock', ...overlayWords])
  const days = reader.list(fields.days, `${path}.days`)
  const windows = reader.list(fields.utc, `${path}.utc`)
  return {
    ...readOverlay(fields, path, reader, true),
    days:
      fields.days === undefined
        ? weekdays
        : days.map((day, at) => reader.word(day, `${path}.days.${at}`, weekdays)),
    except: reader.list(fields.except, `${path}.except`).map((day, at) => {
      const text = day instanceof Date ? day.toISOString().slice(0, 10) : day
      if (typeof text === 'string' && /^\d{4}-\d\d-\d\d$/.test(text)) return text
      reader.fault(`${path}.except.${at}`, 'a day such as 2026-10-01', day)
      return ''
    }),
    windows:
      fields.utc === undefined
        ? [{ from: 0, to: minutesOfDay }]
        : windows.flatMap((window, at) => readWindow(window, `${path}.utc.${at}`, reader)),
  }
}

const minutesOfDay = 24 * 60

function readWindow(value: unknown, path: string, reader: PriceReader) {
  const match = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(String(value))
  const [from, to] =
    match === null ? [] : [minutes(match[1]!, match[2]!), minutes(match[3]!, match[4]!)]
  if (
    from === undefined ||
    to === undefined ||
    from === to ||
    from >= minutesOfDay ||
    to > minutesOfDay
  ) {
    reader.fault(path, 'a window of UTC such as "01:00-04:00"', value)
    return []
  }
  return [{ from, to }]
}

function minutes(hours: string, rest: string): number | undefined {
  return Number(rest) < 60 ? Number(hours) * 60 + Number(rest) : undefined
}

function readRound(value: unknown, path: string, reader: PriceReader): RoundingTerms | null {
  if (value === undefined || value === null) return null
  const fields = reader.mapping(value, path, ['at', 'digits', 'mode'])
  return {
    at: reader.word(fields.at, `${path}.at`, ['request', 'component']),
    digits: reader.wholeNumber(fields.digits, `${path}.digits`, -9, mostDigits) ?? 0,
    mode: reader.word(fields.mode, `${path}.mode`, roundings),
  }
}

/** `times: 1.1`, or factors by name; one with choices depends on the request. */
function readFactors(
  value: unknown,
  path: string,
  reader: PriceReader,
): Readonly<Record<string, Factor>> {
  if (value === undefined || value === null) return {}
  if (typeof value === 'number' || typeof value === 'string')
    return { times: { value: reader.number(value, path) ?? one } }
  return Object.fromEntries(
    Object.entries(reader.mapping(value, path, null)).map(([name, factor]) => {
      if (typeof factor !== 'object' || factor === null)
        return [name, { value: reader.number(factor, `${path}.${name}`) ?? one }]
      const choices = Object.entries(reader.mapping(factor, `${path}.${name}`, null)).map(
        ([choice, times]) =>
          [choice, reader.number(times, `${path}.${name}.${choice}`) ?? one] as const,
      )
      return [name, { choices: Object.fromEntries(choices) }]
    }),
  )
}

function readCharged(
  value: unknown,
  path: string,
  reader: PriceReader,
): Readonly<Record<ChargedOutcome, Charge>> {
  const fields = reader.mapping(value, path, chargedOutcomes)
  const entries = chargedOutcomes.map((outcome) => {
    const usual = outcome === 'success' ? 'full' : 'open'
    return [outcome, reader.word(fields[outcome] ?? usual, `${path}.${outcome}`, charges)]
  })
  return Object.fromEntries(entries)
}

/** A price without a decimal form, such as 1/3, needs a promise of rounding. */
function refuseEndless(value: unknown, path: string, reader: PriceReader): void {
  if (typeof value !== 'object' || value === null) return
  if ('numerator' in value && 'denominator' in value) {
    const number = value as Rational
    if (decimalsOf(number) === null)
      reader.fault(path, `\`round\`, since ${decimalText(number)} has no decimal form`, undefined)
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
