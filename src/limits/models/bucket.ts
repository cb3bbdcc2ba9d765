import {
  type Contradiction,
  type Course,
  isAdmitted,
  isRejected,
  type Step,
  type Steps,
} from './model.ts'

/** What buckets of every depth look at in one course, laid out once for all of them. */
export interface BucketCourse {
  readonly rejectionsCount: boolean
  /** W/N: how long a token takes. */
  readonly gapUs: number
  /** Admissions that surely took a token, by end. */
  readonly admitted: readonly Step[]
  /** Others that surely took one, and rejections, by end. */
  readonly others: readonly Step[]
  /** Everything that may have taken a token, by start. */
  readonly possible: readonly Step[]
  /** The latest that a bucket may be full again before each of those and after the last. */
  readonly latestFullUs: Float64Array
  /** Rejections by end, with their place among the possible ones (-1: none), and those that began by its end. */
  readonly rejections: readonly {
    readonly step: Step
    readonly place: number
    readonly begun: number
  }[]
  readonly earlierAtMost: number
  readonly openedUs: number
}

export function bucketCourse(
  { windowUs, limit, earlierAtMost }: Course,
  { byStart, byEnd, openedUs }: Steps,
  rejectionsCount: boolean,
): BucketCourse {
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
 * A bucket of `burst` tokens that gains one each W/N, kept as the time at which it would be full
 * again (GCRA's theoretical request time, TAT): admitted while `TAT - t <= (burst - 1) W/N`.
 *
 * TAT grows with every decision time, so the earliest times bound it from below and the latest from
 * above. Where rejections count, an empty bucket may lose what it regains or run up a debt: the debt
 * speaks for later rejections, the loss against later admissions.
 *
 * O(n), and far less for most depths that do not fit.
 */
export function explainByBucket(course: BucketCourse, burst: number): Contradiction | null {
  const { gapUs, rejectionsCount, admitted, others, possible, latestFullUs } = course
  const depthUs = (burst - 1) * gapUs

  // From above: everything that may have been counted and may have come before the rejection. This goes
  // first, since a depth that is too great is told by the first rejections.
  const earlier = rejectionsCount ? course.earlierAtMost : Math.min(course.earlierAtMost, burst)
  const carriedUs = earlier === 0 ? -Infinity : course.openedUs + earlier * gapUs
  for (const { step, place, begun } of course.rejections) {
    // A rejection does not explain itself.
    const upTo = place < 0 ? begun : place
    let fullUs = Math.max(latestFullUs[upTo]!, carriedUs + upTo * gapUs)
    for (let at = place < 0 ? begun : place + 1; at < begun; at++) {
      fullUs = Math.max(fullUs, possible[at]!.b) + gapUs
    }
    if (fullUs - step.a <= depthUs) return { request: step.request, kind: 'should-be-admitted' }
  }

  let fullAgainUs = -Infinity
  /** Admissions that may have come before this are in `fullAgainUs` already, or not counted. */
  let countedFromUs = -Infinity
  const take = (atUs: number) => {
    if (atUs >= fullAgainUs) {
      fullAgainUs = atUs + gapUs
      countedFromUs = atUs
    } else if (atUs >= countedFromUs) fullAgainUs += gapUs
  }
  /** A rejection shows that less than a token was there; one that counts leaves none. */
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
