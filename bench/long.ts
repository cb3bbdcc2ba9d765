/**
 * A run of ten million attempts at the recorder's thread: `node bench/long.ts [millions]`.
 *
 * Batches are replayed as fast as the recorder takes them, each attempt with a slot of its own. Prints
 * the memory of the process at each million, and whether the store's rows add up to what was sent.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import { Batch, batchRows, Dictionary } from '../src/attempt/batch.ts'
import type { AttemptRow } from '../src/attempt/columns.ts'
import { monotonicNs } from '../src/run/clock.ts'
import type {
  FromRecorder,
  FromRecorderControl,
  RecorderData,
  ToRecorder,
} from '../src/run/crew/messages.ts'
import { openStore } from '../src/store/session/open.ts'
import { benchRow } from './bench-row.ts'

/** What a ledger counts, of rows sent and of rows kept. */
interface Sums {
  rows: number
  ok: number
  refused: number
  tokens: number
  credits: number
}

const batches = Math.ceil((Number(process.argv[2] ?? 10) * 1e6) / batchRows)
const home = mkdtempSync(join(tmpdir(), 'assay-bench-'))
const dbPath = join(home, 'long.duckdb')
const words = new Dictionary()
const originals = Array.from({ length: 16 }, (_, nth) => {
  const batch = new Batch()
  const sums: Sums = { rows: 0, ok: 0, refused: 0, tokens: 0, credits: 0 }
  for (let at = 0; at < batchRows; at++) {
    const row = benchRow(nth * batchRows + at)
    batch.push(row, words)
    count(sums, row)
  }
  return { batch, sums }
})

function count(sums: Sums, row: AttemptRow): void {
  sums.rows++
  if (row.outcome === 'ok') sums.ok++
  else sums.refused++
  sums.tokens += row.totalTokens ?? 0
  sums.credits += row.creditsRemaining ?? 0
}

const channel = new MessageChannel()
const recorder = new Worker(new URL('../src/run/record/recorder.worker.ts', import.meta.url), {
  workerData: {
    dbPath,
    run: {
      runId: benchRow(0).runId,
      kind: 'run',
      scenario: 'long',
      scenarioJson: '{}',
      seed: 1,
      baseUrl: 'http://127.0.0.1',
      contract: 'svc',
      startedAtUs: Date.now() * 1000,
      timeScale: 1,
      assayVersion: '0',
      machineJson: '{}',
    },
    senders: [channel.port2],
    zeroNs: monotonicNs(),
    tellsAttempts: false,
  } satisfies RecorderData,
  transferList: [channel.port2],
})
const closed = Promise.withResolvers<number>()
recorder.on('message', (message: FromRecorderControl) => {
  if (message.type === 'open') for (let at = 0; at < 8; at++) send(new Batch())
  else if (message.type === 'closed') closed.resolve(message.rows)
  else if (message.type !== 'attempts') closed.reject(new Error(message.message))
})
channel.port1.on('message', (message: FromRecorder) => {
  if (typeof message !== 'number') send(new Batch(message))
})

const sent: Sums = { rows: 0, ok: 0, refused: 0, tokens: 0, credits: 0 }
let handed = 0
let began = 0
const memoryMiB = () => Math.round(process.memoryUsage.rss() / 2 ** 20)
const say = (message: ToRecorder) =>
  channel.port1.postMessage(message, message.batch === null ? [] : [message.batch.buffer])

/** Fills a buffer that came back, and sends it again. */
function send(batch: Batch): void {
  if (handed === 0) {
    began = performance.now()
    process.stdout.write('rows          MiB   seconds\n')
  }
  if (handed === batches) return
  const original = originals[handed % originals.length]!
  new Uint8Array(batch.buffer).set(new Uint8Array(original.batch.buffer))
  const { slot } = batch.columns
  const first = handed * batchRows
  for (let row = 0; row < batchRows; row++) slot[row] = first + row
  for (const name of Object.keys(sent) as (keyof Sums)[]) sent[name] += original.sums[name]
  say({
    batch: { buffer: batch.buffer, rows: batchRows, newWords: words.takeNew() },
    templates: [],
    bodies: [],
    last: false,
  })
  handed++
  if (Math.floor(sent.rows / 1e6) > Math.floor(first / 1e6)) {
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    process.stdout.write(
      `${String(sent.rows).padEnd(10)}${String(memoryMiB()).padStart(7)}${seconds.padStart(10)}\n`,
    )
  }
  if (handed < batches) return
  say({ batch: null, templates: [], bodies: [], last: true })
  recorder.postMessage({ type: 'close' })
}

const recorded = await closed.promise
const seconds = (performance.now() - began) / 1000
const store = await openStore(dbPath)
const [kept] = await store.rows<Sums & { slots: number }>(
  `SELECT count(*)::BIGINT AS rows, count(*) FILTER (outcome = 'ok')::BIGINT AS ok,
     count(*) FILTER (outcome = 'http_error' AND status = 429)::BIGINT AS refused,
     sum(total_tokens)::BIGINT AS tokens, sum(credits_remaining)::BIGINT AS credits,
     count(DISTINCT slot)::BIGINT AS slots
   FROM attempts`,
)
store.close()
const { slots, ...sums } = kept!
const same = JSON.stringify(sums) === JSON.stringify(sent)
process.stdout.write(
  `\n${Math.round(sent.rows / seconds).toLocaleString('en')} rows/s, ${Math.round(statSync(dbPath).size / sent.rows)} bytes/row\n` +
    `sent ${JSON.stringify(sent)}\nkept ${JSON.stringify(sums)}\n` +
    `${same && slots === sent.rows && recorded === sent.rows ? 'They add up, each slot once.' : 'THEY DIFFER.'}\n`,
)
rmSync(home, { recursive: true })
process.exit(same ? 0 : 1)
