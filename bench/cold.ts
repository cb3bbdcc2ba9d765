import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startNullServer } from '../src/run/null-server.ts'
import { run } from '../src/run/run.ts'
import { parseScenario } from '../src/scenario/parse.ts'
import { openStore } from '../src/store/open.ts'

/** How the first second of a run differs from the next: its requests meet code that was never run. */
const rate = Number(process.argv[2] ?? 2000)
const server = await startNullServer(16)
const scenario = parseScenario(
  `
name: cold
question: Is the first second like the next?
model: svc-k2
steps:
  chat: { endpoint: chat, max_tokens: 16 }
  stream: { endpoint: chat, stream: true, max_tokens: 16 }
phases:
  - { name: steady, load: constant, rate: ${rate}/s, duration: 3s }
`,
  'cold.yaml',
)
const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
try {
  await run(scenario, {
    baseUrl: server.baseUrl,
    dbPath: join(folder, 'first.duckdb'),
    keys: { default: 'bench' },
  })
  const dbPath = join(folder, 'cold.duckdb')
  await run(scenario, { baseUrl: server.baseUrl, dbPath, keys: { default: 'bench' } })
  const store = await openStore(dbPath)
  const rows = await store.rows(
    `SELECT ((intended_us - (SELECT min(intended_us) FROM attempt_times)) // 1000000)::INTEGER AS second,
       round(quantile_cont(lag_us, 0.99)) AS lag_p99, round(max(lag_us)) AS lag_max,
       round(quantile_cont(response_us, 0.5)) AS p50, round(quantile_cont(response_us, 0.95)) AS p95, round(quantile_cont(response_us, 0.99)) AS p99
     FROM attempt_times GROUP BY ALL ORDER BY 1`,
  )
  store.close()
  process.stdout.write(
    `${rows.map((row) => JSON.stringify(row)).join('\n')}\ncpu ms ${Math.round(process.cpuUsage().user / 1000)}\n`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
  server.close()
}
