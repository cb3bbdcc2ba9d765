import { type Limit, limitText } from '../../measure/limit.ts'
import type { Phase, Search } from '../../scenario/loads.ts'
import type { Objectives } from '../../scenario/scenario.ts'
import { exactArrivals } from '../../schedule/exact-arrivals.ts'
import { judgeTrial } from '../../schedule/safe-rate/judge.ts'
import { limitOf } from '../../schedule/safe-rate/limit.ts'
import { nextTrial } from '../../schedule/safe-rate/next-trial.ts'
import { bracketOf, type SafeRate, safeRateOf } from '../../schedule/safe-rate/outcome.ts'
import type { TrialPlan } from '../../schedule/safe-rate/search.ts'
import type { Trial, TrialEvidence } from '../../schedule/safe-rate/trial.ts'
import { TrialWatch } from '../../schedule/safe-rate/watch.ts'
import type { Searching } from '../count/progress.ts'
import type { Coordinator } from '../crew/coordinator.ts'
import { total } from './trial-counts.ts'
import type { TrialCounts } from './trial-sums.ts'
import { atAllMachines } from './trial-words.ts'

/** A search with its trials and its answer. */
export interface SweepResult {
  readonly phase: string
  readonly search: Search
  readonly trials: readonly Trial[]
  readonly safeRate: SafeRate
  /** The limit of requests that the service enforces; null if no trial ran into it. */
  readonly limit: SweepLimit | null
  /** What the rate is of. */
  readonly of: 'requests' | 'tasks'
  /** What had to hold, such as `95 % of first tokens within 1 s`. */
  readonly objective: string
  /** Share of the prompt tokens of the claimed trial that a cache had; null if unknown. */
  readonly cachedShare: number | null
}

export interface SweepLimit {
  /** Over whole windows. */
  readonly perS: number
  /** Whether the service is fast enough for it, so that the limit is the answer. */
  readonly decides: boolean
}

/** Longer than the clock of a search, requests in flight are awaited no more. */
const graceUs = 5e6

/**
 * Tries one rate after another, each as its own phase, drained before the next. `nextTrial` decides all.
 *
 * @param earlier trials of an earlier run of the same search, which this one goes on from
 */
export async function runSweep(
  coordinator: Coordinator,
  phase: Phase,
  earlier: readonly Trial[],
): Promise<SweepResult> {
  const { load } = phase
  if (load.kind !== 'sweep') throw new Error('not a sweep')
  const { search } = load
  const trials: Trial[] = earlier.map((trial) => ({ ...trial, earlier: true }))
  const of = search.ofTasks === undefined ? 'requests' : 'tasks'
  let markUs = coordinator.now()
  const endUs = search.mostUs === null ? Infinity : markUs + search.mostUs + graceUs
  for (;;) {
    const next = nextTrial(search, trials)
    if (next.kind === 'done' || coordinator.stopReason !== null) break
    const { plan } = next
    const nowUs = coordinator.now()
    const searching: Searching = {
      step: plan.step,
      of,
      ratePerS: plan.ratePerS,
      requests: plan.requests,
      endsUs: next.toGo === null ? null : nowUs + next.pauseUs + next.toGo.us,
      reset: null,
    }
    const resetUs = nowUs + next.limitWaitUs
    coordinator.searching = {
      ...searching,
      reset: next.limitWaitUs === 0 ? null : { atUs: resetUs, unixMs: coordinator.unixMs(resetUs) },
    }
    if (next.pauseUs > 0) await coordinator.rest(next.pauseUs)
    coordinator.searching = searching
    const name = `${phase.name} ${trials.length + 1}`
    const startUs = await coordinator.agreedStart(name)
    if (coordinator.stopReason !== null) continue
    const watch = new TrialWatch(plan, lengthUsOf(plan))
    const run = launch(coordinator, { ...phase, name }, plan, startUs)
    const sent = await untilSent(coordinator, watch, run)
    await coordinator.untilDrained(endUs)
    if (coordinator.now() >= endUs) coordinator.stop('time', true)
    const tookUs = coordinator.now() - markUs
    markUs = coordinator.now()
    const seen = evidenceOf(coordinator.tally.trial(run.ordinal), watch, { ...sent, tookUs })
    const all = await atAllMachines(coordinator, name, seen)
    // A trial that was cut short does not count.
    if (coordinator.stopReason !== null || all === null) continue
    trials.push(judgeTrial({ search, plan }, all, { phase: name }))
  }
  coordinator.searching = null
  const objective = objectiveText(search, coordinator.objectives)
  const safeRate = safeRateOf(search, trials)
  const limit = sweepLimit(trials)
  return { phase: phase.name, search, trials, safeRate, limit, of, objective, cachedShare: null }
}

function sweepLimit(trials: readonly Trial[]): SweepLimit | null {
  const limit = limitOf(trials)
  return limit === null ? null : { perS: limit.perS, decides: bracketOf(trials).isByLimit }
}

const names = {
  ttftUs: 'first tokens',
  tpotUs: 'tokens after the first',
  serviceUs: 'answers from the send',
  responseUs: 'answers',
} as const satisfies Record<keyof Objectives, string>

/** The condition of a search in words. */
function objectiveText({ goodput, ofTasks }: Search, objectives: Objectives): string {
  const within = (limit: Limit) => `within ${limitText(limit)}`
  const bounds = (Object.keys(names) as (keyof Objectives)[]).flatMap((name) => {
    const us = objectives[name]
    return us === null ? [] : [`${names[name]} ${within(us)}`]
  })
  const share = `${Number((goodput * 100).toFixed(3))} % of`
  if (ofTasks !== undefined) {
    const { withinUs } = ofTasks
    const tasks = withinUs === null ? 'tasks succeed' : `tasks ${within(withinUs)}`
    return [`${share} ${tasks}`, ...bounds.map((bound) => `all their ${bound}`)].join(', ')
  }
  return bounds.length === 0 ? `${share} requests succeed` : `${share} ${bounds.join(' and ')}`
}

const lengthUsOf = ({ ratePerS, requests }: TrialPlan) =>
  ratePerS === 0 ? Infinity : (requests / ratePerS) * 1e6

function launch(coordinator: Coordinator, phase: Phase, plan: TrialPlan, startUs: number | null) {
  const { load } = phase
  if (load.kind !== 'sweep') throw new Error('not a sweep')
  const { requests, ratePerS } = plan
  const { withinUs = null } = load.search.ofTasks ?? {}
  const trial = {
    ...phase,
    maxRequests: requests,
    trialRequests: requests,
    ...(load.search.ofTasks === undefined ? {} : { trialTaskUs: withinUs }),
  }
  if (plan.step === 'warm-up') {
    return coordinator.launch(
      { ...trial, part: 'warmup', durationUs: plan.mostUs },
      { kind: 'concurrency', fromUsers: 1, toUsers: 1, rampUs: 0, think: { kind: 'fixed', us: 0 } },
      startUs,
    )
  }
  return coordinator.launch(
    { ...trial, durationUs: lengthUsOf(plan) },
    {
      kind: 'arrivals',
      spacing: load.spacing,
      rate: [exactArrivals(load.spacing, requests, ratePerS, coordinator.seed, phase.name)],
    },
    startUs,
  )
}

/** Waits until the trial is sent, or cannot hold any more. */
async function untilSent(
  coordinator: Coordinator,
  watch: TrialWatch,
  run: { readonly ordinal: number; readonly startUs: number },
): Promise<{ readonly end: TrialEvidence['end']; readonly lastedUs: number }> {
  let end: TrialEvidence['end'] = 'plan'
  let lastedUs = 0
  coordinator.onReport = () => {
    const counts = coordinator.tally.trial(run.ordinal)
    const atUs = coordinator.now() - run.startUs
    if (atUs <= 0 || end !== 'plan') return
    const missed = total(counts.missed) + counts.overdue
    const early = watch.see({ atUs, sent: counts.sent, missed, inFlight: counts.inFlight })
    if (early === null) return
    end = early
    coordinator.endPhase(run.ordinal)
  }
  await coordinator.untilIssued(run.ordinal)
  lastedUs = Math.min(watch.lengthUs, Math.max(1, coordinator.now() - run.startUs))
  coordinator.onReport = null
  return { end, lastedUs }
}

function evidenceOf(
  counts: TrialCounts,
  watch: TrialWatch,
  took: Pick<TrialEvidence, 'end' | 'lastedUs' | 'tookUs'>,
): TrialEvidence {
  const { sent, notSent, late, unknown, limited, resetUs } = counts
  const judged = total(counts.judged)
  return {
    ...{ sent, notSent, late, unknown, limited, resetUs, judged },
    missed: total(counts.missed),
    meanUs: judged === 0 ? null : counts.serviceUs / judged,
    parts: { judged: counts.judged, missed: counts.missed, logUs: counts.logUs },
    inFlight: watch.moments(took.lastedUs),
    ...took,
  }
}
