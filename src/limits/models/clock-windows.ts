import {
  type Contradiction,
  isAdmitted,
  isRejected,
  type LimiterTrace,
  type Step,
  type Steps,
} from './model.ts'

/**
 * Windows that begin on edges of the clock. `fit.ts` searches the phase of the edges.
 *
 * - `fixed-aligned`: each window is counted from zero.
 * - `sliding-counter`: the window before counts, too, by the share of it that the trailing window covers: a request is
 *   admitted while `previous * (1 - elapsed/W) + current` is below N. Services round the weighted part down, up or not at
 *   all, so admissions are judged by the floor and rejections by the ceiling.
 *
 * A request that may lie in two windows counts in neither when an admission is judged, and in both when a rejection is
 * judged.
 *
 * O(n).
 */
export function explainByClockWindows(
  algorithm: 'fixed-aligned' | 'sliding-counter',
  trace: LimiterTrace,
  steps: Steps,
  phaseUs: number,
): Contradiction | null {
  const { limit, windowUs, earlierAtMost } = trace
  const windowAt = (us: number) => Math.floor((us - phaseUs) / windowUs)
  const first = windowAt(steps.startUs) - 1
  const windows = windowAt(steps.byEnd.at(-1)?.latestUs ?? steps.startUs) - first + 1
  /** What the window before counts for. */
  const weightAt = (us: number, window: number) =>
    algorithm === 'fixed-aligned'
      ? 0
      : Math.min(1, Math.max(0, 1 - (us - phaseUs - window * windowUs) / windowUs))

  const counts = new Int32Array(windows)
  const waiting = steps.byEnd.filter((step) => step.counted === 'yes' && !isAdmitted(step))
  let nextWaiting = 0
  for (const step of steps.byEnd) {
    if (!isAdmitted(step)) continue
    // A counted request that was not admitted counts once it surely precedes the admission.
    while (nextWaiting < waiting.length && waiting[nextWaiting]!.endedUs < step.sentUs) {
      countIfSure(waiting[nextWaiting++]!)
    }
    if (!countIfSure(step)) continue
    const window = windowAt(step.latestUs)
    const previous = Math.floor(counts[window - 1 - first]! * weightAt(step.latestUs, window))
    if (previous + counts[window - first]! > limit)
      return { request: step.request, kind: 'should-be-rejected' }
  }

  // In `ended`, a request counts only in the latest window that it may lie in, where it weighs most.
  const possible = new Float64Array(windows)
  const ended = new Float64Array(windows)
  // Requests before the trace may lie in its first window and in the previous one.
  const opened = windowAt(steps.openedUs) - first
  possible.fill(earlierAtMost, 0, opened + 1)
  ended.fill(earlierAtMost, 0, opened + 1)
  let next = 0
  for (const step of steps.byEnd) {
    if (!isRejected(step)) continue
    while (next < steps.byStart.length && steps.byStart[next]!.sentUs <= step.endedUs) {
      const before = steps.byStart[next++]!
      if (before.counted === 'no') continue
      for (let at = windowAt(before.earliestUs); at <= windowAt(before.latestUs); at++)
        possible[at - first]!++
      ended[windowAt(before.latestUs) - first]!++
    }
    if (!isExplained(step)) return { request: step.request, kind: 'should-be-admitted' }
  }
  return null

  /** @returns false for a request that may lie in two windows */
  function countIfSure({ earliestUs, latestUs }: Step): boolean {
    const window = windowAt(earliestUs)
    if (window !== windowAt(latestUs)) return false
    counts[window - first]!++
    return true
  }

  /** Whether a rejection may lie in a window that is full. */
  function isExplained({ earliestUs, latestUs, counted }: Step): boolean {
    const self = counted === 'no' ? 0 : 1
    for (let at = windowAt(earliestUs); at <= windowAt(latestUs); at++) {
      const weight = weightAt(earliestUs, at)
      const previous = weight === 0 ? 0 : Math.ceil(ended[at - 1 - first]! * weight)
      if (previous + possible[at - first]! - self >= limit) return true
    }
    return false
  }
}
