import type { Phase } from '../scenario/scenario.ts'
import { bracketOf, nextTrial, type Trial } from '../schedule/sweep.ts'
import type { StepCounters } from './attempt-counts.ts'
import type { Coordinator } from './coordinator.ts'

/** The result of a sweep: the highest rate that held, and the lowest that failed. */
export interface SweepResult {
  readonly phase: string
  readonly safePerS: number | null
  readonly failedPerS: number | null
  readonly trials: readonly SweepTrial[]
}

export interface SweepTrial extends Trial {
  readonly phase: string
  /** Share of judged requests that were good; null if none was judged. */
  readonly goodput: number | null
  /** Requests that could not be sent at this rate; a trial counts them as not good. */
  readonly notSent: number
}

/** Tries one rate after another, each as its own phase, drained before the next. */
export async function runSweep(coordinator: Coordinator, phase: Phase): Promise<SweepResult> {
  const { load } = phase
  if (load.kind !== 'sweep') throw new Error('not a sweep')
  const trials: SweepTrial[] = []
  for (;;) {
    const next = nextTrial(load, trials)
    if (next.kind === 'done' || coordinator.stopReason !== null) {
      return { phase: phase.name, ...bracketOf(trials), trials }
    }
    if (next.coolDown) await coordinator.rest(load.coolDownUs)
    if (coordinator.stopReason !== null) continue
    const name = `${phase.name} ${trials.length + 1}`
    const startUs = await coordinator.agreedStart(name)
    if (coordinator.stopReason !== null) continue
    const run = coordinator.launch(
      { ...phase, name, durationUs: load.trialUs, maxRequests: null },
      {
        kind: 'arrivals',
        spacing: load.spacing,
        rate: [{ durationUs: load.trialUs, fromPerS: next.ratePerS, toPerS: next.ratePerS }],
      },
      startUs,
    )
    await coordinator.untilDrained()
    const all = await coordinator.gather(name, countsOf(coordinator.tally.counters(run.ordinal)))
    // A trial that was cut short does not count.
    if (coordinator.stopReason !== null || all === null) continue
    const { good, judged, notSent } = countsOf(all)
    const goodput = judged === 0 ? null : good / judged
    const held = goodput !== null && good >= load.objective.goodput * (judged + notSent)
    trials.push({ phase: name, ratePerS: next.ratePerS, held, goodput, notSent })
  }
}

type TrialCounts = Pick<StepCounters, 'good' | 'judged' | 'notSent'>

/** Sums of these counts. */
function countsOf(counts: readonly TrialCounts[]): Record<keyof TrialCounts, number> {
  const sum = { good: 0, judged: 0, notSent: 0 }
  for (const { good, judged, notSent } of counts) {
    sum.good += good
    sum.judged += judged
    sum.notSent += notSent
  }
  return sum
}
