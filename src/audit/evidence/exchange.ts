import { flags } from '../../attempt/flags.ts'
import type { Outcome } from '../../attempt/outcome.ts'
import type { Endpoint } from '../../contract/request.ts'
import { readPackedBodies } from '../../store/attempts/packed-bodies.ts'
import { isObject, type Json, jsonOf } from '../../user/json.ts'
import type { Evidence } from '../rule.ts'
import { type Witness, witnessAt } from '../verdict.ts'
import { decodeEvents, type StreamEvents } from './events.ts'
import { oncePerEvidence } from './once.ts'

/** A row with its request and response, as far as captured. */
export interface ExchangeRow {
  readonly runId: string
  readonly slot: number
  readonly retry: number
  readonly endpoint: Endpoint
  readonly streamed: number
  readonly model: string | null
  readonly expects: string
  readonly account: string | null
  readonly keyFp: string | null
  readonly sentUs: number
  readonly closedUs: number | null
  readonly outcome: Outcome
  readonly reason: string | null
  readonly status: number | null
  readonly errorCode: string | null
  readonly errorType: string | null
  readonly finishReason: string | null
  readonly choices: number | null
  readonly firstContentUs: number | null
  readonly lastContentUs: number | null
  readonly promptTokens: number | null
  readonly cachedTokens: number | null
  readonly completionTokens: number | null
  readonly doneMarks: number
  readonly flags: number
  readonly method: string | null
  readonly path: string | null
  readonly requestHeaders: string | null
  readonly template: number | null
  /** Null where each request of a template has a prompt of its own, of which `requestBody` is the first. */
  readonly promptHash: string | null
  readonly requestBody: string | null
  readonly responseHeaders: string | null
  readonly responseBody: string | null
  readonly truncated: boolean | null
}

export class Exchange {
  readonly row: ExchangeRow
  private parsedRequest: Json | undefined | null = null
  private parsedResponse: Json | undefined | null = null
  private parsedEvents: StreamEvents | null = null

  constructor(row: ExchangeRow) {
    this.row = row
  }

  /** The request's body; undefined if it is missing or not JSON. */
  get requestJson(): Json | undefined {
    if (this.parsedRequest === null) this.parsedRequest = parse(this.row.requestBody)
    return this.parsedRequest
  }

  /** A field of the request; undefined if absent. */
  requestField(field: string): Json | undefined {
    return isObject(this.requestJson) ? this.requestJson[field] : undefined
  }

  /** The body of a plain response; undefined if it was not captured completely or is not JSON. */
  get responseJson(): Json | undefined {
    if (this.parsedResponse === null)
      this.parsedResponse = this.isWhole ? parse(this.row.responseBody) : undefined
    return this.parsedResponse
  }

  /** The events of a streamed response; null if it was not captured completely. */
  get events(): StreamEvents | null {
    if (!this.isWhole || !this.isStream) return null
    this.parsedEvents ??= decodeEvents(this.row.responseBody ?? '')
    return this.parsedEvents
  }

  /** Whether the whole body was captured. */
  get isWhole(): boolean {
    return this.row.responseBody !== null && this.row.truncated === false
  }

  get isOk(): boolean {
    return this.row.outcome === 'ok'
  }

  /** Whether the response declared itself a stream. */
  get isStream(): boolean {
    return (this.row.flags & flags.sseType) !== 0
  }

  /** A header of the response; undefined if it is absent or nothing was captured. */
  header(name: string): string | undefined {
    const start = `${name}:`
    const line = this.row.responseHeaders
      ?.split('\n')
      .find((each) => each.toLowerCase().startsWith(start))
    return line?.slice(start.length).trim()
  }

  /** The members of a header that is a list, in lower case. Several lines of it are one list (RFC 9110, 5.3). */
  headerList(name: string): readonly string[] {
    const start = `${name}:`
    const lines = (this.row.responseHeaders ?? '').toLowerCase().split('\n')
    return lines
      .filter((line) => line.startsWith(start))
      .flatMap((line) => line.slice(start.length).split(','))
      .map((member) => member.trim())
      .filter((member) => member !== '')
  }
}

/** The first few of these, as witnesses. */
export const firstShown = <Each extends { readonly exchange: Exchange }>(
  all: readonly Each[],
  shows: (each: Each) => string,
): readonly Witness[] => all.slice(0, 5).map((each) => shownBy(each.exchange, shows(each)))

export const shownBy = ({ row }: Exchange, shows: string): Witness => witnessAt(row, shows)

/** A sample: at most two hundred per template, outcome, status and error code, those with bodies first, 50,000 in all. */
export const exchangesOf = oncePerEvidence(load, ({ runIds }) => runIds)

async function load({ store, runIds }: Evidence): Promise<readonly Exchange[]> {
  const rows = await store.rows<ExchangeRow & { readonly packedAt: number | null }>(
    `WITH captured AS (SELECT run_id, slot, retry, true AS whole FROM bodies),
       -- The least of each group, not their numbers in order: nothing sorts all attempts.
       least AS (
         SELECT run_id, unnest(min({bare: whole IS NULL, slot: slot, retry: retry}, 200)) AS least
         FROM attempts LEFT JOIN captured USING (run_id, slot, retry)
         WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL
         GROUP BY run_id, template, outcome, status, error_code),
       chosen AS (SELECT run_id, least.slot AS slot, least.retry AS retry FROM least)
     SELECT run_id AS "runId", slot, retry, endpoint, streamed, model, expects, account, key_fp AS "keyFp",
       sent_us AS "sentUs", closed_us AS "closedUs", outcome, reason, status,
       error_code AS "errorCode", error_type AS "errorType", finish_reason AS "finishReason",
       choices, first_content_us AS "firstContentUs",
       last_content_us AS "lastContentUs", cached_tokens AS "cachedTokens", prompt_hash AS "promptHash", attempts.template AS template,
       prompt_tokens AS "promptTokens", completion_tokens AS "completionTokens",
       done_marks AS "doneMarks", flags, method, path, templates.headers AS "requestHeaders",
       templates.body AS "requestBody", bodies.headers AS "responseHeaders",
       bodies.body AS "responseBody", truncated, packed_at AS "packedAt"
     FROM attempts JOIN chosen USING (run_id, slot, retry)
       LEFT JOIN bodies USING (run_id, slot, retry)
       LEFT JOIN templates USING (run_id, template)
     -- A killed run may have lost the template of a row, whose request is then unknown.
     WHERE attempts.template IS NULL OR method IS NOT NULL
     ORDER BY run_id, slot, retry LIMIT 50000`,
    [JSON.stringify(runIds)],
  )
  const packed = readPackedBodies(
    store.path,
    rows.map(({ packedAt }) => packedAt),
  )
  return rows.map(
    (row, at) => new Exchange({ ...row, responseBody: row.responseBody ?? packed[at]! }),
  )
}

const parse = (text: string | null): Json | undefined => (text === null ? undefined : jsonOf(text))
