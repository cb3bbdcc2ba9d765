/**
 * What sending threads share: `node bench/threads.ts [--seconds 5] [--rounds 3]`.
 *
 * One, two and four threads send plain requests flat out over 64 connections, all on one core. What they would
 * share shows as more CPU for each request. One more run of each counts atomic operations and messages.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { apiKey } from './peers/own.ts'
import { markdown, median } from './peers/table.ts'
import { clientCore, cpuSeconds, module, serve, serverCore, timed } from './processes.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
  },
})
const seconds = Number(values.seconds)
const home = mkdtempSync(join(tmpdir(), 'assay-threads-'))
const server = await serve(serverCore, module('./null-server.ts'))

function run(threads: number, ...flags: readonly string[]) {
  const scenario = join(home, 'load.yaml')
  writeFileSync(
    scenario,
    `name: threads
question: What do sending threads share?
model: m
threads: ${threads}
steps: { chat: { endpoint: chat, max_tokens: 16 } }
phases: [{ name: load, load: saturate, connections: 64, duration: ${seconds}s }]
`,
  )
  const db = join(home, 'assay.duckdb')
  rmSync(db, { force: true })
  const program = resolve(import.meta.dirname, '../src/cli/assay.js')
  const url = `http://127.0.0.1:${server.port}`
  const words = ['run', scenario, '--base-url', url, '--db', db, '--json']
  const { stdout, stderr } = spawnSync(
    ...timed(clientCore, [process.execPath, ...flags, program, ...words]),
    { env: { ...process.env, ASSAY_API_KEY: apiKey }, encoding: 'utf8', maxBuffer: 1 << 28 },
  )
  const lines = stdout.trimEnd().split('\n')
  const cpuS = cpuSeconds(lines.at(-1)!)
  const { summary } = JSON.parse(lines.slice(0, -2).join('\n')) as {
    readonly summary: { readonly all: { readonly counts: { readonly ok: number } } }
  }
  return { requests: summary.all.counts.ok, cpuS, stderr }
}

const rows = [1, 2, 4].map((threads) => {
  const timedRuns = Array.from({ length: Number(values.rounds) }, () => run(threads))
  const counting = new URL('./count-shared.ts', import.meta.url).href
  const { requests, stderr } = run(threads, '--import', counting)
  const sum = { atomics: 0, messages: 0, transferredBytes: 0 }
  for (const [, json] of stderr.matchAll(/^counts (.*)$/gm)) {
    const counts = JSON.parse(json!) as typeof sum
    for (const name of ['atomics', 'messages', 'transferredBytes'] as const) {
      sum[name] += counts[name]
    }
  }
  return [
    `${threads}`,
    (median(timedRuns.map((each) => each.requests)) / seconds).toFixed(0),
    median(timedRuns.map((each) => (each.cpuS * 1e6) / each.requests)).toFixed(2),
    (sum.atomics / requests).toFixed(2),
    (sum.messages / requests).toFixed(4),
    (sum.transferredBytes / requests).toFixed(0),
  ]
})
server.stop()
rmSync(home, { recursive: true, force: true })
const measures = ['requests/s', 'CPU us per request']
const counted = ['atomic operations', 'messages', 'bytes handed over'].map((name) => `${name} each`)
process.stdout.write(markdown(['threads', ...measures, ...counted], rows))
