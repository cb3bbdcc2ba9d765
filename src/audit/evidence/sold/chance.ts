import { type Random, randomOf } from '../../../user/random.ts'
import { textHash } from '../../../user/text-hash.ts'

/** The tail of a binomial: the chance of at least `failures` of `n`, each with the chance `share`. */
export function chanceOfMore(failures: number, n: number, share: number): number {
  if (failures <= 0) return 1
  if (share <= 0) return 0
  let term = n * Math.log1p(-share)
  let below = 0
  for (let at = 0; at < failures; at++) {
    below += Math.exp(term)
    term += Math.log((n - at) / (at + 1)) + Math.log(share) - Math.log1p(-share)
  }
  return Math.max(0, 1 - below)
}

/** Numbers from 0 to below 1 that follow from a text: each audit of the same rows has the same. */
export const drawsOf = (text: string): Random => randomOf(textHash(text))

const flips = 999

/**
 * Whether differences are above 0 by more than chance: the share of 999 random changes of their signs whose mean is as large.
 * Each could as well have the other sign; nothing else is assumed.
 */
export function flippedP(differences: readonly number[], draw: Random): number {
  const sum = differences.reduce((total, each) => total + each, 0)
  let asLarge = 1
  for (let flip = 0; flip < flips; flip++) {
    let other = 0
    for (const each of differences) other += draw() < 0.5 ? each : -each
    if (other >= sum) asLarge++
  }
  return asLarge / (flips + 1)
}

/** Of a normal distribution, 95 % are within so many deviations. */
const within95 = 1.96

/** Where a share is in 95 of 100 samples: the interval of Wilson (1927). */
export function shareBetween(
  hits: number,
  n: number,
): { readonly low: number; readonly high: number } {
  const share = hits / n
  const squared = within95 ** 2
  const middle = (share + squared / 2 / n) / (1 + squared / n)
  const half =
    (within95 * Math.sqrt((share * (1 - share)) / n + squared / 4 / n ** 2)) / (1 + squared / n)
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) }
}
