import type { RateSegment, Spacing } from '../scenario/loads.ts'
import { SpacingSums } from './spacing-sums.ts'

/**
 * The rate at which a plan of arrivals has at least `requests` of them within `requests / perS` seconds, and hardly more: whoever
 * plans ends it after as many. A Poisson
 * process under the condition of its count: with Poisson spacing, the arrivals are uniform over that time, because the
 * partial sums of exponential gaps, divided by one more sum, are ordered uniform numbers (Pyke 1965).
 */
export function exactArrivals(
  spacing: Spacing,
  requests: number,
  perS: number,
  seed: number,
  phase: string,
): RateSegment {
  const durationUs = (requests / perS) * 1e6
  if (spacing.kind === 'constant') return { durationUs, fromPerS: perS, toPerS: perS }
  const shape = spacing.kind === 'gamma' ? spacing.shape : 1
  const amount = new SpacingSums(seed, `gaps of ${phase}`, shape).sumOf(requests + 1)
  const planPerS = amount / (durationUs / 1e6)
  return { durationUs, fromPerS: planPerS, toPerS: planPerS }
}
