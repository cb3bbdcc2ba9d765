import { type Contradiction, isAdmitted, type Steps } from './model.ts'

/** Windows of a clock and their counts; `counts[0]` is that of window `first`. */
export interface Windows {
  readonly windowAt: (us: number) => number
  readonly first: number
  readonly counts: Int32Array
}

/**
 * Counts the requests that surely lie in one window, by end, up to the first admission beyond the limit.
 *
 * A counted request that was not admitted counts once it surely precedes the admission.
 */
export function admissionBeyond(
  { byEnd }: Steps,
  { windowAt, first, counts }: Windows,
  exceeds: (window: number, us: number) => boolean,
): Contradiction | null {
  const waiting = byEnd.filter((step) => step.counted === 'yes' && !isAdmitted(step))
  let next = 0
  for (const step of byEnd) {
    if (!isAdmitted(step)) continue
    while (next < waiting.length && waiting[next]!.to < step.from) {
      const other = waiting[next++]!
      if (windowAt(other.a) === windowAt(other.b)) counts[windowAt(other.a) - first]!++
    }
    const window = windowAt(step.a)
    if (window !== windowAt(step.b)) continue
    counts[window - first]!++
    if (exceeds(window, step.b)) return { request: step.request, kind: 'should-be-rejected' }
  }
  return null
}
