import { samplesNeeded } from '../../measure/percentile.ts'
import type { ItlFigures } from '../../store/read/itl.ts'
import { type Distribution, percentiles } from './distribution-shape.ts'

/** One measure of one group, as SQL returns it. Without samples all values are null. */
export interface Figures {
  readonly n: number
  readonly censored: number
  readonly lowest_censored: number | null
  /** Values below that; meaningless without one. */
  readonly below: number | null
  readonly mean: number | null
  /** The minimum, each percentile, the maximum. */
  readonly q: readonly number[] | null
}

export const noFigures: Figures = {
  n: 0,
  censored: 0,
  lowest_censored: null,
  below: null,
  mean: null,
  q: null,
}

/** Whether one of the two values between which a percentile is interpolated may be larger. */
function isCutOff({ n, censored, below }: Figures, p: number): boolean {
  // Less than a millionth of the way to the next value is an error of rounding.
  return Number(censored) > 0 && Math.ceil((Number(n) - 1) * p - 1e-6) >= Number(below)
}

/** A distribution with the reliability of its percentiles. */
export function distributionOf(
  figures: Figures,
  exact: 'exact' | 'rounded' = 'exact',
): Distribution {
  const n = Number(figures.n)
  const censored = Number(figures.censored)
  const marked = percentiles.map(([name, p], at) => {
    const us = figures.q?.[at + 1] ?? null
    const needs = samplesNeeded(p)
    const mark =
      us === null ? 'none' : n < needs ? 'too-few' : isCutOff(figures, p) ? 'at-least' : exact
    return [name, { us, mark, needs }] as const
  })
  return {
    n,
    censored,
    lowestCensoredUs: figures.lowest_censored,
    meanUs: figures.mean,
    minUs: figures.q?.[0] ?? null,
    maxUs: figures.q?.at(-1) ?? null,
    ...(Object.fromEntries(marked) as Pick<Distribution, (typeof percentiles)[number][0]>),
  }
}

/** ITL of our runs comes from histograms. Only these figures are inexact, to within 0.1 %. */
export function itlDistribution(itl: ItlFigures | undefined): Distribution {
  if (itl === undefined) return distributionOf(noFigures)
  const { exact, n, mean, min, max } = itl
  const q = [min, ...percentiles.map(([, p]) => itl.atShare(p)), max]
  return distributionOf({ ...noFigures, n, mean, q }, exact ? 'exact' : 'rounded')
}
