import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../src/run/run.ts'
import { startNullServer } from '../src/run/self-test/null-server.ts'
import { parseScenario } from '../src/scenario/parse.ts'
import { openStore } from '../src/store/session/open.ts'

/** How far response time is from service time by default, at each of some rates a second. */
const rates = process.argv.length > 2 ? process.argv.slice(2) : ['20', '100', '300', '1000', '2000']
const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
const server = await startNullServer(16)
process.stdout.write('rate/s   response p50   service p50   between (ms)\n')
for (const rate of rates) {
  const dbPath = join(folder, `${rate}.duckdb`)
  const scenario = parseScenario(
    `
name: pace
question: How late do requests leave?
model: svc-k2
steps: { chat: { endpoint: chat, max_tokens: 16 } }
phases:
  - { name: warm, part: warmup, load: poisson, rate: ${rate}/s, duration: 1s }
  - { name: steady, load: poisson, rate: ${rate}/s, duration: 5s }
`,
    'pace.yaml',
  )
  await run(scenario, { baseUrl: server.baseUrl, dbPath, keys: { default: 'bench' } })
  const store = await openStore(dbPath)
  const [row] = await store.rows<{ response: number; service: number }>(
    `SELECT quantile_cont(response_us, 0.5) / 1000 AS response, quantile_cont(service_us, 0.5) / 1000 AS service
     FROM attempt_times WHERE part = 'steady'`,
  )
  store.close()
  const { response, service } = row!
  const figures = [response, service, response - service].map((ms) => ms.toFixed(3).padStart(12))
  process.stdout.write(`${rate.padStart(6)}${figures.join('  ')}\n`)
}
server.close()
rmSync(folder, { recursive: true, force: true })
