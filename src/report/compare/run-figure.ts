import type { Percentile } from '../summary/distribution-shape.ts'
import { failureShare, reportsAllTokens } from '../summary/figures.ts'
import type { SummaryGroup } from '../summary/group-shape.ts'
import type { RunSummary } from '../summary/shape.ts'
import type { SampledMetric } from './samples.ts'

export type Statistic = 'p50' | 'p90' | 'p95' | 'p99' | 'mean' | 'rate' | 'share' | 'each'
export type Mark = Percentile['mark']

/** The name of one figure of a run. */
export interface FigureOfRun {
  /** Null for all steps together. */
  readonly step: string | null
  readonly metric: SampledMetric | 'throughput' | 'errors' | 'tokens' | 'credits'
  readonly statistic: Statistic
}

/** A figure, null if it was not measured, and how reliable it is. */
export interface Figure {
  readonly value: number | null
  readonly mark: Mark
}

const exact = (value: number | null): Figure => ({ value, mark: 'exact' })
/** Of a sum that lacks something, which is larger. */
const atLeast = (value: number | null): Figure => ({ value, mark: 'at-least' })

/** A figure of a group of requests. Credits are no figure of the service. */
export function figureOf(
  group: SummaryGroup,
  metric: FigureOfRun['metric'],
  statistic: Statistic,
): Figure {
  switch (metric) {
    case 'errors':
      return exact(failureShare(group.counts))
    case 'throughput':
      return exact(group.okPerS)
    case 'tokens':
      return (reportsAllTokens(group) ? exact : atLeast)(group.completionTokensPerS)
    case 'credits':
      return exact(null)
  }
  const of = group.metrics[metric]
  // A mean that includes timeouts can only be larger.
  if (statistic === 'mean') return (of.censored > 0 ? atLeast : exact)(of.meanUs)
  if (statistic === 'rate' || statistic === 'share' || statistic === 'each') return exact(null)
  const { us, mark } = of[statistic]
  return { value: us, mark }
}

/** A figure of a run; null if it was not measured. */
export function figureOfRun(
  summary: RunSummary,
  { step, metric, statistic }: FigureOfRun,
): { readonly value: number; readonly mark: Mark } | null {
  const group = step === null ? summary.all : summary.steps.find((each) => each.step === step)
  if (group === undefined) return null
  const { value, mark } = figureOf(group, metric, statistic)
  return value === null ? null : { value, mark }
}
