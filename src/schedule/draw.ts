import { mostTokens, type ThinkTime, type TokenLengths } from '../scenario/steps.ts'
import type { RandomStream } from './random.ts'

/** Draws an index by weight. */
export class WeightedChoice {
  private readonly ends: Float64Array

  /** @param weights none negative, at least one above 0 @throws RangeError if none is above 0 */
  constructor(weights: readonly number[]) {
    this.ends = new Float64Array(weights.length)
    let sum = 0
    for (const [at, weight] of weights.entries()) {
      sum += weight
      this.ends[at] = sum
    }
    if (!(sum > 0)) throw new RangeError('a choice needs a weight above 0')
  }

  /** @param uniform in [0, 1) @returns the index that was drawn */
  pick(uniform: number): number {
    const { ends } = this
    const aim = uniform * ends[ends.length - 1]!
    let low = 0
    let high = ends.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (ends[middle]! > aim) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** Think time in microseconds; the same index has the same time. */
export function thinkUs(think: ThinkTime, random: RandomStream, index: number): number {
  switch (think.kind) {
    case 'fixed':
      return think.us
    case 'uniform':
      return think.minUs + (think.maxUs - think.minUs) * random.at(index)
    case 'exponential':
      return think.meanUs * random.exponential(index)
    case 'lognormal':
      return think.medianUs * Math.exp(think.sigma * random.normal(index))
  }
}

/** Number of tokens, whole, from 1 to `mostTokens`; the same index has the same number. */
export const tokensOf = (lengths: TokenLengths, random: RandomStream, index: number): number =>
  Math.min(mostTokens, Math.max(1, Math.round(lengthOf(lengths, random, index))))

function lengthOf(lengths: TokenLengths, random: RandomStream, index: number): number {
  switch (lengths.kind) {
    case 'fixed':
      return lengths.tokens
    case 'uniform':
      return Math.floor(lengths.min + (lengths.max - lengths.min + 1) * random.at(index))
    case 'normal':
      return lengths.mean + lengths.sd * random.normal(index)
    case 'lognormal':
      return lengths.median * Math.exp(lengths.sigma * random.normal(index))
    case 'empirical':
      return lengths.samples[Math.floor(random.at(index) * lengths.samples.length)]!
  }
}
