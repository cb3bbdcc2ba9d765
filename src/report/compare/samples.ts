import { columnOf } from '../../measure/measures.ts'
import { steadySql } from '../../measure/rates.ts'
import type { Session } from '../../store/session.ts'
import type { RunPart } from '../summary/shape.ts'

export const sampledMetrics = ['service', 'response', 'ttft', 'tpot'] as const
export type SampledMetric = (typeof sampledMetrics)[number]

/** Samples of one group of attempts. */
export interface Samples {
  /** Microseconds, ascending: successes, and timeouts at their deadline. */
  readonly metrics: Readonly<Record<SampledMetric, Float64Array>>
  /** Successes, and their output tokens, per whole second of the steady part (`measure/rates.ts`). */
  readonly okBySecond: Float64Array
  readonly tokensBySecond: Float64Array
}

/** Reads the samples of a run; with a null step, of all steps. */
export async function readSamples(
  store: Session,
  runId: string,
  step: string | null,
  part: RunPart,
): Promise<Samples> {
  const chosen = `FROM attempt_values WHERE run_id = $1 AND ($2 IS NULL OR step = $2)
    ${part === 'steady' ? `AND part = 'steady'` : ''}`
  const parameters = [runId, step]
  const lists = sampledMetrics.map((metric) => {
    const value = `${columnOf(metric)}::DOUBLE`
    return `list(${value} ORDER BY ${value}) FILTER (${value} IS NOT NULL) AS ${metric}`
  })
  const [row] = await store.rows<Record<SampledMetric, readonly number[] | null>>(
    `SELECT ${lists.join(', ')} ${chosen}`,
    parameters,
  )
  const seconds = await store.rows<{ ok: number; tokens: number }>(
    `WITH chosen AS (SELECT * ${chosen}),
     steady AS (FROM ${steadySql({ from: 'chosen', offsetUs: '0', bySteps: false })}),
     seconds AS (SELECT unnest(range(0, floor(seconds)::BIGINT)) AS second, from_us FROM steady)
     SELECT count(*) FILTER (WHERE outcome = 'ok') AS ok,
       coalesce(sum(output_tokens), 0)::DOUBLE AS tokens
     FROM seconds LEFT JOIN chosen ON floor((closed_us - from_us) / 1e6) = second
     GROUP BY second ORDER BY second`,
    parameters,
  )
  return {
    metrics: Object.fromEntries(
      sampledMetrics.map((metric) => [metric, Float64Array.from(row![metric] ?? [])]),
    ) as unknown as Record<SampledMetric, Float64Array>,
    okBySecond: Float64Array.from(seconds, (second) => second.ok),
    tokensBySecond: Float64Array.from(seconds, (second) => second.tokens),
  }
}
