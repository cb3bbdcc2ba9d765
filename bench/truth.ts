import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../src/run/run.ts'
import { parseScenario } from '../src/scenario/parse.ts'
import { openStore } from '../src/store/session/open.ts'
import { firstLine, startOn } from './cores.ts'
import { type BenchOptions, type BenchResult, figure } from './result.ts'
import { sweepErrors } from './truth-sweep.ts'

interface Errors {
  readonly ttft50: number
  readonly ttft99: number
  readonly itl50: number
  readonly itl99: number
  readonly p99: number
}

/** TTFT, time between tokens and p99 as measured, against what the service did by its own clock. */
export async function truth({ quick }: BenchOptions): Promise<BenchResult> {
  const server = startOn('0', './truth-server.ts')
  const found: Errors[] = []
  try {
    const { baseUrl } = await firstLine<{ baseUrl: string }>(server)
    for (let round = 0; round < (quick ? 1 : 5); round++) {
      found.push(await measure(baseUrl, round, quick ? 3 : 6))
    }
  } finally {
    server.kill()
  }
  const swept = await sweepErrors(quick ? [1] : [1, 2, 3])
  const under = (bound: number) => ({
    text: `< ${bound} us`,
    meets: (median: number) => median < bound,
  })
  return {
    part: 'truth',
    figures: [
      figure(
        'TTFT error p50',
        'us',
        found.map((each) => each.ttft50),
        under(1000),
      ),
      figure(
        'TTFT error p99',
        'us',
        found.map((each) => each.ttft99),
      ),
      figure(
        'ITL error p50',
        'us',
        found.map((each) => each.itl50),
        under(1000),
      ),
      figure(
        'ITL error p99',
        'us',
        found.map((each) => each.itl99),
      ),
      figure(
        'p99 of service, error',
        '%',
        found.map((each) => each.p99),
        {
          text: '< 1 %',
          meets: (median) => median < 1,
        },
      ),
      figure('sweep, capacity error', '%', swept, {
        text: '< 5 %',
        meets: (median) => median < 5 && Math.max(...swept) < 5,
      }),
    ],
    ratios: {},
    notes: [
      '100 streams a second of 50 tokens, 50 ms to the first and 10 ms between them',
      'sweeps against a queue of one server and 20 ms each, from another rate with each seed',
    ],
  }
}

async function measure(baseUrl: string, seed: number, seconds: number): Promise<Errors> {
  const scenario = parseScenario(
    `
name: truth
question: How far from the truth?
seed: ${seed}
model: svc-k2
capture: none
steps: { chat: { endpoint: chat, stream: true, max_tokens: 50 } }
phases:
  - { name: warm-up, part: warmup, load: poisson, rate: 100/s, duration: 1s }
  - { name: steady, load: poisson, rate: 100/s, duration: ${seconds}s }
`,
    'truth.yaml',
  )
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const dbPath = join(folder, 'truth.duckdb')
  try {
    await run(scenario, { baseUrl, dbPath, keys: { default: 'bench' } })
    const store = await openStore(dbPath)
    // The service tells its own milliseconds in the field of the model: "ttft rest".
    const [row] = await store.rows<Errors>(
      `WITH told AS (
         SELECT ttft_us, service_us, (last_content_us - first_content_us) / 49 AS itl_us,
           split_part(response_model, ' ', 1)::DOUBLE * 1000 AS true_ttft_us,
           split_part(response_model, ' ', 2)::DOUBLE * 1000 AS true_rest_us
         FROM attempt_times WHERE part = 'steady' AND outcome = 'ok')
       SELECT quantile_cont(abs(ttft_us - true_ttft_us), 0.5) AS ttft50,
         quantile_cont(abs(ttft_us - true_ttft_us), 0.99) AS ttft99,
         quantile_cont(abs(itl_us - true_rest_us / 49), 0.5) AS itl50,
         quantile_cont(abs(itl_us - true_rest_us / 49), 0.99) AS itl99,
         abs(quantile_cont(service_us, 0.99) /
             quantile_cont(true_ttft_us + true_rest_us, 0.99) - 1) * 100 AS p99
       FROM told`,
    )
    store.close()
    return row!
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
