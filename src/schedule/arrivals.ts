import type { RateSegment, Spacing } from '../scenario/scenario.ts'
import { amountBy, Course } from './course.ts'
import { GapSums } from './gap-sums.ts'

/** Sums over the pieces of a course are off by less: what is due at their end is not before it. */
const roundingUs = 1e-3

export interface ArrivalBounds {
  /** Arrivals at or after this are not part of the plan; null for no such end. */
  readonly durationUs: number | null
  readonly maxRequests: number | null
}

/**
 * The plan of an open load: when each request is to be sent, fixed by the seed alone. Threads that share
 * a plan go from one index of theirs to the next, and nobody walks what lies between.
 *
 * A cursor, so that a million arrivals are not a million objects. It only goes forward.
 */
export class ArrivalPlan {
  /** The current arrival; -1 before the first. */
  index = -1
  /** When it is to be sent, in microseconds since the phase began. Infinity before the first. */
  atUs = Infinity
  private readonly rate: readonly RateSegment[]
  private readonly course: Course
  private readonly durationUs: number
  private readonly count: number
  /** Null where the gaps are all 1. */
  private readonly gaps: GapSums | null

  constructor(
    spacing: Spacing,
    rate: readonly RateSegment[],
    bounds: ArrivalBounds,
    seed: number,
    phase: string,
  ) {
    this.rate = rate
    this.course = new Course(rate)
    this.durationUs = bounds.durationUs ?? Infinity
    this.count = bounds.maxRequests ?? Infinity
    const shape = spacing.kind === 'gamma' ? spacing.shape : 1
    this.gaps = spacing.kind === 'constant' ? null : new GapSums(seed, `gaps of ${phase}`, shape)
  }

  /** Moves on to an arrival, the next if none is named. @returns whether there is one; if not, the plan is over */
  advance(to = this.index + 1): boolean {
    if (to >= this.count) return false
    const amount = this.gaps === null ? to : this.gaps.sumOf(to + 1)
    const atUs = Math.floor(this.course.timeOf(amount) + roundingUs)
    if (atUs >= this.durationUs || atUs === Infinity) return false
    this.index = to
    this.atUs = atUs
    return true
  }

  /** Moves on to the last arrival; stays before the first where there is none. */
  finish(): void {
    // One request before the end, so that no rounding is near, and by single steps from there.
    const amount = amountBy(this.rate, this.durationUs) - 1
    const most = Math.min(amount, this.count - 1)
    const near = this.gaps === null ? Math.floor(most) : this.gaps.countBy(amount, this.count) - 1
    if (near > this.index) this.advance(near)
    while (this.advance());
  }
}
