import type { Scenario } from '../../scenario/scenario.ts'
import type { IntervalHistogram, Metric, PhaseRun, SenderReport } from '../crew/messages.ts'
import type { Percentiles } from './progress.ts'
import { TimeHistogram } from './time-histogram.ts'

/** Times by step. */
export interface TimesOfSteps {
  /** By name of the step, over all phases; steps without a sample are missing. */
  histogramsOfSteps(metric: Metric): ReadonlyMap<string, TimeHistogram>
}

/** Length of the intervals of stored histograms. An interval is stored after all threads have reported it. */
const intervalUs = 5e6

interface OfStep {
  readonly phase: PhaseRun
  readonly step: number
  readonly metric: Metric
  readonly histogram: TimeHistogram
}

interface Interval extends OfStep {
  readonly fromUs: number
}

/** The times that all sending threads reported. */
export class TimesByStep implements TimesOfSteps {
  private readonly scenario: Scenario
  private readonly runId: string
  private readonly phases: readonly PhaseRun[]
  private readonly whole = new Map<string, OfStep>()
  /** The same by step and metric, one for each phase. */
  private readonly ofSteps = new Map<string, TimeHistogram[]>()
  private readonly intervals = new Map<string, Interval>()
  /** Scratch space for sums over phases. */
  private readonly merged = new TimeHistogram()

  constructor(scenario: Scenario, runId: string, phases: readonly PhaseRun[]) {
    this.scenario = scenario
    this.runId = runId
    this.phases = phases
  }

  add({ atUs, steps }: SenderReport): void {
    const fromUs = Math.floor(atUs / intervalUs) * intervalUs
    for (const { ordinal, step, histograms } of steps) {
      for (const [name, slice] of Object.entries(histograms)) {
        const metric = name as Metric
        this.histogramOf(ordinal, step, metric).add(slice)
        this.intervalOf(ordinal, step, metric, fromUs).histogram.add(slice)
      }
    }
  }

  /** The sum of a metric's histograms over the wanted phases and steps. */
  histogram(metric: Metric, wants: (phase: PhaseRun, step: number) => boolean): TimeHistogram {
    const merged = new TimeHistogram()
    for (const each of this.whole.values()) {
      if (each.metric === metric && wants(each.phase, each.step)) merged.add(each.histogram.slice())
    }
    return merged
  }

  histogramsOfSteps(metric: Metric): ReadonlyMap<string, TimeHistogram> {
    const histograms = this.scenario.steps.map(
      ({ name }, at) => [name, this.histogram(metric, (_, step) => step === at)] as const,
    )
    return new Map(histograms.filter(([, { samples }]) => samples > 0))
  }

  /** Percentiles of a step over all phases; null without a sample. */
  percentiles(step: number, metric: Metric): Percentiles | null {
    const ofPhases = this.ofSteps.get(`${step} ${metric}`) ?? []
    // Most steps belong to one phase, which needs no sum.
    if (ofPhases.length === 1) return percentilesOf(ofPhases[0]!)
    for (const each of ofPhases) this.merged.add(each.slice())
    const found = percentilesOf(this.merged)
    this.merged.take()
    return found
  }

  /** Removes the intervals that are over, for the store. @param nowUs Infinity for all */
  takeIntervals(nowUs: number): readonly IntervalHistogram[] {
    const rows: IntervalHistogram[] = []
    for (const [key, interval] of this.intervals) {
      if (interval.fromUs + intervalUs * 2 > nowUs) continue
      this.intervals.delete(key)
      rows.push({
        runId: this.runId,
        phase: interval.phase.name,
        part: interval.phase.part,
        step: this.scenario.steps[interval.step]!.name,
        metric: interval.metric,
        intervalUs: interval.fromUs,
        intervalLengthUs: intervalUs,
        slice: interval.histogram.slice(),
      })
    }
    return rows
  }

  private histogramOf(ordinal: number, step: number, metric: Metric): TimeHistogram {
    const key = `${ordinal} ${step} ${metric}`
    const known = this.whole.get(key)
    if (known !== undefined) return known.histogram
    const histogram = new TimeHistogram()
    this.whole.set(key, { phase: this.phases[ordinal]!, step, metric, histogram })
    const ofStep = `${step} ${metric}`
    this.ofSteps.set(ofStep, [...(this.ofSteps.get(ofStep) ?? []), histogram])
    return histogram
  }

  private intervalOf(ordinal: number, step: number, metric: Metric, fromUs: number): Interval {
    const key = `${ordinal} ${step} ${metric} ${fromUs}`
    let interval = this.intervals.get(key)
    if (interval === undefined) {
      const phase = this.phases[ordinal]!
      interval = { phase, step, metric, fromUs, histogram: new TimeHistogram() }
      this.intervals.set(key, interval)
    }
    return interval
  }
}

function percentilesOf(histogram: TimeHistogram): Percentiles | null {
  const { samples } = histogram
  if (samples === 0) return null
  const at = (percent: number) => histogram.percentile(percent)!
  return { samples, p50: at(50), p95: at(95), p99: at(99) }
}
