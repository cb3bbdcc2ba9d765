import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../src/run/run.ts'
import { startNullServer } from '../src/run/self-test/null-server.ts'
import { parseScenario } from '../src/scenario/parse.ts'
import { openStore } from '../src/store/session/open.ts'

/** The first three seconds of a load beside each other, against a server that a run before has warmed. */
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
       round(quantile_cont(lag_us, 0.99)) AS lag_p99_us, round(quantile_cont(response_us, 0.5)) AS response_p50_us,
       round(quantile_cont(response_us, 0.99)) AS response_p99_us
     FROM attempt_times GROUP BY ALL ORDER BY 1`,
  )
  store.close()
  process.stdout.write(`${rows.map((row) => JSON.stringify(row)).join('\n')}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
  server.close()
}
