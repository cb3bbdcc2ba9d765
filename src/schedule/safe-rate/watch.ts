import { growsOver } from './judge.ts'
import type { TrialPlan } from './search.ts'
import type { EarlyEnd } from './trial.ts'

/** What is known of a trial at a moment. */
export interface Glance {
  /** Since it began, in microseconds. */
  readonly atUs: number
  readonly sent: number
  /** Requests that missed, and those in flight that are already older than their bound. */
  readonly missed: number
  readonly inFlight: number
}

/** Moments over the last four fifths of a trial at which its backlog is compared, and the fewest that show a line. */
const momentsOfBacklog = 16
const fewestMoments = 6

/** Watches a trial while it is sent: whether it can still succeed, and how many requests are in flight. */
export class TrialWatch {
  private readonly plan: TrialPlan
  readonly lengthUs: number
  private readonly glances: Glance[] = []
  private looked = false

  /** @param lengthUs planned time of its arrivals */
  constructor(plan: TrialPlan, lengthUs: number) {
    this.plan = plan
    this.lengthUs = lengthUs
  }

  /** @returns why the trial has failed; null if it can still succeed */
  see(glance: Glance): EarlyEnd | null {
    this.glances.push(glance)
    if (glance.missed > this.plan.mayMiss) return 'misses'
    // The backlog is judged once at half of the trial and once at its end: more looks would be more false alarms.
    if (this.looked || glance.atUs < this.lengthUs / 2) return null
    this.looked = true
    return growsOver(this.moments(glance.atUs), glance.sent) ? 'backlog' : null
  }

  /** Requests in flight at even moments over the last four fifths of the time until `untilUs`. */
  moments(untilUs: number): readonly number[] {
    const fromUs = untilUs / 5
    const known = this.glances.filter(({ atUs }) => atUs >= fromUs && atUs <= untilUs)
    if (known.length < fewestMoments) return []
    return Array.from({ length: momentsOfBacklog }, (_, nth) => {
      const at = Math.round((nth * (known.length - 1)) / (momentsOfBacklog - 1))
      return known[at]!.inFlight
    })
  }
}
