import type { SenderReport } from '../crew/messages.ts'
import type { ActivePhase } from './active-phase.ts'
import type { InFlight } from './in-flight.ts'

/** The phases that a sending thread was given, in their order. */
export class GivenPhases {
  readonly list: ActivePhase[] = []

  /** When a request of a phase is next due, or a phase without arrivals ends; Infinity if all are issued. */
  get nextUs(): number {
    let next = Infinity
    for (const { issued, arrivals, run, endUs } of this.list) {
      if (issued) continue
      next = Math.min(next, arrivals === null ? endUs : run.startUs + arrivals.atUs)
    }
    return next
  }

  get areIssued(): boolean {
    return this.list.every(({ issued }) => issued)
  }

  /** What ended since the last report, by phase and step. */
  takeCounts(): SenderReport['steps'] {
    return this.list.flatMap((phase) =>
      phase.takeCounts().map((counted) => ({ ordinal: phase.run.ordinal, ...counted })),
    )
  }

  /** The counts of the last phase as a trial; null if it is none. */
  trial(flying: InFlight, nowUs: number): SenderReport['trial'] {
    const phase = this.list.at(-1)
    if (phase === undefined || phase.trial === null) return null
    return { ordinal: phase.run.ordinal, counts: phase.trial.counts(flying.of(phase), nowUs) }
  }
}
