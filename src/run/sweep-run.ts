import type { Phase } from '../scenario/scenario.ts'
import { bracketOf, nextTrial, type Trial } from '../schedule/sweep.ts'
import type { StepCounters } from './attempt-counts.ts'
import type { Coordinator } from './coordinator.ts'

/** What a sweep found: the highest rate that held, and the lowest that did not. */
export interface SweepResult {
  readonly phase: string
  readonly safePerS: number | null
  readonly failedPerS: number | null
  readonly trials: readonly SweepTrial[]
}

export interface SweepTrial extends Trial {
  readonly phase: string
  /** Share of judged requests that were good; null where nothing was judged. */
  readonly goodput: number | null
  /** Requests that could not be sent at this rate: for holding they count as not good. */
  readonly notSent: number
}

/** Tries one rate after the other, each as a phase of its own, all drained between. */
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
    const run = coordinator.launch(
      { ...phase, name, durationUs: load.trialUs, maxRequests: null },
      {
        kind: 'arrivals',
        spacing: load.spacing,
        rate: [{ durationUs: load.trialUs, fromPerS: next.ratePerS, toPerS: next.ratePerS }],
      },
      null,
    )
    await coordinator.untilDrained()
    // A trial that was cut short says nothing of its rate.
    if (coordinator.stopReason !== null) continue
    const counters = coordinator.tally.counters(run.ordinal)
    const sum = (pick: (counters: StepCounters) => number) =>
      counters.reduce((total, each) => total + pick(each), 0)
    const [good, judged, notSent] = [
      sum((each) => each.good),
      sum((each) => each.judged),
      sum((each) => each.notSent),
    ]
    const goodput = judged === 0 ? null : good / judged
    const held = goodput !== null && good >= load.objective.goodput * (judged + notSent)
    trials.push({ phase: name, ratePerS: next.ratePerS, held, goodput, notSent })
  }
}
