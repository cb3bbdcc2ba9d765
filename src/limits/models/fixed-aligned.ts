import { type Contradiction, type Course, isAdmitted, isRejected, type Steps } from './model.ts'

/**
 * Windows that begin on the clock's own edges, counted from zero in each.
 *
 * The phase is given; see `phases.ts` for its search. An arrival that may lie in two windows is
 * counted for neither when it was admitted, and for both when a rejection needs explaining.
 *
 * O(n).
 */
export function explainByFixedWindows(
  course: Course,
  steps: Steps,
  phaseUs: number,
): Contradiction | null {
  const { limit, windowUs } = course
  const windowAt = (us: number) => Math.floor((us - phaseUs) / windowUs)
  const first = windowAt(steps.startUs)
  const last = windowAt(steps.byEnd.at(-1)?.b ?? steps.startUs)
  const admitted = new Int32Array(last - first + 1)
  const others = new Int32Array(last - first + 1)
  const waiting = steps.byEnd.filter((step) => step.counted === 'yes' && !isAdmitted(step))

  let nextOther = 0
  for (const step of steps.byEnd) {
    if (!isAdmitted(step)) continue
    while (nextOther < waiting.length && waiting[nextOther]!.to < step.from) {
      const other = waiting[nextOther++]!
      if (windowAt(other.a) === windowAt(other.b)) others[windowAt(other.a) - first]!++
    }
    const window = windowAt(step.a)
    if (window !== windowAt(step.b)) continue
    admitted[window - first]!++
    if (admitted[window - first]! + others[window - first]! > limit) {
      return { arrival: step.arrival, kind: 'should-be-rejected' }
    }
  }

  const possible = new Int32Array(last - first + 1)
  let next = 0
  for (const step of steps.byEnd) {
    if (!isRejected(step)) continue
    while (next < steps.byStart.length && steps.byStart[next]!.from <= step.to) {
      const before = steps.byStart[next++]!
      if (before.counted === 'no') continue
      for (let at = windowAt(before.a); at <= windowAt(before.b); at++) possible[at - first]!++
    }
    const self = step.counted === 'no' ? 0 : 1
    let explained = false
    for (let at = windowAt(step.a); at <= windowAt(step.b); at++) {
      const earlier = at <= windowAt(steps.openedUs) ? course.earlierAtMost : 0
      if (possible[at - first]! - self + earlier >= limit) explained = true
    }
    if (!explained) return { arrival: step.arrival, kind: 'should-be-admitted' }
  }
  return null
}
