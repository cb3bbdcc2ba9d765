import { type Contradiction, isRejected, type LimiterTrace, type Steps } from './model.ts'
import { admissionBeyond } from './windows.ts'

/**
 * Windows that begin on edges of the clock, each counted from zero.
 *
 * `fit.ts` searches the phase. A request that may lie in two windows counts in neither when an
 * admission is judged, and in both when a rejection is judged.
 *
 * O(n).
 */
export function explainByFixedWindows(
  trace: LimiterTrace,
  steps: Steps,
  phaseUs: number,
): Contradiction | null {
  const { limit, windowUs } = trace
  const windowAt = (us: number) => Math.floor((us - phaseUs) / windowUs)
  const first = windowAt(steps.startUs)
  const last = windowAt(steps.byEnd.at(-1)?.b ?? steps.startUs)
  const counts = new Int32Array(last - first + 1)
  const beyond = admissionBeyond(
    steps,
    { windowAt, first, counts },
    (window) => counts[window - first]! > limit,
  )
  if (beyond !== null) return beyond

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
      const earlier = at <= windowAt(steps.openedUs) ? trace.earlierAtMost : 0
      if (possible[at - first]! - self + earlier >= limit) explained = true
    }
    if (!explained) return { request: step.request, kind: 'should-be-admitted' }
  }
  return null
}
