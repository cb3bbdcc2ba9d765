import type { RateSegment } from '../scenario/loads.ts'

/**
 * A rate over time, and the time at which a given amount has arrived.
 *
 *     rate                      amount(t) = area under the rate up to t
 *      │      ____
 *      │     /    \___          the n-th constant arrival is where the amount is n;
 *      │____/                   a Poisson process of rate 1 in amounts is one of this
 *      └──────────────── t      rate in time (time change of a point process)
 *
 * After the last segment the rate stays constant.
 */
export class RateCurve {
  private readonly segments: readonly RateSegment[]
  private at = 0
  private startUs = 0
  private startAmount = 0
  private lastAmount = 0

  constructor(segments: readonly RateSegment[]) {
    this.segments = segments
  }

  /**
   * Microseconds at which the amount is reached; Infinity if it never is.
   *
   * @throws RangeError if the amount is below that of the last call
   */
  timeOf(amount: number): number {
    if (amount < this.lastAmount) throw new RangeError('amounts of a curve never fall')
    this.lastAmount = amount
    while (this.at < this.segments.length) {
      const segment = this.segments[this.at]!
      const area = areaOf(segment)
      if (amount < this.startAmount + area) {
        return this.startUs + within(segment, amount - this.startAmount)
      }
      this.startUs += segment.durationUs
      this.startAmount += area
      this.at++
    }
    const rest = amount - this.startAmount
    const perS = this.segments.at(-1)?.toPerS ?? 0
    return perS > 0 ? this.startUs + (rest / perS) * 1e6 : Infinity
  }
}

/** Requests in a segment. */
const areaOf = (segment: RateSegment): number =>
  ((segment.fromPerS + segment.toPerS) / 2) * (segment.durationUs / 1e6)

/** Requests until a time: the area under the rate up to there. */
export function amountBy(segments: readonly RateSegment[], atUs: number): number {
  let startUs = 0
  let amount = 0
  for (const segment of segments) {
    if (atUs <= startUs) return amount
    const us = Math.min(segment.durationUs, atUs - startUs)
    const share = segment.durationUs === 0 ? 0 : us / segment.durationUs
    const rateThere = segment.fromPerS + (segment.toPerS - segment.fromPerS) * share
    amount += ((segment.fromPerS + rateThere) / 2) * (us / 1e6)
    startUs += segment.durationUs
  }
  const perS = segments.at(-1)?.toPerS ?? 0
  return perS === 0 ? amount : amount + (perS * Math.max(0, atUs - startUs)) / 1e6
}

/**
 * Microseconds into a segment at which `amount` of its area is reached: the root of
 * f·t + (g − f)/(2T)·t² = amount, in the form that is stable for f = g or f = 0.
 */
function within(segment: RateSegment, amount: number): number {
  const f = segment.fromPerS
  const slope = (segment.toPerS - f) / (segment.durationUs / 1e6)
  const root = Math.sqrt(Math.max(0, f * f + 2 * slope * amount))
  return amount === 0 ? 0 : ((2 * amount) / (f + root)) * 1e6
}
