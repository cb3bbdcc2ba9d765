import { type Course, isAdmitted, stepsOf } from './model.ts'

/** Phases tried over one tick; intervals are widened by half a step, so none is missed. */
const phases = 60

/** Within how many windows admissions are added up; more is asked of no course. */
const windowsBack = 3

/**
 * Whether a bucket of N tokens that gains a whole token at each tick of a clock, N ticks a window,
 * lets in all that was let in.
 *
 * Such a bucket admits N + 1 in a moment when a tick falls into it, where one that gains parts of tokens
 * admits N, and fixed windows do so at one moment of the window alone. Admissions that surely lie between
 * a tick and a later time are at most N and what the ticks since then have brought.
 *
 * O(n N) for each phase; meant for courses that nothing else explains.
 */
export function ticksExplainAdmissions(course: Course): boolean {
  const tickUs = course.windowUs / course.limit
  const stepUs = tickUs / phases
  const admitted = stepsOf(course, stepUs / 2).byEnd.filter(isAdmitted)
  return Array.from({ length: phases }, (_, nth) => nth * stepUs).some((phaseUs) => {
    const tickBefore = (us: number) => Math.floor((us - phaseUs) / tickUs)
    const began = new Map<number, number>()
    return admitted.every(({ a, b }) => {
      const [from, to] = [tickBefore(a), tickBefore(b)]
      began.set(from, (began.get(from) ?? 0) + 1)
      let count = 0
      for (let back = 0; back <= windowsBack * course.limit; back++) {
        count += began.get(to - back) ?? 0
        if (count > course.limit + back) return false
      }
      return true
    })
  })
}
