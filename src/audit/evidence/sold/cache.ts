import type { CachePromise } from '../../../contract/contract.ts'
import { median } from '../median.ts'
import { flippedP } from './chance.ts'
import { areMixed, type Pair } from './pairs.ts'

export interface CachedPrompt {
  readonly promptTokens: number
  readonly cachedTokens: number
}

/** What is wrong with a count of cached tokens, in words; null for nothing: the exact part of SOLD-04. */
export function wrongCached(
  { promptTokens, cachedTokens }: CachedPrompt,
  { leastTokens, stepTokens }: CachePromise,
): string | null {
  if (cachedTokens > promptTokens) return `${cachedTokens} cached of ${promptTokens} tokens`
  if (cachedTokens === 0) return null
  if (leastTokens !== undefined && promptTokens < leastTokens)
    return `${cachedTokens} cached of a prompt of ${promptTokens}; prompts below ${leastTokens} are not cached`
  if (stepTokens !== undefined && cachedTokens % stepTokens !== 0)
    return `${cachedTokens} cached, which is no multiple of ${stepTokens}`
  return null
}

export type CacheTimes =
  | { readonly is: 'unseen' | 'few' | 'unmixed' }
  | {
      readonly is: 'pass' | 'fail' | 'inconclusive'
      /** Time to the first token of a fresh prompt over that of a repeated one. */
      readonly faster: number
      readonly p: number
    }

export const leastRepeats = 20
const fails = 0.001
const doubts = 0.05
/** A smaller saving may be anything. */
const leastSaving = 1.15

/** Whether repeated prompts (each pair's other) that are billed as not cached begin faster than fresh ones: the cache is not credited. */
export function judgeCacheTimes(pairs: readonly Pair[], draw: () => number): CacheTimes {
  if (pairs.length === 0) return { is: 'unseen' }
  if (pairs.length < leastRepeats) return { is: 'few' }
  if (!areMixed(pairs)) return { is: 'unmixed' }
  const saved = pairs.map(({ logRatio }) => -logRatio)
  const p = flippedP(saved, draw)
  const faster = Math.exp(median(saved))
  if (p <= fails && faster >= leastSaving) return { is: 'fail', faster, p }
  return { is: p <= doubts ? 'inconclusive' : 'pass', faster, p }
}
