import type { Step } from '../../scenario/steps.ts'
import { countedMetrics, type Metric } from '../crew/messages.ts'
import { StepCounters } from './attempt-counts.ts'
import type { HistogramSlice, TimeHistogram } from './time-histogram.ts'

const plainMetrics: readonly Metric[] = ['service', 'response']
const streamMetrics: readonly Metric[] = [...plainMetrics, 'ttft', 'itl']

/** Counts and times of a step in one sending thread. */
export class StepHistograms {
  readonly counters = new StepCounters()
  /** Created when first needed, to save memory. */
  readonly histograms: Partial<Record<Metric, TimeHistogram>> = {}
}

/** Metrics that a step's successes have. */
export const metricsOf = ({ stream }: Step) => (stream ? streamMetrics : plainMetrics)

/** The histograms since the last call. */
export function taken({ histograms }: StepHistograms): Partial<Record<Metric, HistogramSlice>> {
  const slices: Partial<Record<Metric, HistogramSlice>> = {}
  for (const metric of countedMetrics) {
    const slice = histograms[metric]?.take() ?? null
    if (slice !== null) slices[metric] = slice
  }
  return slices
}
