import { countBelow } from '../../user/count-below.ts'
import { type Contradiction, isAdmitted, isRejected, type LimiterTrace, stepsOf } from './model.ts'

/**
 * A log of the last window: at the time t, a request is admitted while fewer than N, the limit, lie in `(t - W, t]`, W the window.
 *
 * The order within overlapping intervals is unknown, so admissions are judged in sets. All admissions
 * that ended by `b` and began after `b - W` lie in one window, whatever their order, so there are at
 * most N. A rejection needs N requests that may precede it and may still be in its window.
 *
 * O(n log n).
 */
export function explainBySlidingLog(
  trace: LimiterTrace,
  areRejectionsCounted: boolean,
): Contradiction | null {
  const { limit, windowUs } = trace
  const { byStart, byEnd, openedUs } = stepsOf(trace, 0, areRejectionsCounted ? 'yes' : 'no')

  const admittedStarts = byStart.filter(isAdmitted).map((step) => step.earliestUs)
  const others = byEnd.filter((step) => step.counted === 'yes' && !isAdmitted(step))
  const otherStarts = others.map((step) => step.earliestUs).sort((x, y) => x - y)
  const otherEnds = others.map((step) => step.endedUs)
  let rank = 0
  let expired = 0
  for (const step of byEnd) {
    if (!isAdmitted(step)) continue
    rank++
    const horizon = step.latestUs - windowUs
    while (expired < admittedStarts.length && admittedStarts[expired]! <= horizon) expired++
    // Others that surely lie in the window: those that ended before this began, less all that may have begun before the window.
    const sureOthers = countBelow(otherEnds, step.sentUs) - countBelow(otherStarts, horizon + 1)
    if (rank - expired + Math.max(0, sureOthers) > limit) {
      return { request: step.request, kind: 'should-be-rejected' }
    }
  }

  const possible = byStart.filter((step) => step.counted !== 'no')
  const starts = possible.map((step) => step.sentUs)
  const ends = possible.map((step) => step.latestUs).sort((x, y) => x - y)
  for (const step of byStart) {
    if (!isRejected(step)) continue
    const horizon = step.earliestUs - windowUs
    const earlier = horizon < openedUs ? trace.earlierAtMost : 0
    const self = step.counted === 'no' ? 0 : 1
    const before = countBelow(starts, step.endedUs + 1) - countBelow(ends, horizon) - self
    if (before + earlier < limit) return { request: step.request, kind: 'should-be-admitted' }
  }
  return null
}
