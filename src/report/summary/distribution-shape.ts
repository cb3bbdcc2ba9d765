import { z } from 'zod'

export const count = z.number().int().nonnegative()
/** Null is "not measured", never zero. */
export const measured = z.number().nullable()

/** A percentile and its reliability. */
export const percentileShape = z.object({
  us: measured,
  mark: z
    .enum(['exact', 'rounded', 'at-least', 'too-few', 'none'])
    .describe(
      'exact; rounded: from a histogram, within 0.1 %; at-least: censored samples lie below it, the truth can only be larger; too-few: fewer samples than needs; none: no samples',
    ),
  needs: count.describe('samples for 99 % confidence'),
})

export const distributionShape = z.object({
  n: count.describe('samples, with the censored ones'),
  censored: count.describe(
    'timeouts and streams without text, entered at their end: at least so long',
  ),
  lowestCensoredUs: measured.describe(
    'the shortest of the censored: from there on, percentiles are at least',
  ),
  meanUs: measured,
  minUs: measured,
  maxUs: measured,
  p50: percentileShape,
  p90: percentileShape,
  p95: percentileShape,
  p99: percentileShape,
  p999: percentileShape,
})

export type Percentile = z.infer<typeof percentileShape>
export type Distribution = z.infer<typeof distributionShape>

/** The percentiles of every table, as shares. */
export const percentiles = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p99', 0.99],
  ['p999', 0.999],
] as const
