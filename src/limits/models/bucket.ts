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
  readonly areRejectionsCounted: boolean
  /** W/N: the time in which the bucket gains one token. */
  readonly tokenUs: number
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
  areRejectionsCounted: boolean,
): BucketTrace {
  const tokenUs = windowUs / limit
  const sure = byEnd.filter((step) => step.counted === 'yes' || isRejected(step))
  const possible = byStart.filter(
    (step) => step.counted !== 'no' && (areRejectionsCounted || !isRejected(step)),
  )
  const latestFullUs = new Float64Array(possible.length + 1).fill(-Infinity)
  const places = new Map<Step, number>()
  possible.forEach((step, at) => {
    if (isRejected(step)) places.set(step, at)
    latestFullUs[at + 1] = Math.max(latestFullUs[at]!, step.latestUs) + tokenUs
  })
  let begun = 0
  const rejections = byEnd.filter(isRejected).map((step) => {
    while (begun < possible.length && possible[begun]!.sentUs <= step.endedUs) begun++
    return { step, place: places.get(step) ?? -1, begun }
  })
  return {
    areRejectionsCounted,
    tokenUs,
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
 * O(n), and far less for most depths that do not fit; if rejections count, each also looks at the requests that overlap it,
 * which makes it O(n × overlap).
 */
export function explainByBucket(trace: BucketTrace, burst: number): Contradiction | null {
  // The first rejections already exclude a depth that is too great.
  return rejectedWithToken(trace, burst) ?? admittedWithoutToken(trace, burst)
}

/** A rejection before which the bucket held a token even if every request that may have taken one before it did. */
function rejectedWithToken(trace: BucketTrace, burst: number): Contradiction | null {
  const { tokenUs, areRejectionsCounted, possible, latestFullUs } = trace
  const depthUs = (burst - 1) * tokenUs
  const earlier = areRejectionsCounted ? trace.earlierAtMost : Math.min(trace.earlierAtMost, burst)
  const carriedUs = earlier === 0 ? -Infinity : trace.openedUs + earlier * tokenUs
  for (const { step, place, begun } of trace.rejections) {
    // A rejection does not count toward itself.
    const upTo = place < 0 ? begun : place
    let fullUs = Math.max(latestFullUs[upTo]!, carriedUs + upTo * tokenUs)
    for (let at = place < 0 ? begun : place + 1; at < begun; at++) {
      fullUs = Math.max(fullUs, possible[at]!.latestUs) + tokenUs
    }
    if (fullUs - step.earliestUs <= depthUs)
      return { request: step.request, kind: 'should-be-admitted' }
  }
  return null
}

/** An admission at which the bucket was empty even if only what surely took a token before it did, as early as it can have. */
function admittedWithoutToken(trace: BucketTrace, burst: number): Contradiction | null {
  const { tokenUs, areRejectionsCounted, admitted, others } = trace
  const depthUs = (burst - 1) * tokenUs
  let fullUs = -Infinity
  /**
   * At this moment the bucket was known to be full, or empty, whatever came before. Each request that is decided after it moves `fullUs`
   * on by one token, in any order. One that may have been decided before it may have had its token back by then, so it moves nothing:
   * `fullUs` stays a lower bound.
   */
  let knownAtUs = -Infinity
  const take = (atUs: number) => {
    if (atUs >= fullUs) {
      fullUs = atUs + tokenUs
      knownAtUs = atUs
    } else if (atUs >= knownAtUs) fullUs += tokenUs
  }
  /** At a rejection the bucket holds less than one token; if rejections count, this one took that, too. */
  const empty = ({ earliestUs, latestUs }: Step) => {
    const leastUs = earliestUs + depthUs + (areRejectionsCounted ? tokenUs : 0)
    if (leastUs <= fullUs) return
    fullUs = leastUs
    knownAtUs = Math.max(knownAtUs, latestUs)
  }
  let next = 0
  for (const step of admitted) {
    while (next < others.length && others[next]!.endedUs < step.sentUs) {
      const other = others[next++]!
      if (isRejected(other)) empty(other)
      else take(other.earliestUs)
    }
    take(step.earliestUs)
    if (fullUs - tokenUs - step.latestUs > depthUs + roundingUs)
      return { request: step.request, kind: 'should-be-rejected' }
  }
  return null
}

/** W/N is seldom a whole number. */
const roundingUs = 1
