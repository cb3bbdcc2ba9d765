import type { Statistic, Threshold } from '../../../scenario/threshold.ts'
import type { Figure } from './figure.ts'

const operators = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==' } as const

/** A threshold on a share, as one on the rest of it: `p1 >= 90%` is `p99 <= 10%`. */
export function mirroredThreshold(threshold: Threshold): Threshold {
  const { statistic, operator, bound } = threshold
  return {
    ...threshold,
    statistic: mirroredStatistic(statistic),
    operator: operators[operator],
    bound: 1 - bound,
  }
}

function mirroredStatistic(statistic: Statistic): Statistic {
  switch (statistic.kind) {
    case 'percentile':
      return { kind: 'percentile', p: 100 - statistic.p }
    case 'min':
      return { kind: 'max' }
    case 'max':
      return { kind: 'min' }
    default:
      return statistic
  }
}

/** The figure of a share, by that of the rest of it. */
export const mirrored = (figure: Figure): Figure => ({
  ...figure,
  value: figure.value === null ? null : 1 - figure.value,
  low: 1 - figure.high,
  high: 1 - figure.low,
})
