import { sharedTemplateSql } from '../../attempt/evidence.ts'
import { headerLines } from '../../attempt/header-lines.ts'
import type { Reader } from '../../store/session/session.ts'
import type { Usage } from '../../tokens/usage.ts'
import type { Finding, Witness } from '../verdict.ts'

/** The counts of a usage above 0 in words: `14 input_uncached, 5 output_visible`; `0 tokens` without any. */
export function evidenceOfUsage(usage: Usage | null): string | null {
  if (usage === null) return null
  const counts = Object.entries(usage.parts).filter(([, count]) => count !== null && count !== 0)
  return counts.length === 0 ? '0 tokens' : counts.map(([part, n]) => `${n} ${part}`).join(', ')
}

interface Row {
  readonly runId: string
  readonly slot: number
  readonly retry: number
  readonly atMs: number | null
  readonly endpoint: string | null
  readonly path: string | null
  readonly model: string | null
  readonly status: number | null
  readonly responseId: string | null
  readonly headers: string | null
  readonly asked: string | null
  readonly input: number | null
  readonly cached: number | null
  readonly output: number | null
}

/** Headers in which services name a request, in lower case. */
const idHeaders = [
  ...['x-request-id', 'request-id', 'x-litellm-call-id', 'x-oneapi-request-id', 'cf-ray'],
  ...['x-amzn-requestid', 'apim-request-id', 'x-correlation-id', 'x-generation-id'],
]

/** Adds to each witness what its service knows the request by: time, ids, model, status, tokens. One query for all findings. */
export async function withServiceSide(
  store: Reader,
  findings: readonly Finding[],
): Promise<readonly Finding[]> {
  const witnesses = findings.flatMap(({ verdict }) =>
    'witnesses' in verdict ? (verdict.witnesses ?? []) : [],
  )
  if (witnesses.length === 0) return findings
  const wanted = JSON.stringify(witnesses.map(({ runId, slot, retry }) => ({ runId, slot, retry })))
  const rows = await store.rows<Row>(
    `WITH wanted AS (
       SELECT DISTINCT * FROM (SELECT unnest(
         from_json($1, '[{"runId": "VARCHAR", "slot": "BIGINT", "retry": "INTEGER"}]'), recursive := true)))
     SELECT attempts.run_id AS "runId", attempts.slot::DOUBLE AS slot, attempts.retry AS retry,
       epoch_us(started_at) / 1000 + sent_us * time_scale / 1000 AS "atMs", endpoint, path,
       coalesce(attempts.model, response_model) AS model, status, response_id AS "responseId",
       bodies.headers AS headers,
       CASE WHEN NOT ${sharedTemplateSql}
            THEN 'SHA-256 ' || sha256(templates.body) || ', ' || strlen(templates.body) || ' bytes' END AS asked,
       prompt_tokens::DOUBLE AS input, cached_tokens::DOUBLE AS cached, completion_tokens::DOUBLE AS output
     FROM wanted
       JOIN attempts ON attempts.run_id = "runId" AND attempts.slot = wanted.slot AND attempts.retry = wanted.retry
       JOIN runs ON runs.run_id = attempts.run_id
       LEFT JOIN bodies ON bodies.run_id = attempts.run_id AND bodies.slot = attempts.slot
         AND bodies.retry = attempts.retry
       LEFT JOIN templates ON templates.run_id = attempts.run_id AND templates.template = attempts.template`,
    [wanted],
  )
  const byPlace = new Map(rows.map((row) => [placeKey(row), row]))
  const extended = (witness: Witness): Witness => {
    const row = byPlace.get(placeKey(witness))
    return row === undefined ? witness : { ...witness, service: sideOf(row, witness.service) }
  }
  return findings.map((finding) => {
    const { verdict } = finding
    if (verdict.verdict === 'fail') {
      const [first, ...rest] = verdict.witnesses
      return {
        ...finding,
        verdict: { ...verdict, witnesses: [extended(first), ...rest.map(extended)] as const },
      }
    }
    if (verdict.verdict !== 'inconclusive' || verdict.witnesses === undefined) return finding
    return { ...finding, verdict: { ...verdict, witnesses: verdict.witnesses.map(extended) } }
  })
}

const placeKey = ({ runId, slot, retry }: Pick<Row, 'runId' | 'slot' | 'retry'>) =>
  `${runId} ${slot} ${retry}`

function sideOf(row: Row, known: Witness['service']): NonNullable<Witness['service']> {
  const { responseId, atMs, status, input, cached, output } = row
  const ids = [...idsIn(row.headers), ...(responseId === null ? [] : [responseId])]
  const read = cached === null ? '' : ` (${cached} cached)`
  return {
    at: atMs === null ? null : new Date(Math.round(atMs)).toISOString(),
    ids: [...new Set(ids)],
    endpoint: row.path ?? row.endpoint,
    model: row.model,
    status,
    asked: row.asked,
    usage:
      input === null && output === null ? null : `${input ?? '?'} in${read}, ${output ?? '?'} out`,
    ...(known?.unit === undefined ? {} : { unit: known.unit }),
    ...(known?.difference === undefined ? {} : { difference: known.difference }),
    answered: known?.answered ?? null,
    logged: known?.logged ?? null,
    expected: known?.expected ?? null,
    formula: known?.formula ?? null,
  }
}

function idsIn(headers: string | null): readonly string[] {
  const lines = headerLines(headers)
  return idHeaders.flatMap((name) => lines.flatMap(([header, id]) => (header === name ? [id] : [])))
}
