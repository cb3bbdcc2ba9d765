import {
  type Contradiction,
  isAdmitted,
  isRejected,
  type LimiterTrace,
  type Step,
  type Steps,
} from './model.ts'

/** One trace, prepared for buckets of every depth. */
export interface BucketTrace {
  readonly rejectionsCount: boolean
  /** W/N: the time to regain one token. */
  readonly gapUs: number
  /** Admissions, which surely took a token, by end. */
  readonly admitted: readonly Step[]
  /** Other requests that surely took one, and rejections, by end. */
  readonly others: readonly Step[]
  /** Requests that may have taken a token, by start. */
  readonly possible: readonly Step[]
  /** The latest time at which the bucket is full again, before each of `possible` and after the last. */
  readonly latestFullUs: Float64Array
  /** Rejections by end: index in `possible` (-1: none), and how many of `possible` began by its end. */
  readonly rejections: readonly {
    readonly step: Step
    readonly place: number
    readonly begun: number
  }[]
  readonly earlierAtMost: number
  readonly openedUs: number
}

export function bucketTrace(
  { windowUs, limit, earlierAtMost }: LimiterTrace,
  { byStart, byEnd, openedUs }: Steps,
  rejectionsCount: boolean,
): BucketTrace {
  const gapUs = windowUs / limit
  const sure = byEnd.filter((step) => step.counted === 'yes' || isRejected(step))
  const possible = byStart.filter(
    (step) => step.counted !== 'no' && (rejectionsCount || !isRejected(step)),
  )
  const latestFullUs = new Float64Array(possible.length + 1).fill(-Infinity)
  const places = new Map<Step, number>()
  possible.forEach((step, at) => {
    if (isRejected(step)) places.set(step, at)
    latestFullUs[at + 1] = Math.max(latestFullUs[at]!, step.b) + gapUs
  })
  let begun = 0
  const rejections = byEnd.filter(isRejected).map((step) => {
    while (begun < possible.length && possible[begun]!.from <= step.to) begun++
    return { step, place: places.get(step) ?? -1, begun }
  })
  return {
    rejectionsCount,
    gapUs,
    admitted: sure.filter(isAdmitted),
    others: sure.filter((step) => !isAdmitted(step)),
    possible,
    latestFullUs,
    rejections,
    earlierAtMost,
    openedUs,
  }
}

/**
 * A bucket of `burst` tokens that gains one each W/N. Its state is the time at which it is full again
 * (theoretical arrival time of GCRA, TAT): it admits while `TAT - t <= (burst - 1) W/N`.
 *
 * TAT grows with every decision time, so the earliest times bound it from below and the latest from
 * above. If rejections count, an empty bucket may lose what it regains or go into debt. The debt makes
 * later rejections possible, and the loss makes later admissions impossible.
 *
 * O(n), and far less for most depths that do not fit.
 */
export function explainByBucket(trace: BucketTrace, burst: number): Contradiction | null {
  const { gapUs, rejectionsCount, admitted, others, possible, latestFullUs } = trace
  const depthUs = (burst - 1) * gapUs

  // Upper bound: every request that may have been counted before the rejection. This bound comes first,
  // because the first rejections already exclude a depth that is too great.
  const earlier = rejectionsCount ? trace.earlierAtMost : Math.min(trace.earlierAtMost, burst)
  const carriedUs = earlier === 0 ? -Infinity : trace.openedUs + earlier * gapUs
  for (const { step, place, begun } of trace.rejections) {
    // A rejection does not count toward itself.
    const upTo = place < 0 ? begun : place
    let fullUs = Math.max(latestFullUs[upTo]!, carriedUs + upTo * gapUs)
    for (let at = place < 0 ? begun : place + 1; at < begun; at++) {
      fullUs = Math.max(fullUs, possible[at]!.b) + gapUs
    }
    if (fullUs - step.a <= depthUs) return { request: step.request, kind: 'should-be-admitted' }
  }

  let fullAgainUs = -Infinity
  /** `fullAgainUs` already covers requests that may have been decided before this. */
  let countedFromUs = -Infinity
  const take = (atUs: number) => {
    if (atUs >= fullAgainUs) {
      fullAgainUs = atUs + gapUs
      countedFromUs = atUs
    } else if (atUs >= countedFromUs) fullAgainUs += gapUs
  }
  /** At a rejection the bucket holds less than one token; if rejections count, it is then empty. */
  const empty = (step: Step) => {
    const leastUs = step.a + (rejectionsCount ? depthUs + gapUs : depthUs)
    if (leastUs <= fullAgainUs) return
    fullAgainUs = leastUs
    countedFromUs = Math.max(countedFromUs, step.b)
  }
  let nextOther = 0
  for (const step of admitted) {
    while (nextOther < others.length && others[nextOther]!.to < step.from) {
      const other = others[nextOther++]!
      if (isRejected(other)) empty(other)
      else take(other.a)
    }
    take(step.a)
    if (fullAgainUs - gapUs - step.b > depthUs + 1) {
      return { request: step.request, kind: 'should-be-rejected' }
    }
  }
  return null
}
