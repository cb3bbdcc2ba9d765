import { type Contradiction, isAdmitted, type Steps } from './model.ts'

/** Windows of a clock, each with a count; the first one has the number `first`. */
export interface Windows {
  readonly windowAt: (us: number) => number
  readonly first: number
  readonly counts: Int32Array
}

/**
 * Counts what surely lies in one window, in the order of ends, up to the first admission that exceeds the limit.
 *
 * A request that was counted and not admitted counts once it was surely over.
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
