import {
  type Contradiction,
  type Course,
  isAdmitted,
  isRejected,
  type Step,
  type Steps,
} from './model.ts'

/**
 * A bucket of `burst` tokens that gains one each W/N, kept as the time at which it would be full
 * again (GCRA's theoretical arrival time, TAT): admitted while `TAT - t <= (burst - 1) W/N`.
 *
 * TAT grows with every decision time, so the earliest times bound it from below and the latest from
 * above. Where rejections count, an empty bucket may lose what it regains or run up a debt: the debt
 * speaks for later rejections, the loss against later admissions.
 *
 * O(n) after sorting.
 */
export function explainByBucket(
  course: Course,
  steps: Steps,
  burst: number,
  rejectionsCount: boolean,
): Contradiction | null {
  const gapUs = course.windowUs / course.limit
  const depthUs = (burst - 1) * gapUs

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
  const sure = steps.byEnd.filter((step) => step.counted === 'yes' || isRejected(step))
  const others = sure.filter((step) => !isAdmitted(step))
  let nextOther = 0
  for (const step of sure) {
    if (!isAdmitted(step)) continue
    while (nextOther < others.length && others[nextOther]!.to < step.from) {
      const other = others[nextOther++]!
      if (isRejected(other)) empty(other)
      else take(other.a)
    }
    take(step.a)
    if (fullAgainUs - gapUs - step.b > depthUs + 1) {
      return { arrival: step.arrival, kind: 'should-be-rejected' }
    }
  }

  // From above: everything that may have been counted and may have come before the rejection.
  const possible = steps.byStart.filter(
    (step) => step.counted !== 'no' && (rejectionsCount || !isRejected(step)),
  )
  const earlier = rejectionsCount ? course.earlierAtMost : Math.min(course.earlierAtMost, burst)
  /** The latest that the bucket may be full again, before each of them and after the last. */
  const latestFullUs = [earlier === 0 ? -Infinity : steps.openedUs + earlier * gapUs]
  const places = new Map<Step, number>()
  possible.forEach((step, index) => {
    places.set(step, index)
    latestFullUs.push(Math.max(latestFullUs[index]!, step.b) + gapUs)
  })
  let next = 0
  for (const step of steps.byEnd) {
    if (!isRejected(step)) continue
    while (next < possible.length && possible[next]!.from <= step.to) next++
    // A rejection does not explain itself.
    const place = places.get(step)
    let fullUs = latestFullUs[place ?? next]!
    for (let at = place === undefined ? next : place + 1; at < next; at++) {
      fullUs = Math.max(fullUs, possible[at]!.b) + gapUs
    }
    if (fullUs - step.a <= depthUs) return { arrival: step.arrival, kind: 'should-be-admitted' }
  }
  return null
}
