import type { AttemptRow } from '../attempt/columns.ts'
import { costOf, type FullContract } from '../contract/contract.ts'
import { type Endpoint, isPromised } from '../contract/request.ts'
import { decisionOf, type LimitedRequest } from '../limits/limited-request.ts'
import { otherErrors } from '../limits/other-errors.ts'
import { onceForObject } from '../user/once.ts'
import { pricesOf } from './prices.ts'

/** What a limiter may count separately: requests with one key, sent one way, to one route. */
export const routeOf = ({ key, endpoint }: Pick<LimitedRequest, 'key' | 'endpoint'>): string =>
  `${endpoint} ${key}`

const isOtherError = onceForObject(otherErrors)

/** A recorded attempt as the limiter saw it, in microseconds of the service's time. */
export function limitedRequestOf(
  row: AttemptRow,
  contract: FullContract,
  timeScale: number,
): LimitedRequest {
  const endpoint = row.endpoint as Endpoint
  const answered = decisionOf(row.status, endpoint)
  const words = [row.errorCode, row.errorType].flatMap((word) => word ?? [])
  // A 429 for want of credits, or for overload, is none of a limit of requests.
  const isOther = answered === 'rejected' && isOtherError(contract)(words)
  const decision = isOther ? 'refused' : answered
  const charged = isPromised(endpoint) && (decision === 'admitted' || decision === 'unknown')
  // What the contract does not price may cost as much as the dearest model.
  const { most } = pricesOf(contract)
  const price = row.model === null ? most : (costOf(contract, row.model) ?? most)
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
    costCredits: charged ? price : 0,
    credits: row.creditsRemaining,
    limit: row.rateLimit,
    remaining: row.rateRemaining,
    reset: row.rateReset,
    dateS: row.dateS,
    retryAfterS: row.retryAfter,
  }
}
