import { mostDigits } from '../money/money.ts'
import { one, roundings } from '../money/rational.ts'
import type { PriceReader } from './price-reader.ts'
import {
  type Charge,
  type ChargedOutcome,
  chargedOutcomes,
  charges,
  type Factor,
  type RoundingTerms,
  roundedAt,
} from './prices.ts'

export function readRound(value: unknown, path: string, reader: PriceReader): RoundingTerms | null {
  if (value === undefined || value === null) return null
  const fields = reader.mapping(value, path, ['at', 'digits', 'mode'])
  return {
    at: reader.word(fields.at, `${path}.at`, roundedAt),
    digits: reader.wholeNumber(fields.digits, `${path}.digits`, -9, mostDigits) ?? 0,
    mode: reader.word(fields.mode, `${path}.mode`, roundings),
  }
}

/** `times: 1.1`, or factors by name; one with choices depends on the request. */
export function readFactors(
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

export function readCharged(
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
