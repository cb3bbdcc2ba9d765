import { type LocalLimit, localLimits } from '../../attempt/outcome.ts'
import type { Billing } from '../../contract/billing.ts'
import { decimalText } from '../../money/rational.ts'
import { costRational } from '../../price/attempts/attempt-costs.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { smallest } from '../../user/extremes.ts'
import type { IntervalHistogram, Metric, PhaseRun, SenderReport } from '../crew/messages.ts'
import { waitsForAnswers } from '../plan/phase-steps.ts'
import { plannedBetween } from '../plan/planned-rate.ts'
import { sumOfTrials } from '../search/trial-counts.ts'
import type { TrialCounts } from '../search/trial-sums.ts'
import { type AttemptCounts, addCounts, noCounts, type StepCounters } from './attempt-counts.ts'
import type { Progress, RunCost, StepProgress } from './progress.ts'
import type { TimeHistogram } from './time-histogram.ts'
import { TimesByStep, type TimesOfSteps } from './times-by-step.ts'

/** Counts that are too many to sum each second, so they are summed on request. */
export interface Counted extends TimesOfSteps {
  /** The phases that have begun; a search adds them as it goes. */
  readonly phases: readonly PhaseRun[]
  /** The sum of a metric's histograms over the wanted phases and steps. */
  histogram(metric: Metric, wants: (phase: PhaseRun, step: number) => boolean): TimeHistogram
  /** The counters of each thread for the wanted phases and steps. */
  countersWhere(wants: (phase: PhaseRun, step: number) => boolean): readonly StepCounters[]
}

interface TallyOptions {
  readonly machines?: number
  readonly billing?: Billing
}

/** Rates of a shorter time would jump. */
const shortestRateUs = 500_000

/** Sums the reports of the sending threads. */
export class Tally implements Counted {
  private readonly scenario: Scenario
  private readonly runId: string
  readonly phases: readonly PhaseRun[]
  private readonly reports = new Map<number, SenderReport>()
  private readonly times: TimesByStep
  private before: { readonly atUs: number; readonly steps: ReadonlyMap<number, StepSum> } = {
    atUs: 0,
    steps: new Map(),
  }
  private rates = new Map<number, { plannedPerS: number | null; achievedPerS: number }>()

  /** When nothing was in flight for the first time since something was; null while something is. */
  private idleSinceUs: number | null = null

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
    this.times = new TimesByStep(scenario, runId, phases)
  }

  add(report: SenderReport): void {
    this.reports.set(report.shard, report)
    this.times.add(report)
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
    return this.times.histogram(metric, wants)
  }

  histogramsOfSteps(metric: Metric): ReadonlyMap<string, TimeHistogram> {
    return this.times.histogramsOfSteps(metric)
  }

  /** Removes the histograms of the intervals that are over, for the store. @param nowUs Infinity for all */
  takeHistograms(nowUs: number): readonly IntervalHistogram[] {
    return this.times.takeIntervals(nowUs)
  }

  /** Credits by the contract, with what may have been charged; null for money, and without a price or a bound. */
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

  /** The state of the run now. Rates are those since an earlier call, so it is called once for each picture. */
  progress(atUs: number, endsUs: number | null): Progress {
    const sums = this.stepSums()
    this.updateRates(atUs, sums)
    const phase = this.phases.findLast((candidate) => candidate.startUs <= atUs)
    const errors = new Map<string, number>()
    for (const counters of this.counters()) {
      for (const [code, count] of counters.errors) errors.set(code, (errors.get(code) ?? 0) + count)
    }
    const reports = [...this.reports.values()]
    const inFlight = reports.reduce((sum, report) => sum + report.inFlight, 0)
    const counts = this.counts()
    this.idleSinceUs = inFlight > 0 || counts.planned === 0 ? null : (this.idleSinceUs ?? atUs)
    return {
      runId: this.runId,
      scenario: this.scenario.name,
      phase: phase?.name ?? null,
      atUs,
      endsUs,
      counts,
      inFlight,
      waiting: waitOf(phase, this.idleSinceUs, atUs),
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
    return {
      step: this.scenario.steps[step]!.name,
      ...sum,
      plannedPerS: rate === undefined ? 0 : rate.plannedPerS,
      achievedPerS: rate?.achievedPerS ?? 0,
      responseUs: this.times.percentiles(step, 'response'),
      serviceUs: this.times.percentiles(step, 'service'),
      ttftUs: this.times.percentiles(step, 'ttft'),
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
    if (atUs - before.atUs < shortestRateUs) return
    const seconds = (atUs - before.atUs) / 1e6
    const asked = plannedBetween(this.scenario, this.phases, before.atUs, atUs)
    for (const [step, sum] of sums) {
      const last = before.steps.get(step)
      const dueCount = asked[step]!
      // Responses cause later turns and retries: `planned` counts them, too.
      const planned = this.followsUp(step) ? sum.planned - (last?.planned ?? 0) : 0
      this.rates.set(step, {
        plannedPerS:
          dueCount === null ? null : Math.max(dueCount / this.machines, planned) / seconds,
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
}

interface StepSum {
  readonly planned: number
  readonly sent: number
  readonly ok: number
  readonly failures: number
}

function lowest(values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value): value is number => typeof value === 'number')
  return known.length === 0 ? null : smallest(known)
}

/** A shorter wait is not worth a word. */
const leastWaitUs = 2e6

/** The wait of the users of a closed load. It is over when the phase that follows begins. */
function waitOf(
  phase: PhaseRun | undefined,
  sinceUs: number | null,
  atUs: number,
): NonNullable<Progress['waiting']> | null {
  if (sinceUs === null || phase?.load.kind !== 'concurrency') return null
  const { think } = phase.load
  if (think.kind !== 'fixed' || think.us < leastWaitUs) return null
  const endsUs = Math.max(sinceUs, phase.startUs) + think.us
  return endsUs < atUs ? null : { us: think.us, endsUs }
}
