import type { LimitedRequest } from '../limited-request.ts'

/**
 * Limiters that satisfy a promise of "N requests per window" W.
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

/** Whether a request counts toward the limit. */
export type Counted = 'yes' | 'no' | 'maybe'

/** The requests of one key within one band, which a model has to explain. */
export interface LimiterTrace {
  /** By start. */
  readonly requests: readonly LimitedRequest[]
  /** N. */
  readonly limit: number
  /** W, in microseconds of the service's time. */
  readonly windowUs: number
  /** Requests counted before the trace began, at most; Infinity if unknown. */
  readonly earlierAtMost: number
  /** Error of clocks and timers, on each side of an interval. */
  readonly toleranceUs: number
  /** Bounds of an edge of the clock's windows, on the clock of the requests; null if unknown. */
  readonly edge: { readonly lowUs: number; readonly highUs: number } | null
  counted(request: LimitedRequest): Counted
}

/** A request that a model cannot explain under any order within the intervals. */
export interface Contradiction {
  readonly request: LimitedRequest
  readonly kind: 'should-be-rejected' | 'should-be-admitted'
}

export interface Step {
  readonly request: LimitedRequest
  /** Interval of the decision on the client's clock, which orders requests that do not overlap. */
  readonly sentUs: number
  readonly endedUs: number
  /** The same interval widened by the tolerance, to compare with the service's windows. */
  readonly earliestUs: number
  readonly latestUs: number
  readonly counted: Counted
}

/** The steps of a trace; both lists hold the same steps. */
export interface Steps {
  readonly byStart: readonly Step[]
  readonly byEnd: readonly Step[]
  /** No request of the trace was decided before this. */
  readonly startUs: number
  /** The first decision of the trace was made by this; earlier requests were decided before it. */
  readonly openedUs: number
}

/**
 * @param widenUs added to the tolerance, for models whose phase is searched on a grid
 * @param rejected whether rejections count; absent if the trace decides
 */
export function stepsOf(trace: LimiterTrace, widenUs: number, rejected?: Counted): Steps {
  const margin = trace.toleranceUs + widenUs
  const byStart = trace.requests.map((request) => ({
    request,
    sentUs: request.fromUs,
    endedUs: request.untilUs,
    earliestUs: request.fromUs - margin,
    latestUs: request.untilUs + margin,
    counted:
      rejected !== undefined && request.decision === 'rejected' ? rejected : trace.counted(request),
  }))
  const byEnd = [...byStart].sort((x, y) => x.latestUs - y.latestUs)
  return { byStart, byEnd, startUs: byStart[0]?.earliestUs ?? 0, openedUs: byEnd[0]?.latestUs ?? 0 }
}

export const isAdmitted = (step: Step): boolean => step.request.decision === 'admitted'

export const isRejected = (step: Step): boolean => step.request.decision === 'rejected'
