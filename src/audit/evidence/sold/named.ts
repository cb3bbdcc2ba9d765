import type { Random } from '../../../user/random.ts'
import type { Shares } from './watch.ts'

/** Sessions of the service and of the reference that are neighbours in time. */
export interface SessionPair {
  readonly service: Shares
  readonly reference: Shares
}

export type NamedResult =
  | { readonly is: 'unseen' }
  | {
      readonly is: 'few' | 'pass' | 'fail' | 'inconclusive'
      /** Root of the mean squared difference of shares, less what the spread of sessions adds. */
      readonly apart: number
      readonly p: number
    }

/** So many pairs make a verdict. */
export const leastSessionPairs = 10
const exchanges = 299
const fails = 0.01
const doubts = 0.05
/** A smaller difference may be hardware, engine or rounding. */
const far = 0.1

/**
 * Whether a service answers as the reference does: SOLD-06. Whole sessions are exchanged within their pair, since the requests of
 * one session share load, batch and replica; the share of 299 random exchanges with as large a distance is p.
 */
export function judgeNamed(pairs: readonly SessionPair[], draw: Random): NamedResult {
  if (pairs.length === 0) return { is: 'unseen' }
  const observed = squaredOf(pairs)
  let asLarge = 1
  for (let time = 0; time < exchanges; time++) {
    const exchanged = pairs.map((pair) =>
      draw() < 0.5 ? pair : { service: pair.reference, reference: pair.service },
    )
    if (squaredOf(exchanged) >= observed - 1e-12) asLarge++
  }
  const p = asLarge / (exchanges + 1)
  const apart = Math.sqrt(Math.max(0, observed))
  if (pairs.length < leastSessionPairs) return { is: 'few', apart, p }
  if (p > doubts) return { is: 'pass', apart, p }
  return { is: p <= fails && apart >= far ? 'fail' : 'inconclusive', apart, p }
}

/** Mean over prompts of the squared difference of shares, less its expectation from the spread of sessions: without bias. */
function squaredOf(pairs: readonly SessionPair[]): number {
  let [sum, prompts] = [0, 0]
  for (let at = 0; at < pairs[0]!.service.length; at++) {
    const own = momentsOf(pairs.map(({ service }) => service[at] ?? null))
    const other = momentsOf(pairs.map(({ reference }) => reference[at] ?? null))
    if (own === null || other === null) continue
    sum += (own.mean - other.mean) ** 2 - own.ofMean - other.ofMean
    prompts++
  }
  return prompts === 0 ? 0 : sum / prompts
}

/** The mean, and its variance; null for fewer than two values. */
function momentsOf(values: readonly (number | null)[]) {
  let [n, sum, squares] = [0, 0, 0]
  for (const value of values) {
    if (value === null) continue
    n++
    sum += value
    squares += value * value
  }
  if (n < 2) return null
  const mean = sum / n
  return { mean, ofMean: (squares - n * mean * mean) / (n - 1) / n }
}
