import { createHash } from 'node:crypto'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { began, ended } from '../measure/row-sql.ts'
import type { Reader } from '../store/session/session.ts'
import { errorSql, names, operationSql } from './conventions.ts'
import { type DescribedRun, hrTime } from './described.ts'

/** Of the library's enumerations, which are numbers, so that it is loaded only to send. */
const client = 2
const sampled = 1
const status = { unset: 0, error: 2 } as const

/** Rows that are read at once. */
const rowsOfPage = 10_000

interface Row {
  readonly slot: number
  readonly retry: number
  readonly session: number | null
  readonly operation: string
  readonly fromUs: number
  readonly toUs: number
  readonly error: string | null
  readonly expectsOk: boolean
  readonly firstUs: number | null
  readonly step: string
  readonly part: string
  readonly task: string | null
  readonly turn: string | null
  readonly model: string | null
  readonly status: number | null
  readonly streamed: number
  readonly responseModel: string | null
  readonly responseId: string | null
  readonly finishReason: string | null
  readonly promptTokens: number | null
  readonly cachedTokens: number | null
  readonly completionTokens: number | null
  readonly reasoningTokens: number | null
  readonly maxTokens: number | null
}

export type RunSpan = Omit<ReadableSpan, 'resource'>

/**
 * A span for each attempt that was sent, in pages. Ids follow from the run and the request, so that a second export
 * sends the same spans. The attempts of a conversation or a task are one trace.
 */
export async function* spansOf(
  store: Reader,
  run: DescribedRun,
): AsyncGenerator<readonly RunSpan[]> {
  let [slot, retry] = [-1, -1]
  for (;;) {
    const rows = await store.rows<Row>(
      `SELECT slot::DOUBLE AS slot, retry::DOUBLE AS retry, session::DOUBLE AS session, ${operationSql} AS operation,
         (${began})::DOUBLE AS "fromUs",
         coalesce(${ended}, ${began})::DOUBLE AS "toUs",
         ${errorSql} AS error, expects = 'ok' AS "expectsOk", first_content_us::DOUBLE AS "firstUs",
         attempts.step AS step, part, task, task_turn AS turn, model, status::DOUBLE AS status,
         streamed::DOUBLE AS streamed, response_model AS "responseModel", response_id AS "responseId",
         finish_reason AS "finishReason", prompt_tokens::DOUBLE AS "promptTokens",
         cached_tokens::DOUBLE AS "cachedTokens", completion_tokens::DOUBLE AS "completionTokens",
         reasoning_tokens::DOUBLE AS "reasoningTokens", max_tokens::DOUBLE AS "maxTokens"
       FROM attempts LEFT JOIN templates USING (run_id, template)
       WHERE run_id = $1 AND outcome <> 'not_sent' AND coalesce(sent_us, dispatched_us) IS NOT NULL
         AND (${operationSql}) IS NOT NULL AND (slot > $2 OR (slot = $2 AND retry > $3))
       ORDER BY slot, retry LIMIT ${rowsOfPage}`,
      [run.runId, slot, retry],
    )
    if (rows.length === 0) return
    yield rows.map((row) => spanOf(row, run))
    const last = rows.at(-1)!
    slot = last.slot
    retry = last.retry
  }
}

function spanOf(row: Row, run: DescribedRun): RunSpan {
  const { fromUs, toUs, firstUs, error } = row
  const group = row.session === null ? `slot ${row.slot}` : `session ${row.session}`
  const context = {
    traceId: idOf(32, run.runId, group),
    spanId: idOf(16, run.runId, row.slot, row.retry),
    traceFlags: sampled,
  }
  const { wordOf } = run
  const word = (text: string | null) => (text === null ? null : wordOf(text))
  const model = word(row.model)
  const isFailure = error !== null && row.expectsOk
  return {
    name: model === null ? row.operation : `${row.operation} ${model}`,
    kind: client,
    spanContext: () => context,
    startTime: hrTime(run.zeroUs + fromUs),
    endTime: hrTime(run.zeroUs + toUs),
    duration: hrTime(toUs - fromUs),
    status: { code: isFailure ? status.error : status.unset },
    attributes: known({
      ...run.target,
      [names.operation]: row.operation,
      [names.model]: model,
      [names.maxTokens]: row.maxTokens,
      [names.stream]: row.streamed === 1,
      [names.responseModel]: word(row.responseModel),
      [names.responseId]: word(row.responseId),
      [names.finishReasons]: row.finishReason === null ? null : [wordOf(row.finishReason)],
      [names.firstChunk]: row.streamed === 1 && firstUs !== null ? (firstUs - fromUs) / 1e6 : null,
      [names.inputTokens]: row.promptTokens,
      [names.outputTokens]: row.completionTokens,
      [names.cacheRead]: row.cachedTokens,
      [names.reasoning]: row.reasoningTokens,
      [names.conversation]: row.session === null ? null : `${run.runId}/${row.session}`,
      [names.error]: word(error),
      [names.status]: row.status,
      'assay.step': wordOf(row.step),
      'assay.part': row.part,
      'assay.retry': row.retry,
      'assay.task': word(row.task),
      'assay.task.turn': word(row.turn),
    }),
    links: [],
    events: [],
    ended: true,
    instrumentationScope: run.scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

type Value = string | number | boolean | string[]

/** Without what is not known. */
function known(attributes: Readonly<Record<string, Value | null>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, Value] => entry[1] !== null),
  )
}

/** @param digits hexadecimal */
const idOf = (digits: number, ...parts: readonly unknown[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, digits)
