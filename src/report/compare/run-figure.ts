import type { Percentile } from '../summary/distribution-shape.ts'
import { reportsAllTokens } from '../summary/figures.ts'
import type { SummaryGroup } from '../summary/group-shape.ts'
import type { RunSummary } from '../summary/shape.ts'
import type { Difference } from './differences.ts'

/** The name of one figure of a run. */
export type FigureOfRun = Pick<Difference, 'step' | 'metric' | 'statistic'>

/** A figure of a run, and how reliable it is; null if it was not measured. Credits are no figure of the service. */
export function figureOfRun(
  summary: RunSummary,
  { step, metric, statistic }: FigureOfRun,
): { readonly value: number; readonly mark: Percentile['mark'] } | null {
  const group: SummaryGroup | undefined =
    step === null ? summary.all : summary.steps.find((each) => each.step === step)
  if (group === undefined) return null
  const exact = (value: number | null) =>
    value === null ? null : { value, mark: 'exact' as const }
  switch (metric) {
    case 'errors':
      return exact(group.counts.sent === 0 ? null : group.counts.failed / group.counts.sent)
    case 'throughput':
      return exact(group.okPerS)
    case 'tokens':
      return reportsAllTokens(group) || group.completionTokensPerS === null
        ? exact(group.completionTokensPerS)
        : { value: group.completionTokensPerS, mark: 'at-least' }
    case 'credits':
      return null
    default: {
      const of = group.metrics[metric]
      if (statistic === 'mean') {
        // A mean that includes timeouts can only be larger.
        const mark = of.censored > 0 ? 'at-least' : 'exact'
        return of.meanUs === null ? null : { value: of.meanUs, mark }
      }
      if (statistic !== 'p50' && statistic !== 'p90' && statistic !== 'p95' && statistic !== 'p99')
        return null
      const { us, mark } = of[statistic]
      return us === null ? null : { value: us, mark }
    }
  }
}
