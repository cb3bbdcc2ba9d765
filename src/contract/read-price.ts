import { compare, multiply, one, type Rational, rational, zero } from '../money/rational.ts'
import type { JsonObject } from '../user/json.ts'
import { lookup } from '../user/lookup.ts'
import type { PriceReader } from './price-reader.ts'
import {
  feeNames,
  type Price,
  type PriceEntry,
  type PriceOverlay,
  type TierStep,
  type Tiers,
  tierCounts,
  tierUses,
  tokenPriceNames,
} from './prices.ts'

/** Fields of what replaces or multiplies a price. */
export const overlayWords = ['price', 'tiers', 'times'] as const

export function readOverlay(
  fields: JsonObject,
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

const isTool = (name: string): boolean => /^tool\.[\w.-]+$/.test(name)

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
    reader.issue(`${path}.${word}`, 'a number above 0', fields[word])
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

/** one-api's ratios: a unit of currency for each token, times the model's, times the part's to input; `completion` is output's. */
export function readRatios(value: unknown, path: string, reader: PriceReader): Price {
  const words = ['model', 'completion', 'audio', 'audio_completion', 'image']
  const parts = tokenPriceNames.filter((name) => name !== 'input' && name !== 'output')
  const fields = reader.mapping(value, path, [...words, ...parts])
  const ratio = (word: string) =>
    fields[word] === undefined ? null : reader.number(fields[word], `${path}.${word}`)
  const model = ratio('model')
  if (model === null) reader.issue(`${path}.model`, "the model's ratio", fields.model)
  const audio = ratio('audio')
  const relative: Record<string, Rational | null> = lookup({
    input: one,
    output: ratio('completion') ?? one,
    input_audio: audio,
    output_audio:
      fields.audio_completion === undefined
        ? null
        : multiply(audio ?? one, ratio('audio_completion') ?? one),
    input_image: ratio('image'),
  })
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
      reader.issue(place, 'either above or from', each)
    const threshold = reader.number(step.above ?? step.from ?? 0, place) ?? zero
    return {
      ...(step.from === undefined ? { above: threshold } : { from: threshold }),
      ...readOverlay(step, place, reader, true),
    }
  })
  if (steps.length === 0) reader.issue(`${path}.steps`, 'at least one step', fields.steps)
  return {
    count: reader.word(fields.count, `${path}.count`, tierCounts),
    apply: reader.word(fields.apply, `${path}.apply`, tierUses),
    steps: steps.toSorted((a, b) => compare(startOf(a), startOf(b))),
  }
}

/** A threshold: the first whole count of the step. */
export const startOf = ({ above, from }: TierStep): Rational =>
  from ?? rational(above!.numerator + above!.denominator, above!.denominator)
