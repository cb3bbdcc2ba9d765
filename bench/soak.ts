/**
 * `npm run soak -- [--hours N | --minutes N] [--rate N] [--picture FILE.png]`, one hour at 1,000
 * requests a second unless given; one in ten is a stream.
 *
 * A run against the reference service, each in a process of its own. Prints the memory of both by the
 * minute, and whether rows, the service's own count, charges and the ledger agree.
 */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openStore } from '../src/store/session/open.ts'
import { rssMiB } from './process-memory.ts'
import type { Ready } from './service-server.ts'
import { soakPicture } from './soak-picture.ts'

const { values } = parseArgs({
  options: {
    hours: { type: 'string' },
    minutes: { type: 'string' },
    rate: { type: 'string', default: '1000' },
    picture: { type: 'string' },
  },
})
const minutes = Number(values.minutes ?? Number(values.hours ?? 1) * 60)
const rate = Number(values.rate)

const home = mkdtempSync(join(tmpdir(), 'assay-soak-'))
const [ledgerPath, db] = [join(home, 'ledger.db'), join(home, 'soak.duckdb')]
const server = fork(resolve(import.meta.dirname, 'service-server.ts'), ['instant', ledgerPath])
const [{ port, apiKey }] = (await once(server, 'message')) as [Ready]

const scenario = join(home, 'soak.yaml')
writeFileSync(
  scenario,
  `name: soak
question: Does memory stay flat, and does every row stand for a request that the service counted?
model: svc-k2
capture: sample
steps:
  chat: { endpoint: chat, weight: 9 }
  stream: { endpoint: chat, stream: true, weight: 1 }
phases: [{ name: steady, load: constant, rate: ${rate}/s, duration: ${Math.round(minutes * 60)}s }]
`,
)
const run = spawn(
  process.execPath,
  [
    resolve(import.meta.dirname, '../src/cli/main.ts'),
    ...['run', scenario, '--db', db, '--base-url', `http://127.0.0.1:${port}`, '--json'],
  ],
  { env: { ...process.env, ASSAY_API_KEY: apiKey }, stdio: ['ignore', 'pipe', 'ignore'] },
)
let out = ''
run.stdout.on('data', (piece) => {
  out += piece
})
const ended = once(run, 'close') as Promise<[number | null]>

interface Minute {
  readonly minute: number
  readonly runMiB: number
  readonly serviceMiB: number
  readonly storeMiB: number
}
const course: Minute[] = []
process.stdout.write('| minute | run, MiB | service, MiB | store, MiB |\n|---|---|---|---|\n')
const everyMs = Math.min(60, Math.max(10, minutes * 3)) * 1000
const began = performance.now()
for (;;) {
  const over = await Promise.race([ended.then(() => true), sleep(everyMs, false)])
  const [runMiB, serviceMiB] = [rssMiB(run.pid!), rssMiB(server.pid!)]
  if (over) break
  const at: Minute = {
    minute: (performance.now() - began) / 60_000,
    runMiB: runMiB ?? Number.NaN,
    serviceMiB: serviceMiB ?? Number.NaN,
    storeMiB: (statSync(db, { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20,
  }
  course.push(at)
  process.stdout.write(
    `| ${at.minute.toFixed(1)} | ${at.runMiB.toFixed(0)} | ${at.serviceMiB.toFixed(0)} | ${at.storeMiB.toFixed(0)} |\n`,
  )
}
const [code] = await ended
await sleep(2000)
server.kill('SIGTERM')
await once(server, 'exit')

const ledger = new DatabaseSync(ledgerPath, { readOnly: true })
const charged = ledger
  .prepare(
    `SELECT count(*) AS requests, -sum(credits) AS credits, count(DISTINCT request_id) AS ids,
       (SELECT balance FROM accounts WHERE id = account_id) AS balance,
       sum(CASE WHEN kind = 'charge' THEN stream END) AS streams
     FROM entries WHERE kind = 'charge'`,
  )
  .get() as { requests: number; credits: number; ids: number; balance: number; streams: number }
ledger.close()
const result = JSON.parse(out) as {
  readonly counts: { readonly planned: number; readonly sent: number; readonly ok: number }
  readonly creditsByContract: number
  readonly verdict: { readonly verdict: string }
}
const store = await openStore(db)
const [rows] = await store.rows<{ n: number; ok: number; slots: number; streams: number }>(
  `SELECT count(*)::BIGINT AS n, count(*) FILTER (outcome = 'ok')::BIGINT AS ok,
     count(DISTINCT slot)::BIGINT AS slots,
     count(*) FILTER (outcome = 'ok' AND streamed = 1)::BIGINT AS streams FROM attempts`,
)
const failures = await store.rows<{ n: number; what: string }>(
  `SELECT count(*)::INTEGER AS n, concat_ws(' ', outcome, status, error_code, reason) AS what
   FROM attempts WHERE outcome <> 'ok' GROUP BY what ORDER BY n DESC`,
)
store.close()
const agreements: readonly (readonly [string, number, string, number])[] = [
  ['requests planned', result.counts.planned, 'rows', rows!.n],
  ['rows', rows!.n, 'slots', rows!.slots],
  ['rows of successes', rows!.ok, "charges in the service's ledger", charged.requests],
  ['of them streams', rows!.streams, 'charges of streams', charged.streams],
  ['credits by the contract', result.creditsByContract, 'credits charged', charged.credits],
]
const n = (value: number) => value.toLocaleString('en')
process.stdout.write(
  `\nexit ${code}, ${result.verdict.verdict}; ${n(result.counts.sent)} sent, ${n(result.counts.ok)} ok\n` +
    failures.map(({ n: count, what }) => `        ${n(count)} ${what}\n`).join('') +
    agreements
      .map(
        ([a, left, b, right]) =>
          `${left === right ? 'agree ' : 'DIFFER'}  ${a} ${n(left)}, ${b} ${n(right)}\n`,
      )
      .join(''),
)
if (values.picture !== undefined) writeFileSync(values.picture, await soakPicture(course, n(rate)))
rmSync(home, { recursive: true })
process.exit(agreements.every(([, left, , right]) => left === right) ? 0 : 1)
