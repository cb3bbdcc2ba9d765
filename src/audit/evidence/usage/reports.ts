import { fieldsOf, numeric, ofTheWhole, textNamed } from '../../../credits/fields.ts'
import { type SaidCredits, saidIn } from '../../../credits/said.ts'
import { isObject, type JsonObject } from '../../../user/json.ts'
import type { Evidence } from '../../rule.ts'
import { type Exchange, exchangesOf } from '../exchange.ts'
import { type Breakdowns, breakdownsOf } from './buckets.ts'

/** A response of the credits endpoint. */
export interface UsageReport extends Breakdowns, SaidCredits {
  readonly exchange: Exchange
  /** The remaining credits in its own header; null without one. */
  readonly shown: number | null
  /** When the account began, if reported. */
  readonly beganAt: string | null
}

/** All completely captured responses of the credits endpoint, run by run, each in order of time. */
export async function usageReports(evidence: Evidence): Promise<readonly UsageReport[]> {
  const exchanges = await exchangesOf(evidence)
  const names = evidence.contract.headers?.creditsRemaining ?? []
  const reports = exchanges.flatMap((exchange) => {
    const body =
      exchange.row.endpoint === 'credits' && exchange.isOk ? exchange.responseJson : undefined
    return isObject(body) ? [readReport(exchange, body, names)] : []
  })
  // A request that was sent again has an earlier slot than some that were sent before it.
  const ofRuns = Map.groupBy(reports, ({ exchange }) => exchange.row.runId)
  return [...ofRuns.values()].flatMap((ofRun) =>
    ofRun.toSorted((a, b) => a.exchange.row.sentUs - b.exchange.row.sentUs),
  )
}

/** What a body of the credits endpoint says, and the headers of its answer that show the remaining credits. */
export function readReport(
  exchange: Exchange,
  body: JsonObject,
  headers: readonly string[],
): UsageReport {
  const fields = fieldsOf(body)
  return {
    exchange,
    ...saidIn(fields),
    shown: numeric(headers.flatMap((name) => exchange.header(name) ?? [])[0]),
    ...breakdownsOf(fields),
    beganAt: textNamed(
      ofTheWhole(fields),
      /^(?:account_)?(?:created|opened|registered)(?:_at)?$|^member_since$/,
    ),
  }
}
