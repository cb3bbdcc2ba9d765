import { Series } from '../../measure/interval/series.ts'
import { columnOf, cutOf } from '../../measure/measures.ts'
import { bySecondSql } from '../../measure/rates.ts'
import { type Ordered, readOrdered } from '../../store/read/ordered.ts'
import type { Session } from '../../store/session/session.ts'
import type { RunPart } from '../summary/shape.ts'

export const sampledMetrics = ['service', 'response', 'ttft', 'tpot'] as const
export type SampledMetric = (typeof sampledMetrics)[number]

/** Samples of one group of attempts, in the order of their planned sends. */
export interface Samples {
  /** Microseconds: successes, and timeouts at their deadline. Null without any. */
  readonly metrics: Readonly<Record<SampledMetric, Series | null>>
  /** 1 for each request that was sent and failed, 0 for each other one that was sent. */
  readonly failed: Uint8Array
  /** Successes, and their output tokens, per whole second of the steady part (`measure/rates.ts`). */
  readonly okBySecond: Float64Array
  readonly tokensBySecond: Float64Array
}

export interface Group {
  readonly runId: string
  /** Null for all steps. */
  readonly step: string | null
  readonly part: RunPart
  /** SQL of a further condition. */
  readonly only?: string
}

export async function readSamples(session: Session, group: Group): Promise<Samples> {
  const { runId, step, part, only = 'true' } = group
  const chosen = `(FROM attempt_values WHERE run_id = $1 AND ($2 IS NULL OR step = $2)
    ${part === 'steady' ? `AND part = 'steady'` : ''} AND ${only})`
  const parameters = [runId, step]
  const columns = [
    ...sampledMetrics.map((metric) => ({ value: columnOf(metric), cut: cutOf(metric) })),
    { value: 'CASE WHEN was_sent THEN failed::INTEGER END', cut: null },
  ]
  const ordered = await readOrdered(session, chosen, columns, parameters)
  const [ok, tokens] = await session.doubles(
    bySecondSql(chosen, { ok: `count(*) FILTER (outcome = 'ok')`, tokens: 'sum(output_tokens)' }),
    parameters,
  )
  const seriesOf = ({ values, isCut }: Ordered) =>
    values.length === 0 ? null : new Series(values, isCut)
  const [service, response, ttft, tpot, failed] = ordered
  return {
    metrics: {
      service: seriesOf(service!),
      response: seriesOf(response!),
      ttft: seriesOf(ttft!),
      tpot: seriesOf(tpot!),
    },
    failed: Uint8Array.from(failed!.values),
    okBySecond: ok ?? new Float64Array(),
    tokensBySecond: tokens ?? new Float64Array(),
  }
}
