import { sharedTemplateSql } from '../../../attempt/evidence.ts'
import { severalPassesSql, tokenColumnsSql } from '../../../price/attempts/column-usage.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { readPackedBodies } from '../../../store/attempts/packed-bodies.ts'
import type { Evidence } from '../../rule.ts'
import { idempotencyKeySql } from '../billing/load.ts'
import { oncePerEvidence } from '../once.ts'
import { headersOf } from './answer-head.ts'
import { parseWritten } from './answer-json.ts'
import { withReplays } from './replays.ts'
import { documentsOf, requestOf } from './request-row.ts'
import { unreadableIn } from './stated-costs.ts'
import type { Row } from './stored-row.ts'
import type { UnreadableCost } from './unreadable.ts'

/** An answer of an endpoint that shows money, such as a balance, a spend or a log. */
export interface MoneyPage {
  readonly path: string
  readonly account: string
  /** The value was read between these, on the service's clock. */
  readonly fromMs: number
  readonly untilMs: number
  readonly body: unknown
  readonly request: PricedRequest
}

export interface PriceRequests {
  readonly requests: readonly PricedRequest[]
  /** Reads of the service's own pages. */
  readonly pages: readonly MoneyPage[]
  /** Costs in answers that are no number. */
  readonly unreadable: readonly UnreadableCost[]
  /** Refusals with their text, which may name a counter. */
  readonly refusals: readonly { readonly request: PricedRequest; readonly text: string }[]
}

/** Most requests whose answers are read. */
const mostRequests = 200_000

/** The requests of the audited runs with what their answers show of money. */
export const priceRequests = oncePerEvidence(load)

async function load(evidence: Evidence): Promise<PriceRequests> {
  const { contract } = evidence
  const { prices } = contract
  const requests: PricedRequest[] = []
  const pages: MoneyPage[] = []
  const refusals: { request: PricedRequest; text: string }[] = []
  const unreadable: UnreadableCost[] = []
  for (const row of prices === undefined ? [] : await storedRows(evidence)) {
    const body = row.truncated === false ? row.responseBody : null
    if (row.model === null && !isPaidPerhaps(row)) {
      const request = requestOf(row, [], contract, prices!)
      const { path, account, startMs: fromMs, endMs: untilMs } = row
      if (body !== null && path !== null)
        pages.push({ path, account, fromMs, untilMs, body: parseWritten(body), request })
      continue
    }
    const texts = body === null ? [] : documentsOf(body)
    const request = requestOf(row, texts, contract, prices!)
    requests.push(request)
    if (row.outcome === 'ok')
      for (const each of unreadableIn(request, texts, headersOf(row.responseHeaders), prices!))
        unreadable.push(each)
    if (row.outcome === 'http_error' && body !== null) refusals.push({ request, text: body })
  }
  return { requests: withReplays(requests), pages, unreadable, refusals }
}

/** The attempts of the audited runs in their order, with what was stored of each answer. */
async function storedRows({ store, runIds }: Evidence): Promise<readonly Row[]> {
  const rows = await store.rows<Row>(
    `SELECT run_id AS "runId", slot::DOUBLE AS slot, retry, endpoint, path, method, streamed, model,
       response_model AS "responseModel", response_id AS "responseId", outcome,
       finish_reason AS "finishReason", content_events AS "contentEvents", done_marks AS "doneMarks",
       epoch_us(started_at) / 1000 + sent_us * time_scale / 1000 AS "startMs",
       epoch_us(started_at) / 1000 + coalesce(CASE WHEN streamed = 1 THEN headers_us END, closed_us, headers_us, sent_us) * time_scale / 1000 AS "headMs",
       epoch_us(started_at) / 1000 + coalesce(closed_us, headers_us, sent_us) * time_scale / 1000 AS "endMs",
       coalesce(account, key_fp, '') AS account, coalesce(key_fp, '') AS key,
       ${tokenColumnsSql}, ${severalPassesSql} AS "severalPasses",
       nullif(${idempotencyKeySql('templates.headers')}, '') AS once,
       templates.body AS "requestBody", md5(coalesce(templates.body, path)) AS prompt,
       ${sharedTemplateSql} AS "isShared",
       bodies.headers AS "responseHeaders", bodies.body AS "responseBody", truncated,
       packed_at AS "packedAt"
     FROM attempts JOIN runs USING (run_id)
       LEFT JOIN bodies USING (run_id, slot, retry)
       LEFT JOIN templates USING (run_id, template)
     WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL
     ORDER BY started_at, sent_us, slot, retry LIMIT ${mostRequests + 1}`,
    [JSON.stringify(runIds)],
  )
  // With a part of them, the rest would look like charges without a request.
  if (rows.length > mostRequests)
    throw new Error(
      `prices are judged over at most ${mostRequests} requests at once; name fewer runs`,
    )
  const packed = readPackedBodies(
    store.path,
    rows.map(({ packedAt }) => packedAt),
  )
  return rows.map((row, at) => ({ ...row, responseBody: row.responseBody ?? packed[at]! }))
}

/**
 * Whether a request that names no model may cost something: it asked the service to do something, and was not refused. Its price
 * is that of its path, if the contract has one, and else unknown.
 */
const isPaidPerhaps = ({ method, outcome }: Row): boolean =>
  method !== null && method !== 'GET' && method !== 'HEAD' && outcome !== 'http_error'
