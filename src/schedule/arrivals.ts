import type { RateSegment, Spacing } from '../scenario/loads.ts'
import { amountBy, RateCurve } from './rate-curve.ts'
import { SpacingSums } from './spacing-sums.ts'

/** More than the rounding error of sums over segments: an arrival due at their end is not before it. */
const roundingUs = 1e-3

export interface ArrivalBounds {
  /** Arrivals at or after this are not part of the plan; null for no end. */
  readonly durationUs: number | null
  readonly maxRequests: number | null
}

/**
 * The plan of an open load: when each request is due, decided by the seed alone. Threads that share a
 * plan jump from one of their indexes to the next, without the arrivals between.
 *
 * An *amount* is a number of requests, with a fraction: what the rate gives up to a time. An arrival is due when the rate
 * has given the sum of its gap and those before, whose mean is 1. Of a constant spacing, the first is due at once:
 *
 *     amount            0       1       2       3
 *     constant          0       1       2       3       index
 *     poisson, gamma      0          1    2        3    index
 *
 * The plan is a cursor that only moves forward, to save one object for each arrival.
 */
export class ArrivalPlan {
  /** The current arrival; -1 before the first. */
  index = -1
  /** When it is due, in microseconds since the phase began. Infinity before the first. */
  atUs = Infinity
  private readonly rate: readonly RateSegment[]
  private readonly curve: RateCurve
  private readonly durationUs: number
  private readonly count: number
  /** Null for a constant spacing, whose gaps are 1. */
  private readonly gaps: SpacingSums | null

  constructor(
    spacing: Spacing,
    rate: readonly RateSegment[],
    bounds: ArrivalBounds,
    seed: number,
    phase: string,
  ) {
    this.rate = rate
    this.curve = new RateCurve(rate)
    this.durationUs = bounds.durationUs ?? Infinity
    this.count = bounds.maxRequests ?? Infinity
    const shape = spacing.kind === 'gamma' ? spacing.shape : 1
    this.gaps =
      spacing.kind === 'constant' ? null : new SpacingSums(seed, `gaps of ${phase}`, shape)
  }

  /** Moves to an arrival, by default the next. @returns false if the plan has no such arrival */
  advance(to = this.index + 1): boolean {
    if (to >= this.count) return false
    const amount = this.gaps === null ? to : this.gaps.sumOf(to + 1)
    const atUs = Math.floor(this.curve.timeOf(amount) + roundingUs)
    if (atUs >= this.durationUs || atUs === Infinity) return false
    this.index = to
    this.atUs = atUs
    return true
  }

  /** Moves to the last arrival; without arrivals, stays before the first. */
  finish(): void {
    // Jump to an arrival that is a request or more before the end, which rounding cannot pass; then go by single steps.
    const safeAmount = amountBy(this.rate, this.durationUs) - 1
    const near =
      this.gaps === null
        ? Math.floor(Math.min(safeAmount, this.count - 1))
        : this.gaps.countBy(safeAmount, this.count) - 1
    if (near > this.index) this.advance(near)
    while (this.advance());
  }
}
