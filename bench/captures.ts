/**
 * `capture: all` over many GB of bodies: `node bench/captures.ts [GB] [all|sample]`, 2 GB unless given.
 *
 * A server sends streams of 80 KB that hardly pack, so that a run which captures them brings them as
 * fast as it can. Prints what came, what the disk holds, peak memory, and whether each row is there
 * and each kept body reads back as it was sent.
 */
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bodiesPath, readPackedBodies } from '../src/store/attempts/packed-bodies.ts'
import { openStore } from '../src/store/session/open.ts'
import { rssMiB } from './process-memory.ts'

const gigabytes = Number(process.argv[2] ?? 2)
const capture = process.argv[3] ?? 'all'
const home = mkdtempSync(join(tmpdir(), 'assay-captures-'))
const db = join(home, 'captures.duckdb')

/** A hundred letters, in words of five. */
const someWords = () =>
  [...randomBytes(100)].map((byte, at) => (at % 6 === 5 ? ' ' : (byte % 36).toString(36))).join('')

/** A stream of about 80 KB, half of it random; each of a few hundred differs. */
const streams = Array.from({ length: 200 }, () => {
  const event = (content: string, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'svc-k2', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`
  const words = Array.from({ length: 330 }, () => event(someWords(), null))
  return Buffer.from(`${words.join('')}${event('', 'stop')}data: [DONE]\n\n`)
})
const hashes = new Set(streams.map((body) => createHash('sha256').update(body).digest('hex')))
const requests = Math.ceil((gigabytes * 1e9) / streams[0]!.length)

let sent = 0
const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(streams[sent++ % streams.length])
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')

const scenario = join(home, 'captures.yaml')
writeFileSync(
  scenario,
  `name: captures
question: Is every row there, and every body that was kept?
model: svc-k2
capture: ${capture}
steps: { stream: { endpoint: chat, stream: true } }
phases: [{ name: a, load: concurrency, users: 8, max_requests: ${requests}, duration: 10h }]
`,
)
const began = performance.now()
const run = spawn(
  process.execPath,
  [
    resolve(import.meta.dirname, '../src/cli/main.ts'),
    ...['run', scenario, '--db', db, '--json'],
    ...['--base-url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`],
  ],
  {
    env: { ...process.env, ASSAY_API_KEY: 'sk-bench-captures' },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
let peakMiB = 0
const look = setInterval(() => {
  peakMiB = Math.max(peakMiB, rssMiB(run.pid!) ?? 0)
}, 200)
let out = ''
run.stdout.on('data', (piece) => {
  out += piece
})
const [code] = (await once(run, 'close')) as [number | null]
clearInterval(look)
server.close()
const seconds = (performance.now() - began) / 1000
const { counts, verdict } = JSON.parse(out) as {
  readonly counts: { readonly sent: number }
  readonly verdict: {
    readonly tests: readonly { readonly name: string; readonly figure: string }[]
  }
}

const store = await openStore(db)
const [rows] = await store.rows<{ n: number; flagged: number }>(
  `SELECT count(*)::INTEGER AS n, count(*) FILTER (flags & 32768 <> 0)::INTEGER AS flagged FROM attempts`,
)
const places = await store.rows<{ at: number }>('SELECT packed_at AS at FROM bodies')
store.close()
let whole = 0
for (let from = 0; from < places.length; from += 500) {
  const piece = places.slice(from, from + 500).map(({ at }) => at)
  for (const body of readPackedBodies(db, piece)) {
    if (body !== null && hashes.has(createHash('sha256').update(body).digest('hex'))) whole++
  }
}
const mb = (bytes: number) => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`
const size = (path: string) => (existsSync(path) ? statSync(path).size : 0)
const captures = verdict.tests.find(({ name }) => name === 'captures')
process.stdout.write(
  `${[
    `exit ${code} after ${seconds.toFixed(0)} s`,
    `bodies sent    ${sent.toLocaleString('en')}, ${mb(sent * streams[0]!.length)}`,
    `rows           ${rows!.n.toLocaleString('en')} of ${counts.sent.toLocaleString('en')}`,
    `bodies kept    ${places.length.toLocaleString('en')}, ${whole.toLocaleString('en')} read back as they were sent; ${captures?.figure ?? 'none was given up'}`,
    `disk           store ${mb(size(db))}, bodies ${mb(size(bodiesPath(db)))}`,
    `peak memory    ${Math.round(peakMiB)} MiB`,
  ].join('\n')}\n`,
)
rmSync(home, { recursive: true })
const kept = rows!.n === counts.sent && whole === places.length && rows!.flagged >= places.length
process.exit(code === 0 || code === 4 ? (kept ? 0 : 1) : 1)
