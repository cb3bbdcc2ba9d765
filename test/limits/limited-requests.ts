import type { LimitedRequest } from '../../src/limits/limited-request.ts'

/** A chat success of one key, decided between two times, by default. */
export function arrivalOf(
  slot: number,
  fromUs: number,
  untilUs: number,
  change: Partial<LimitedRequest> = {},
): LimitedRequest {
  return {
    runId: 'run-1',
    slot,
    retry: 0,
    key: 'key-a',
    account: 'account-a',
    endpoint: 'chat',
    decision: 'admitted',
    status: 200,
    fromUs,
    untilUs,
    closedUs: untilUs,
    costCredits: 1,
    credits: null,
    limit: null,
    remaining: null,
    reset: null,
    dateS: null,
    retryAfterS: null,
    ...change,
  }
}

/** Orders by start, then by end. */
export const byStart = (a: LimitedRequest, b: LimitedRequest): number =>
  a.fromUs - b.fromUs || a.untilUs - b.untilUs
