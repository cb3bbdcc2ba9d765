import { type Contradiction, type Course, isAdmitted, isRejected, type Steps } from './model.ts'

/**
 * A bucket of `burst` tokens that gains one each W/N, kept as the time at which it would be full
 * again (GCRA's theoretical arrival time, TAT): admitted while `TAT - t <= (burst - 1) W/N`.
 *
 * TAT grows with every decision time, so the earliest times bound it from below and the latest from
 * above. From below it is a busy period: where it began, and how many were let in since; that
 * holds in any order. Rejections take no token.
 *
 * O(n) after sorting.
 */
export function explainByBucket(course: Course, steps: Steps, burst: number): Contradiction | null {
  const gapUs = course.windowUs / course.limit
  const depthUs = (burst - 1) * gapUs

  let busySinceUs = -Infinity
  let taken = 0
  const take = (atUs: number) => {
    if (atUs >= busySinceUs + taken * gapUs) {
      busySinceUs = atUs
      taken = 1
    } else if (atUs >= busySinceUs) taken++
  }
  const sure = steps.byEnd.filter((step) => step.counted === 'yes' && !isRejected(step))
  const others = sure.filter((step) => !isAdmitted(step))
  let nextOther = 0
  for (const step of sure) {
    if (!isAdmitted(step)) continue
    while (nextOther < others.length && others[nextOther]!.b < step.a) take(others[nextOther++]!.a)
    take(step.a)
    if (busySinceUs + (taken - 1) * gapUs - step.b > depthUs + 1) {
      return { arrival: step.arrival, kind: 'should-be-rejected' }
    }
  }

  // From above: everything that may have been counted and may have come before the rejection.
  const possible = steps.byStart.filter((step) => step.counted !== 'no' && !isRejected(step))
  const rejections = steps.byEnd.filter(isRejected)
  let fullAtUs = steps.openedUs + Math.min(course.earlierAtMost, burst) * gapUs
  let next = 0
  for (const step of rejections) {
    while (next < possible.length && possible[next]!.a <= step.b) {
      fullAtUs = Math.max(fullAtUs, possible[next]!.b) + gapUs
      next++
    }
    if (fullAtUs - step.a <= depthUs) {
      return { arrival: step.arrival, kind: 'should-be-admitted' }
    }
  }
  return null
}
