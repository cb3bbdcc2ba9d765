import type { RateSegment, Spacing } from '../scenario/scenario.ts'
import { Course } from './course.ts'
import { RandomStream } from './random.ts'

/** Sums over the pieces of a course are off by less: what is due at their end is not before it. */
const roundingUs = 1e-3

export interface ArrivalBounds {
  /** Arrivals at or after this are not part of the plan; null for no such end. */
  readonly durationUs: number | null
  readonly maxRequests: number | null
}

/**
 * The plan of an open load: when each request is to be sent, fixed by the seed alone. Threads
 * that share a plan walk all of it and send the indexes that are theirs.
 *
 * A cursor, so that a million arrivals are not a million objects.
 */
export class ArrivalPlan {
  /** The current arrival; -1 before the first. */
  index = -1
  /** When it is to be sent, in microseconds since the phase began. Infinity before the first. */
  atUs = Infinity
  private amount = 0
  private readonly spacing: Spacing
  private readonly course: Course
  private readonly bounds: ArrivalBounds
  private readonly gaps: RandomStream

  constructor(
    spacing: Spacing,
    rate: readonly RateSegment[],
    bounds: ArrivalBounds,
    seed: number,
    phase: string,
  ) {
    this.spacing = spacing
    this.course = new Course(rate)
    this.bounds = bounds
    this.gaps = new RandomStream(seed, `gaps of ${phase}`)
  }

  /** Moves to the next arrival. @returns whether there is one */
  advance(): boolean {
    const index = this.index + 1
    if (this.bounds.maxRequests !== null && index >= this.bounds.maxRequests) return false
    this.amount += this.gapBefore(index)
    const atUs = Math.floor(this.course.timeOf(this.amount) + roundingUs)
    if (atUs >= (this.bounds.durationUs ?? Infinity) || atUs === Infinity) return false
    this.index = index
    this.atUs = atUs
    return true
  }

  /** In amounts of the course: 1 on average. */
  private gapBefore(index: number): number {
    switch (this.spacing.kind) {
      case 'constant':
        return index === 0 ? 0 : 1
      case 'poisson':
        return this.gaps.exponential(index)
      case 'gamma':
        return this.gaps.gamma(index, this.spacing.shape)
    }
  }
}
