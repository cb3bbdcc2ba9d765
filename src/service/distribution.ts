import { lookup } from '../user/lookup.ts'
import { userError } from '../user/user-error.ts'
import { normal, type Random } from './random.ts'

/** A distribution of times (microseconds) or lengths (tokens). No value is below zero. */
export type Distribution =
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'uniform'; readonly min: number; readonly max: number }
  | { readonly kind: 'exponential'; readonly mean: number }
  /** Normal, cut at zero. */
  | { readonly kind: 'normal'; readonly mean: number; readonly deviation: number }
  /** `sigma` is the standard deviation of the logarithm. */
  | { readonly kind: 'lognormal'; readonly median: number; readonly sigma: number }

export const constant = (value: number): Distribution => ({ kind: 'constant', value })

/** Draws one value. */
export function draw(shape: Distribution, random: Random): number {
  switch (shape.kind) {
    case 'constant':
      return shape.value
    case 'uniform':
      return shape.min + (shape.max - shape.min) * random()
    case 'exponential':
      return -shape.mean * Math.log(1 - random())
    case 'normal':
      return Math.max(0, shape.mean + shape.deviation * normal(random))
    case 'lognormal':
      return shape.median * Math.exp(shape.sigma * normal(random))
  }
}

const unitsUs: Readonly<Record<string, number>> = lookup({ us: 1, ms: 1000, s: 1e6 })

/**
 * Reads `20ms`, `constant(20ms)`, `uniform(10ms,30ms)`, `exponential(20ms)`, `normal(20ms,5ms)` or
 * `lognormal(300ms,0.4)`. A number without a unit is in milliseconds. The second number of
 * `lognormal` is a plain number.
 *
 * @param what the option's name in the error
 * @returns a distribution of microseconds
 */
export function parseDurations(text: string, what: string): Distribution {
  return parse(text, what, 'a time such as 20ms', (word) => {
    const match = /^(\d+(?:\.\d+)?)(us|ms|s)?$/.exec(word)
    return match === null ? null : Number(match[1]) * unitsUs[match[2] ?? 'ms']!
  })
}

/** The same as `parseDurations`, for numbers of tokens. */
export const parseLengths = (text: string, what: string): Distribution =>
  parse(text, what, 'a number of tokens', plainNumber)

function plainNumber(word: string): number | null {
  const number = /^\d+(?:\.\d+)?$/.test(word) ? Number(word) : Infinity
  return number === Infinity ? null : number
}

function parse(
  text: string,
  what: string,
  unit: string,
  read: (word: string) => number | null,
): Distribution {
  const wrong = () =>
    userError.service(
      `${what}: expected ${unit}, or constant(a), uniform(a,b), exponential(mean), normal(mean,deviation), ` +
        `lognormal(median,sigma); got "${text}"`,
    )
  const value = (word: string | undefined) => {
    const number = word === undefined ? null : read(word.trim())
    if (number === null) throw wrong()
    return number
  }
  const call = /^(\w+)\((.*)\)$/.exec(text.trim())
  if (call === null) return constant(value(text))
  const words = call[2]!.split(',')
  if (words.length !== (call[1] === 'exponential' || call[1] === 'constant' ? 1 : 2)) throw wrong()
  switch (call[1]) {
    case 'constant':
      return constant(value(words[0]))
    case 'exponential':
      return { kind: 'exponential', mean: value(words[0]) }
    case 'uniform': {
      const [min, max] = [value(words[0]), value(words[1])]
      if (min > max) throw wrong()
      return { kind: 'uniform', min, max }
    }
    case 'normal':
      return { kind: 'normal', mean: value(words[0]), deviation: value(words[1]) }
    case 'lognormal': {
      const sigma = plainNumber(words[1]!.trim())
      if (sigma === null) throw wrong()
      return { kind: 'lognormal', median: value(words[0]), sigma }
    }
    default:
      throw wrong()
  }
}
