import type { LimitedRequest } from '../limited-request.ts'

/**
 * Limiters that a promise of "N requests per window" allows.
 *
 * | algorithm      | burst from idle | most in any window | after exhaustion              |
 * |----------------|-----------------|--------------------|-------------------------------|
 * | fixed-aligned  | N               | 2N                 | N at once on the clock's edge |
 * | fixed-anchored | N               | 2N - 1             | N at once, W after first hit  |
 * | sliding-log    | N               | N                  | the old spacing again         |
 * | sliding-counter| N               | 2N                 | a trickle that grows          |
 * | bucket, burst b| b               | N + b - 1          | one each W/N                  |
 *
 * A token bucket has burst N, GCRA without tolerance burst 1.
 */
export type Model =
  | { readonly algorithm: 'fixed-aligned' }
  | { readonly algorithm: 'fixed-anchored' }
  | { readonly algorithm: 'sliding-log'; readonly rejectionsCount: boolean }
  | { readonly algorithm: 'sliding-counter'; readonly rejectionsCount: boolean }
  | {
      readonly algorithm: 'bucket'
      readonly burst: number
      readonly rejectionsCount: boolean
    }

/** Whether a request uses up the limit: known, known not to, or open. */
export type Counted = 'yes' | 'no' | 'maybe'

/** What one key did within one band, as a model is asked to explain it. */
export interface Course {
  /** By start; the decision fell somewhere inside the interval of each. */
  readonly requests: readonly LimitedRequest[]
  /** N. */
  readonly limit: number
  /** W, in microseconds of the service's time. */
  readonly windowUs: number
  /** Requests that may have been counted before the course began; Infinity where unknown. */
  readonly earlierAtMost: number
  /** By how much clocks and timers may be off, on each side of an interval. */
  readonly toleranceUs: number
  /** Where an edge of the clock's windows lies on the clock of the requests; null where unknown. */
  readonly edge: { readonly lowUs: number; readonly highUs: number } | null
  counted(request: LimitedRequest): Counted
}

/** The request that a model cannot explain, whatever the order inside the intervals. */
export interface Contradiction {
  readonly request: LimitedRequest
  readonly kind: 'should-be-rejected' | 'should-be-admitted'
}

/** An request on its way through a model. */
export interface Step {
  readonly request: LimitedRequest
  /** As the client saw it: what ended before another began was decided before it. */
  readonly from: number
  readonly to: number
  /** Widened by the tolerance: where it lies among the service's windows. */
  readonly a: number
  readonly b: number
  readonly counted: Counted
}

/** The course as every model reads it; both lists hold the same steps. */
export interface Steps {
  readonly byStart: readonly Step[]
  readonly byEnd: readonly Step[]
  /** Before this, nothing of the course was decided. */
  readonly startUs: number
  /** By this, its first decision had fallen: what came before the course came before this. */
  readonly openedUs: number
}

/** @param widenUs on top of the tolerance, for models whose phase is searched on a grid */
export function stepsOf(course: Course, widenUs: number, rejected?: Counted): Steps {
  const margin = course.toleranceUs + widenUs
  const byStart = course.requests.map((request) => ({
    request,
    from: request.fromUs,
    to: request.untilUs,
    a: request.fromUs - margin,
    b: request.untilUs + margin,
    counted:
      rejected !== undefined && request.decision === 'rejected'
        ? rejected
        : course.counted(request),
  }))
  const byEnd = [...byStart].sort((x, y) => x.b - y.b)
  return { byStart, byEnd, startUs: byStart[0]?.a ?? 0, openedUs: byEnd[0]?.b ?? 0 }
}

/** Whether a success, which the limiter let in, is what this step was. */
export function isAdmitted(step: Step): boolean {
  return step.request.decision === 'admitted'
}

export function isRejected(step: Step): boolean {
  return step.request.decision === 'rejected'
}
