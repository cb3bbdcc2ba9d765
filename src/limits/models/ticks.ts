import { isAdmitted, type LimiterTrace, stepsOf } from './model.ts'

/** Phases tried in one tick; intervals are widened by half a step, so none is missed. */
const phases = 60

/** Windows over which admissions are summed. */
const windowsBack = 3

/**
 * Whether a bucket of N tokens explains every admission, if it gains a whole token at each tick of a
 * clock, N ticks a window.
 *
 * Such a bucket admits N + 1 at once if a tick falls into that moment. A bucket that gains fractions
 * admits N, and fixed windows admit more only at their edge. Admissions that surely lie between a tick
 * and a later time are at most N plus the ticks since then.
 *
 * O(n N) for each phase; for traces that no other model explains.
 */
export function ticksExplainAdmissions(trace: LimiterTrace): boolean {
  const tickUs = trace.windowUs / trace.limit
  const stepUs = tickUs / phases
  const admitted = stepsOf(trace, stepUs / 2).byEnd.filter(isAdmitted)
  return Array.from({ length: phases }, (_, nth) => nth * stepUs).some((phaseUs) => {
    const tickBefore = (us: number) => Math.floor((us - phaseUs) / tickUs)
    const began = new Map<number, number>()
    return admitted.every(({ earliestUs, latestUs }) => {
      const [from, to] = [tickBefore(earliestUs), tickBefore(latestUs)]
      began.set(from, (began.get(from) ?? 0) + 1)
      let count = 0
      for (let back = 0; back <= windowsBack * trace.limit; back++) {
        count += began.get(to - back) ?? 0
        if (count > trace.limit + back) return false
      }
      return true
    })
  })
}
