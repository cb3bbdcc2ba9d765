import type { AttemptRow } from '../attempt/columns.ts'
import { costOf, type FullContract } from '../contract/contract.ts'
import { type Endpoint, isPromised } from '../contract/request.ts'
import { decisionOf, type LimitedRequest } from '../limits/limited-request.ts'

/** What a limiter may count separately: requests with one key, sent one way, to one route. */
export const routeOf = ({ key, endpoint }: Pick<LimitedRequest, 'key' | 'endpoint'>): string =>
  `${endpoint} ${key}`

/** A recorded attempt as the limiter saw it, in microseconds of the service's time. */
export function limitedRequestOf(
  row: AttemptRow,
  contract: FullContract,
  timeScale: number,
): LimitedRequest {
  const endpoint = row.endpoint as Endpoint
  const decision = decisionOf(row.status, endpoint)
  const charged = isPromised(endpoint) && (decision === 'admitted' || decision === 'unknown')
  return {
    runId: row.runId,
    slot: row.slot,
    retry: row.retry,
    key: row.keyFp ?? '',
    account: row.account ?? '',
    endpoint,
    decision,
    status: row.status,
    fromUs: row.sentUs! * timeScale,
    untilUs: (row.headersUs ?? row.closedUs ?? row.sentUs!) * timeScale,
    closedUs: (row.closedUs ?? row.headersUs ?? row.sentUs!) * timeScale,
    costCredits: charged && row.model !== null ? (costOf(contract, row.model) ?? 1) : 0,
    credits: row.creditsRemaining,
    limit: row.rateLimit,
    remaining: row.rateRemaining,
    reset: row.rateReset,
    dateS: row.dateS,
    retryAfterS: row.retryAfter,
  }
}
