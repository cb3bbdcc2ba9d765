import { type Contradiction, isRejected, type LimiterTrace, type Steps } from './model.ts'
import { admissionBeyond } from './windows.ts'

/**
 * Two neighbouring windows. The older one is weighted by the share of it that the trailing window
 * covers: a request is admitted while `previous * (1 - elapsed/W) + current` is below N.
 *
 * Services round the weighted part down, up or not at all, so admissions are judged by the floor
 * and rejections by the ceiling. `fit.ts` searches the phase.
 *
 * O(n).
 */
export function explainBySlidingCounter(
  trace: LimiterTrace,
  steps: Steps,
  phaseUs: number,
): Contradiction | null {
  const { limit, windowUs } = trace
  const windowAt = (us: number) => Math.floor((us - phaseUs) / windowUs)
  const first = windowAt(steps.startUs) - 1
  const last = windowAt(steps.byEnd.at(-1)?.b ?? steps.startUs)
  const weightAt = (us: number, window: number) =>
    Math.min(1, Math.max(0, 1 - (us - phaseUs - window * windowUs) / windowUs))

  const counts = new Int32Array(last - first + 1)
  const beyond = admissionBeyond(steps, { windowAt, first, counts }, (window, us) => {
    const previous = Math.floor(counts[window - 1 - first]! * weightAt(us, window))
    return previous + counts[window - first]! > limit
  })
  if (beyond !== null) return beyond

  // In `ended`, a request counts only in the latest window that it may lie in, where it weighs most.
  const possible = new Float64Array(last - first + 1)
  const ended = new Float64Array(last - first + 1)
  // Requests before the trace may lie in its first window and in the previous one.
  const opened = windowAt(steps.openedUs) - first
  possible.fill(trace.earlierAtMost, 0, opened + 1)
  ended.fill(trace.earlierAtMost, 0, opened + 1)
  let next = 0
  for (const step of steps.byEnd) {
    if (!isRejected(step)) continue
    while (next < steps.byStart.length && steps.byStart[next]!.from <= step.to) {
      const before = steps.byStart[next++]!
      if (before.counted === 'no') continue
      for (let at = windowAt(before.a); at <= windowAt(before.b); at++) possible[at - first]!++
      ended[windowAt(before.b) - first]!++
    }
    const self = step.counted === 'no' ? 0 : 1
    let explained = false
    for (let at = windowAt(step.a); at <= windowAt(step.b); at++) {
      const weight = weightAt(step.a, at)
      const previous = weight === 0 ? 0 : Math.ceil(ended[at - 1 - first]! * weight)
      if (previous + possible[at - first]! - self >= limit) explained = true
    }
    if (!explained) return { request: step.request, kind: 'should-be-admitted' }
  }
  return null
}
