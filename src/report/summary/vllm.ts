import { generatesSql } from '../../contract/request.ts'
import type { Reader } from '../../store/session/session.ts'
import type { RunSummary } from './shape.ts'

interface Three {
  readonly mean: number | null
  readonly median: number | null
  readonly p99: number | null
}

export interface VllmFigures {
  readonly completed: number
  readonly failed: number
  readonly durationS: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly ttft: Three
  readonly tpot: Three
  readonly e2el: Three
}

/**
 * The figures of a run by the definitions of `vllm bench serve` (`foreignMeasures`). The first token is the first
 * event of a stream, even an empty one. Failures count only in their number.
 */
export async function vllmFigures(store: Reader, runId: string): Promise<VllmFigures> {
  const three = (value: string) =>
    `{mean: avg(${value}), median: quantile_cont(${value}, 0.5), p99: quantile_cont(${value}, 0.99)}`
  const [figures] = await store.rows<VllmFigures>(
    `SELECT count(*) FILTER (succeeded) AS completed, count(*) FILTER (NOT succeeded) AS failed,
       (max(closed_us) - min(sent_us)) / 1e6 AS "durationS",
       coalesce(sum(prompt_tokens) FILTER (succeeded), 0)::DOUBLE AS "inputTokens",
       coalesce(sum(output_tokens), 0)::DOUBLE AS "outputTokens",
       ${three('event_ttft_us::DOUBLE')} AS ttft, ${three('tail_tpot_us::DOUBLE')} AS tpot,
       ${three('CASE WHEN succeeded THEN service_us::DOUBLE END')} AS e2el
     FROM attempt_values
     WHERE run_id = $1 AND counted AND ${generatesSql} AND was_sent`,
    [runId],
  )
  return figures!
}

/** The result block of `vllm bench serve`, in its layout. Unmeasured values are `nan`, never 0.00. */
export function vllmBlock(figures: VllmFigures, summary: RunSummary): string {
  const { durationS } = figures
  const line = (label: string, value: string) => `${label.padEnd(40)} ${value.padEnd(10)}`
  const count = (label: string, value: number) => line(label, String(value))
  const two = (value: number | null) =>
    value === null || !Number.isFinite(value) ? 'nan' : value.toFixed(2)
  const perS = (value: number) => (durationS > 0 ? value / durationS : null)
  const section = (title: string, name: string, { mean, median, p99 }: Three) => [
    centred(title, '-'),
    ...(
      [
        ['Mean', mean],
        ['Median', median],
        ['P99', p99],
      ] as const
    ).map(([which, us]) => line(`${which} ${name} (ms):`, two(us === null ? null : us / 1000))),
  ]
  const { itl } = summary.all.metrics
  return `${[
    centred(' Serving Benchmark Result ', '='),
    count('Successful requests:', figures.completed),
    count('Failed requests:', figures.failed),
    line('Benchmark duration (s):', two(durationS)),
    count('Total input tokens:', figures.inputTokens),
    count('Total generated tokens:', figures.outputTokens),
    line('Request throughput (req/s):', two(perS(figures.completed))),
    line('Output token throughput (tok/s):', two(perS(figures.outputTokens))),
    line('Total token throughput (tok/s):', two(perS(figures.inputTokens + figures.outputTokens))),
    ...section('Time to First Token', 'TTFT', figures.ttft),
    ...section('Time per Output Token (excl. 1st token)', 'TPOT', figures.tpot),
    ...section('Inter-token Latency', 'ITL', {
      mean: itl.meanUs,
      median: itl.p50.us,
      p99: itl.p99.us,
    }),
    ...section('End-to-end Latency', 'E2EL', figures.e2el),
    '='.repeat(50),
  ].join('\n')}\n`
}

/** Python's `center`, 50 wide: the odd character goes to the right. */
function centred(text: string, sign: string): string {
  const room = 50 - text.length
  return sign.repeat(Math.floor(room / 2)) + text + sign.repeat(Math.ceil(room / 2))
}
