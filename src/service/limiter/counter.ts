/**
 * Counts the requests of one key in one window. It keeps no clock and no limit of its own, because
 * the limit changes with the balance. `nowUs` never falls from one call to the next, and a limit is 1 or more.
 */
export interface Limiter {
  /** Whether one more request fits. Later results do not depend on this call. */
  admits(nowUs: number, limit: number): boolean
  /** Counts a request, admitted or (if the profile counts those) refused. */
  count(nowUs: number, limit: number): void
  /** Requests that would be admitted in a row now. At least zero, at most the limit. */
  remaining(nowUs: number, limit: number): number
  /**
   * When more requests are admitted than now. For windows it is their end, for logs and buckets the
   * next slot. `nowUs` if nothing is counted.
   */
  resetUs(nowUs: number, limit: number): number
  /** A new limiter of the same kind and age with its count multiplied by `factor`. */
  scaled(factor: number): Limiter
}
