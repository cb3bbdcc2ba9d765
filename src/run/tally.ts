import { type LocalLimit, localLimits } from '../attempt/outcome.ts'
import type { Billing } from '../contract/billing.ts'
import { decimalText } from '../money/rational.ts'
import { costRational } from '../price/attempts/attempt-costs.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { HealthRow } from '../store/recorder.ts'
import { type AttemptCounts, addCounts, noCounts, type StepCounters } from './attempt-counts.ts'
import type { IntervalHistogram, KeyReport, Metric, PhaseRun, SenderReport } from './messages.ts'
import { waitsForAnswers } from './phase-steps.ts'
import { plannedBetween } from './planned-rate.ts'
import { TimeHistogram } from './time-histogram.ts'
import { sumOfTrials, type TrialCounts } from './trial-counts.ts'

/** The progress of one step, for the live view. Times in microseconds; null without samples. */
export interface StepProgress {
  readonly step: string
  readonly planned: number
  readonly sent: number
  readonly ok: number
  readonly failures: number
  /** Planned rate over the last second or so; null for a closed load. */
  readonly plannedPerS: number | null
  /** Sent rate over the same time. */
  readonly achievedPerS: number
  readonly responseUs: Percentiles | null
  readonly serviceUs: Percentiles | null
  readonly ttftUs: Percentiles | null
}

export interface Percentiles {
  readonly samples: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** The trial of a search that is being sent. */
export interface Searching {
  readonly step: string
  /** What is sent at the rate. */
  readonly of: 'requests' | 'tasks'
  /** 0 for one request at a time. */
  readonly ratePerS: number
  /** How many of them. */
  readonly requests: number
  /** Predicted time to the end of the search; null if it is not known yet. */
  readonly toGoUs: number | null
}

/** Money of a run so far. Amounts are exact decimals. */
export interface RunCost {
  readonly spent: string
  readonly unit: string
  /** Requests whose cost is not known. */
  readonly unknown: number
  /** Bound on spending; null for none. */
  readonly most: string | null
}

/** The progress of a run. */
export interface Progress {
  readonly runId: string
  readonly scenario: string
  readonly phase: string | null
  readonly atUs: number
  /** Planned end of the last phase so far; null if unknown. */
  readonly endsUs: number | null
  readonly counts: AttemptCounts
  readonly inFlight: number
  /** By the contract; null if it states no credits for these models. */
  readonly creditsSpent: number | null
  /** Money by the contract; null if it states no prices for these models. */
  readonly money: RunCost | null
  /** Bound on spending; null for none. */
  readonly maxCredits: number | null
  readonly steps: readonly StepProgress[]
  /** Failures and expected errors by code, most frequent first. */
  readonly errors: readonly (readonly [code: string, count: number])[]
  readonly keys: readonly ({ readonly name: string } & KeyReport)[]
  /** Null or absent unless a search is running. */
  readonly searching?: Searching | null
  /** The last second of each sending thread. */
  readonly health: readonly HealthRow[]
}

/** Times by step. */
export interface TimesOfSteps {
  /** By name of the step, over all phases; steps without a sample are missing. */
  histogramsOfSteps(metric: Metric): ReadonlyMap<string, TimeHistogram>
}

/** Counts that are too many to sum each second, so they are summed on request. */
export interface Counted extends TimesOfSteps {
  /** The phases that have begun; a search adds them as it goes. */
  readonly phases: readonly PhaseRun[]
  /** The sum of a metric's histograms over the wanted phases and steps. */
  histogram(metric: Metric, wants: (phase: PhaseRun, step: number) => boolean): TimeHistogram
  /** The counters of each thread for the wanted phases and steps. */
  countersWhere(wants: (phase: PhaseRun, step: number) => boolean): readonly StepCounters[]
}

/** Length of the intervals of stored histograms. An interval is stored after all threads have reported it. */
const intervalUs = 5e6

interface Interval {
  readonly phase: PhaseRun
  readonly step: number
  readonly metric: Metric
  readonly fromUs: number
  readonly histogram: TimeHistogram
}

interface TallyOptions {
  readonly machines?: number
  readonly billing?: Billing
}

/** Sums the reports of the sending threads. */
export class Tally implements Counted {
  private readonly scenario: Scenario
  private readonly runId: string
  readonly phases: readonly PhaseRun[]
  private readonly reports = new Map<number, SenderReport>()
  private readonly whole = new Map<string, TimeHistogram>()
  /** The same by step and metric, one for each phase. */
  private readonly ofSteps = new Map<string, TimeHistogram[]>()
  /** Scratch space for sums over phases. */
  private readonly merged = new TimeHistogram()
  private readonly intervals = new Map<string, Interval>()
  private before: { readonly atUs: number; readonly steps: ReadonlyMap<number, StepSum> } = {
    atUs: 0,
    steps: new Map(),
  }
  private rates = new Map<number, { plannedPerS: number | null; achievedPerS: number }>()

  private readonly machines: number
  private readonly billing: Billing

  /**
   * @param phases grows during the run; ordinals are indexes in it
   * @param options.machines number of machines that share the plan
   * @param options.billing in what the requests are paid
   */
  constructor(
    scenario: Scenario,
    runId: string,
    phases: readonly PhaseRun[],
    { machines = 1, billing = { kind: 'credits' } }: TallyOptions = {},
  ) {
    this.machines = machines
    this.billing = billing
    this.scenario = scenario
    this.runId = runId
    this.phases = phases
  }

  add(report: SenderReport): void {
    this.reports.set(report.shard, report)
    const fromUs = Math.floor(report.atUs / intervalUs) * intervalUs
    for (const { ordinal, step, histograms } of report.steps) {
      for (const [metric, slice] of Object.entries(histograms)) {
        this.histogramOf(ordinal, step, metric as Metric).add(slice)
        this.intervalOf(ordinal, step, metric as Metric, fromUs).histogram.add(slice)
      }
    }
  }

  /** @param ordinal null for all phases */
  counts(ordinal: number | null = null): AttemptCounts {
    return this.counters(ordinal).reduce(addCounts, noCounts)
  }

  counters(ordinal: number | null = null): readonly StepCounters[] {
    return [...this.reports.values()].flatMap((report) =>
      report.steps.flatMap((step) =>
        ordinal === null || step.ordinal === ordinal ? [step.counters] : [],
      ),
    )
  }

  /** The counts of a trial on this machine so far. */
  trial(ordinal: number): TrialCounts {
    const reports = [...this.reports.values()]
    return sumOfTrials(
      reports.flatMap(({ trial }) => (trial?.ordinal === ordinal ? [trial.counts] : [])),
    )
  }

  /** Requests for which this machine could open no connection, by the resource that ran out. */
  localLimits(): ReadonlyMap<LocalLimit, number> {
    const counts = new Map<LocalLimit, number>()
    for (const { errors } of this.counters()) {
      for (const limit of localLimits) {
        const count = errors.get(limit) ?? 0
        if (count > 0) counts.set(limit, (counts.get(limit) ?? 0) + count)
      }
    }
    return counts
  }

  countersWhere(wants: (phase: PhaseRun, step: number) => boolean): readonly StepCounters[] {
    return [...this.reports.values()].flatMap((report) =>
      report.steps.flatMap(({ ordinal, step, counters }) =>
        wants(this.phases[ordinal]!, step) ? [counters] : [],
      ),
    )
  }

  histogram(metric: Metric, wants: (phase: PhaseRun, step: number) => boolean): TimeHistogram {
    const merged = new TimeHistogram()
    for (const [key, histogram] of this.whole) {
      const [ordinal, step, name] = key.split(' ') as [string, string, string]
      if (name === metric && wants(this.phases[Number(ordinal)]!, Number(step))) {
        merged.add(histogram.slice())
      }
    }
    return merged
  }

  histogramsOfSteps(metric: Metric): ReadonlyMap<string, TimeHistogram> {
    const histograms = this.scenario.steps.map(
      ({ name }, at) => [name, this.histogram(metric, (_, step) => step === at)] as const,
    )
    return new Map(histograms.filter(([, { samples }]) => samples > 0))
  }

  /** Removes the intervals that are over, for the store. @param nowUs Infinity for all */
  takeHistograms(nowUs: number): readonly IntervalHistogram[] {
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

  /** Credits by the contract, with what may have been charged; null if it states none for these models. */
  credits(): number | null {
    if (this.billing.kind === 'money') return null
    // A bound of credits counts requests without a price as 1 each.
    if (this.billing.kind === 'none' && this.scenario.policy.maxCredits === null) return null
    return this.counters().reduce((sum, counters) => sum + counters.credits, 0)
  }

  /** Money by the contract; null if it states no prices for these models. */
  money(): RunCost | null {
    if (this.billing.kind !== 'money') return null
    const counters = this.counters()
    const units = counters.reduce((sum, { costUnits }) => sum + costUnits, 0n)
    return {
      spent: decimalText(costRational(units)),
      unit: this.billing.prices.currency.name,
      unknown: counters.reduce((sum, { costUnknown }) => sum + costUnknown, 0),
      most: this.scenario.policy.maxCost,
    }
  }

  progress(atUs: number, endsUs: number | null): Progress {
    const sums = this.stepSums()
    this.updateRates(atUs, sums)
    const phase = this.phases.findLast((candidate) => candidate.startUs <= atUs)
    const errors = new Map<string, number>()
    for (const counters of this.counters()) {
      for (const [code, count] of counters.errors) errors.set(code, (errors.get(code) ?? 0) + count)
    }
    const reports = [...this.reports.values()]
    return {
      runId: this.runId,
      scenario: this.scenario.name,
      phase: phase?.name ?? null,
      atUs,
      endsUs,
      counts: this.counts(),
      inFlight: reports.reduce((sum, report) => sum + report.inFlight, 0),
      creditsSpent: this.credits(),
      money: this.money(),
      maxCredits: this.scenario.policy.maxCredits,
      steps: [...sums].map(([step, sum]) => this.stepProgress(step, sum)),
      errors: [...errors].sort((a, b) => b[1] - a[1]),
      keys: this.scenario.keys.map((key, at) => ({
        name: key.name,
        creditsRemaining: lowest(reports.map((report) => report.keys[at]?.creditsRemaining)),
        rateRemaining: lowest(reports.map((report) => report.keys[at]?.rateRemaining)),
      })),
      health: reports.map((report) => report.health),
    }
  }

  private stepProgress(step: number, sum: StepSum): StepProgress {
    const rate = this.rates.get(step)
    const percentiles = (metric: Metric): Percentiles | null => {
      const ofPhases = this.ofSteps.get(`${step} ${metric}`) ?? []
      // Most steps belong to one phase, which needs no sum.
      const alone = ofPhases.length === 1
      const histogram = alone ? ofPhases[0]! : this.merged
      if (!alone) for (const each of ofPhases) histogram.add(each.slice())
      const found =
        histogram.samples === 0
          ? null
          : {
              samples: histogram.samples,
              p50: histogram.percentile(50)!,
              p95: histogram.percentile(95)!,
              p99: histogram.percentile(99)!,
            }
      if (!alone) histogram.take()
      return found
    }
    return {
      step: this.scenario.steps[step]!.name,
      ...sum,
      plannedPerS: rate === undefined ? 0 : rate.plannedPerS,
      achievedPerS: rate?.achievedPerS ?? 0,
      responseUs: percentiles('response'),
      serviceUs: percentiles('service'),
      ttftUs: percentiles('ttft'),
    }
  }

  private stepSums(): Map<number, StepSum> {
    const sums = new Map<number, StepSum>()
    for (const report of this.reports.values()) {
      for (const { step, counters } of report.steps) {
        const sum = sums.get(step) ?? { planned: 0, sent: 0, ok: 0, failures: 0 }
        sums.set(step, {
          planned: sum.planned + counters.planned,
          // Requests in flight count as sent: a rate of ends would lag by the length of a stream.
          sent: sum.sent + counters.planned - counters.notSent,
          ok: sum.ok + counters.ok,
          failures: sum.failures + counters.failures,
        })
      }
    }
    return new Map([...sums].sort((a, b) => a[0] - b[0]))
  }

  private updateRates(atUs: number, sums: ReadonlyMap<number, StepSum>): void {
    const { before } = this
    if (atUs - before.atUs < 500_000) return
    const seconds = (atUs - before.atUs) / 1e6
    const asked = plannedBetween(this.scenario, this.phases, before.atUs, atUs)
    for (const [step, sum] of sums) {
      const last = before.steps.get(step)
      const due = asked[step]!
      // Responses cause later turns and retries, on top of the plan.
      const planned = this.followsUp(step) ? sum.planned - (last?.planned ?? 0) : 0
      this.rates.set(step, {
        plannedPerS: due === null ? null : Math.max(due / this.machines, planned) / seconds,
        achievedPerS: (sum.sent - (last?.sent ?? 0)) / seconds,
      })
    }
    this.before = { atUs, steps: new Map(sums) }
  }

  private followsUp(step: number): boolean {
    const { policy, steps } = this.scenario
    const isTurn = this.phases.some((phase) => waitsForAnswers(phase) && phase.steps.includes(step))
    return policy.retries !== 'none' || steps[step]!.session !== null || isTurn
  }

  private histogramOf(ordinal: number, step: number, metric: Metric): TimeHistogram {
    const key = `${ordinal} ${step} ${metric}`
    let histogram = this.whole.get(key)
    if (histogram === undefined) {
      histogram = new TimeHistogram()
      this.whole.set(key, histogram)
      const ofStep = `${step} ${metric}`
      this.ofSteps.set(ofStep, [...(this.ofSteps.get(ofStep) ?? []), histogram])
    }
    return histogram
  }

  private intervalOf(ordinal: number, step: number, metric: Metric, fromUs: number): Interval {
    const key = `${ordinal} ${step} ${metric} ${fromUs}`
    let interval = this.intervals.get(key)
    if (interval === undefined) {
      interval = {
        phase: this.phases[ordinal]!,
        step,
        metric,
        fromUs,
        histogram: new TimeHistogram(),
      }
      this.intervals.set(key, interval)
    }
    return interval
  }
}

interface StepSum {
  readonly planned: number
  readonly sent: number
  readonly ok: number
  readonly failures: number
}

function lowest(values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value): value is number => typeof value === 'number')
  return known.length === 0 ? null : Math.min(...known)
}
