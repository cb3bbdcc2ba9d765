import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../src/run/run.ts'
import { parseScenario } from '../src/scenario/parse.ts'
import { openStore } from '../src/store/session/open.ts'

/** One open-loop run with everything recorded: how late did requests leave, and what did it cost? */
const [baseUrl, ratePerS, seconds, pacing, seed] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
]
const scenario = parseScenario(
  `
name: lag
question: How late do requests leave?
seed: ${seed}
model: svc-k2
pacing: ${pacing}
capture: none
max_in_flight: 100000
max_connections: 512
steps: { chat: { endpoint: chat, max_tokens: 16 } }
phases:
  - { name: warm-up, part: warmup, load: poisson, rate: ${ratePerS}/s, duration: 3s }
  - { name: steady, load: poisson, rate: ${ratePerS}/s, duration: ${seconds}s }
`,
  'lag.yaml',
)
const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
const dbPath = join(folder, 'lag.duckdb')
const before = { us: 0, cpu: process.cpuUsage() }
let after = before
try {
  const summary = await run(scenario, {
    baseUrl,
    dbPath,
    keys: { default: 'bench' },
    // CPU of all threads of this process, between two reports within the steady phase.
    onProgress: ({ phase, atUs, counts }) => {
      if (phase !== 'steady' || counts.sent === 0) return
      if (before.us === 0) Object.assign(before, { us: atUs, cpu: process.cpuUsage() })
      else after = { us: atUs, cpu: process.cpuUsage() }
    },
  })
  const store = await openStore(dbPath)
  const [lag] = await store.rows<{ p50: number; p99: number; max: number }>(
    `SELECT quantile_cont(lag_us, 0.5) AS p50, quantile_cont(lag_us, 0.99) AS p99, max(lag_us) AS max
     FROM attempt_times WHERE part = 'steady'`,
  )
  store.close()
  const achieved = summary.verdict.tests.find((each) => each.name === 'achieved / planned rate')
  const cpuUs = after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system
  process.stdout.write(
    `${JSON.stringify({
      ...lag,
      achieved: Number(achieved!.figure.split(' ')[0]),
      cores: cpuUs / (after.us - before.us),
      counts: summary.counts,
    })}\n`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
