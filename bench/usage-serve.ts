import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { serve } from '@hono/node-server'
import { SignJWT } from 'jose'
import { defaultContract } from '../src/contract/default.ts'
import { percentileOf } from '../src/measure/percentile.ts'
import { Portal } from '../src/portal/server.ts'
import { openSettings } from '../src/portal/settings/opened-settings.ts'
import { parseSettings } from '../src/portal/settings/settings.ts'
import { clickhouseSource } from '../src/portal/source/clickhouse-source.ts'
import { Snapshot } from '../src/portal/source/snapshot.ts'
import type { Source } from '../src/portal/source/source.ts'
import { storeSource } from '../src/portal/source/store-source.ts'
import { openClickhouse } from '../src/store/clickhouse/clickhouse.ts'
import { tablesSql } from '../src/store/clickhouse/tables.ts'
import { openStore, type Store } from '../src/store/session/open.ts'
import { openDoor } from '../test/clickhouse/chdb.ts'

/**
 * `node bench/usage-serve.ts [--events 10] [--seconds 10] [--engine clickhouse]`: millions of events of 50 accounts in 30
 * days, served while more arrive. It prints answers and pages per second, the median and p99 of their times, the memory of the
 * process, the time of a copy, and how long new events take to be in an answer under that load. Before that, eight pages of four
 * accounts that nobody has looked at yet are asked at once, and one customer asks cheap questions while another asks 50 dear
 * ones. ClickHouse is chdb in the folder of `ASSAY_CHDB`. It ends with 1 if new events take over 10 seconds, a page over a
 * second (p99), a cheap question over 300 ms (p99), or an answer is an error.
 */
const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '10' },
    engine: { type: 'string', default: 'duckdb' },
  },
})
const events = Math.round(Number(values.events) * 1e6)
const folder = mkdtempSync(join(tmpdir(), 'assay-bench-serve-'))
const file = join(folder, 'usage.duckdb')
const say = (text: string) => process.stdout.write(`${text}\n`)
const secret = 'a secret for the bench that has more than 32 bytes'
const firstUs = Date.UTC(2026, 9, 26) * 1000
const accounts = 50
const openAtOnce = 8
const everyMs = 2000
/** An account with a model for each of its events, whose breakdowns are dear. */
const wide = { account: accounts, models: 100_000 }
const dearQuestions = 50
/** A page takes this long at most, at the 99th percentile. */
const mostOfPageMs = 1000

/** Events of all accounts, as `from` to `to` of the numbers of the bench. */
const eventsSql = (from: number, to: number, importNo: number) => `
  SELECT 'gateway' AS source, 'e' || i AS id, ${firstUs} + ((i % ${events}) * 2592000 // ${events}) * 1000000 AS at_us, 0 AS ingested_us, ${importNo} AS import_no,
    'model-' || (i % 7) AS model, 'chat' AS endpoint, 'key' || (i % ${accounts}) || '-' || (i // ${accounts} % 4) AS key_fp,
    'acct-' || (i % ${accounts}) AS account, CASE WHEN i % 97 = 0 THEN 'http_error' ELSE 'ok' END AS outcome, 200 AS status,
    (1 + i % 5)::DECIMAL(18, 6) AS credits, 100 + i % 900 AS prompt_tokens, 50 AS completion_tokens, 1 AS requests
  FROM range(${from}, ${to}) AS t(i)`

/** The events of the wide account, of the first import. */
const wideSql = `
  SELECT * REPLACE ('w' || id AS id, 'model ' || (row_number() OVER ()) AS model, 'acct-${wide.account}' AS account, 'key-wide' AS key_fp)
  FROM (${eventsSql(0, wide.models, 1)})`

const token = (account: number) =>
  new SignJWT({ shows: ['credits', 'keys', 'models', 'requests', 'export'] })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(`acct-${account}`)
    .setAudience('assay-usage')
    .setIssuedAt()
    .setNotBefore('0s')
    .setExpirationTime('1h')
    // Each question has a token of its own: the limit of a token is not what is measured.
    .setJti(randomUUID())
    .sign(new TextEncoder().encode(secret))

const period = 'from=2026-10-26&to=2026-11-26'
const paths = [
  `/v1/usage/summary?${period}`,
  `/v1/usage/series?${period}&bucket=day&by=model`,
  `/v1/usage/breakdown?${period}&by=key`,
  '/v1/account',
]
const page = `/page?${period}`
/** Accounts whose pages are looked at. */
const seen = 10

const door = values.engine === 'clickhouse' ? await openDoor() : null
const source = door === null ? await duckdbSource() : await clickhouse(door.address('default'))
const settings = openSettings(
  {
    ...parseSettings('product: Bench\ntokens: { algorithm: HS256, secretEnv: SECRET }\n', 'bench'),
    folder,
  },
  { SECRET: secret },
)
const snapshot = await Snapshot.of(await openStore(':memory:'), source.source)
const portal = new Portal({
  ...{ snapshot, settings: () => settings, contract: null, now: Date.now },
  slowMs: 60_000,
})
const server = serve({ fetch: await portal.handler(), hostname: '127.0.0.1', port: 0 })
try {
  await new Promise((done) => server.once('listening', done))
  const { port } = server.address() as { readonly port: number }
  await timed(`first copy of ${events.toLocaleString('en-US')} events`, () => portal.refresh())
  await load(port, 'answers, nothing new')
  await timed('the first pages of 10 accounts, each with its forecast', async () => {
    for (let account = 0; account < seen; account++) await ask(port, page, account)
  })
  judgePages(await load(port, 'pages, nothing new', [page], seen))
  await firstAtOnce(port)
  await besideDear(port)
  let isOn = true
  const copying = (async () => {
    while (isOn) {
      await new Promise((resume) => setTimeout(resume, everyMs))
      await portal.refresh().catch(() => {})
    }
  })()
  const waits: number[] = []
  const writing = (async () => {
    for (let round = 1; isOn; round++) {
      const before = await seenBy(port, () => true)
      await source.add(events + (round - 1) * 50_000, events + round * 50_000, round + 1)
      const addedMs = performance.now()
      await seenBy(port, (requests) => requests !== before)
      waits.push((performance.now() - addedMs) / 1000)
    }
  })()
  await load(port, 'answers while events arrive')
  isOn = false
  await Promise.all([copying, writing])
  const longest = Math.max(...waits)
  say(
    `${waits.length} imports of 50,000 events under this load were in an answer after at most ${longest.toFixed(1)} s`,
  )
  if (longest > 10) process.exitCode = 1
} finally {
  server.close()
  await snapshot.close()
  door?.close()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

interface Filled {
  readonly source: Source
  add(from: number, to: number, importNo: number): Promise<void>
}

async function duckdbSource(): Promise<Filled> {
  const add = async (from: number, to: number, importNo: number) => {
    for (;;) {
      let store: Store
      try {
        store = await openStore(file)
      } catch {
        await new Promise((resume) => setTimeout(resume, 20))
        continue
      }
      await store.execute(`INSERT INTO usage_events BY NAME ${eventsSql(from, to, importNo)}`)
      store.close()
      return
    }
  }
  await add(0, events, 1)
  const store = await openStore(file)
  await store.execute(`INSERT INTO usage_events BY NAME ${wideSql}`)
  store.close()
  return { source: storeSource(file, defaultContract), add }
}

async function clickhouse(address: string): Promise<Filled> {
  const engine = await openClickhouse(address)
  for (const statement of tablesSql(null)) await engine.command(statement)
  const store = await openStore(':memory:')
  const columns =
    'source,id,at_us,ingested_us,model,endpoint,key_fp,account,outcome,status,credits,prompt_tokens,completion_tokens,requests'
  const enter = async (sql: string, importNo: number) => {
    const part = join(folder, 'part.parquet')
    await store.execute(
      `COPY (SELECT ${columns.replace('ingested_us', `${importNo}::BIGINT AS ingested_us`)} FROM (${sql})) TO '${part}' (FORMAT parquet)`,
    )
    await engine.insertParquet('usage_events', columns.split(','), part)
  }
  const add = async (from: number, to: number, importNo: number) => {
    for (let at = from; at < to; at += 1_000_000)
      await enter(eventsSql(at, Math.min(to, at + 1_000_000), importNo), importNo)
  }
  await add(0, events, 1)
  await enter(wideSql, 1)
  return { source: clickhouseSource(engine), add }
}

async function ask(port: number, path: string, account: number): Promise<Response> {
  const headers = { authorization: `Bearer ${await token(account)}` }
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  await answer.arrayBuffer()
  return answer
}

/** Two pages of each of four accounts at once, which nobody has asked for yet. */
async function firstAtOnce(port: number): Promise<void> {
  const times: number[] = []
  const statuses: number[] = []
  await Promise.all(
    Array.from({ length: openAtOnce }, async (_, at) => {
      const askedMs = performance.now()
      const answer = await ask(port, page, seen + (at % 4))
      times.push(performance.now() - askedMs)
      statuses.push(answer.status)
    }),
  )
  const refused = statuses.filter((status) => status !== 200).length
  times.sort((a, b) => a - b)
  const p99 = percentileOf(times, 0.99)!
  say(
    `8 first pages of 4 accounts at once: median ${percentileOf(times, 0.5)!.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${refused} errors`,
  )
  if (refused > 0) process.exitCode = 1
  judgePages(p99)
}

/** Cheap questions of one customer while another asks 50 dear ones, each of another period. */
async function besideDear(port: number): Promise<void> {
  let isOn = true
  const statuses = new Map<number, number>()
  const dear = Promise.all(
    Array.from({ length: dearQuestions }, async (_, at) => {
      const until = new Date(Date.UTC(2026, 9, 27 + (at % 25))).toISOString().slice(0, 10)
      const path = `/v1/usage/breakdown?from=2026-10-26&to=${until}&by=model&limit=${100 + at}`
      const { status } = await ask(port, path, wide.account)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }),
  ).finally(() => {
    isOn = false
  })
  const times: number[] = []
  let errors = 0
  while (isOn) {
    const askedMs = performance.now()
    const answer = await ask(port, paths[0]!, 0)
    times.push(performance.now() - askedMs)
    if (!answer.ok) errors++
  }
  await dear
  times.sort((a, b) => a - b)
  const p99 = percentileOf(times, 0.99)!
  say(
    `${times.length} cheap questions beside 50 dear ones (${[...statuses].map(([status, count]) => `${count} x ${status}`).join(', ')}): median ${percentileOf(times, 0.5)!.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${errors} errors`,
  )
  if (errors > 0 || p99 > 300) process.exitCode = 1
}

/** Pages that take too long fail the bench. */
function judgePages(p99Ms: number): void {
  if (p99Ms <= mostOfPageMs) return
  say(`a page took over ${mostOfPageMs} ms (p99)`)
  process.exitCode = 1
}

/** @returns the 99th percentile of the times, milliseconds */
async function load(port: number, name: string, asked = paths, of = accounts): Promise<number> {
  const untilMs = performance.now() + Number(values.seconds) * 1000
  const times: number[] = []
  let errors = 0
  const startMs = performance.now()
  const asker = async (first: number) => {
    for (let at = first; performance.now() < untilMs; at += openAtOnce) {
      const askedMs = performance.now()
      const answer = await ask(port, asked[at % asked.length]!, at % of)
      times.push(performance.now() - askedMs)
      if (!answer.ok) errors++
    }
  }
  await Promise.all(Array.from({ length: openAtOnce }, (_, at) => asker(at)))
  times.sort((a, b) => a - b)
  const perSecond = times.length / ((performance.now() - startMs) / 1000)
  const at = (share: number) => percentileOf(times, share)!.toFixed(0)
  say(
    `${name}: ${perSecond.toFixed(0)} a second, median ${at(0.5)} ms, p99 ${at(0.99)} ms, ${errors} errors, ${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MiB`,
  )
  if (errors > 0) process.exitCode = 1
  return percentileOf(times, 0.99)!
}

/** Requests of an account as the service answers; null while it is too busy to answer. */
async function requestsOf(port: number): Promise<string | null> {
  const headers = { authorization: `Bearer ${await token(0)}` }
  const answer = await fetch(`http://127.0.0.1:${port}${paths[0]}`, { headers })
  const { requests } = (await answer.json()) as { requests?: { value: string } }
  return requests?.value ?? null
}

/** Looks until an answer is as expected. */
async function seenBy(port: number, isExpected: (requests: string) => boolean): Promise<string> {
  for (;;) {
    const requests = await requestsOf(port)
    if (requests !== null && isExpected(requests)) return requests
    await new Promise((resume) => setTimeout(resume, 100))
  }
}

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startMs = performance.now()
  const made = await work()
  say(`${name}: ${((performance.now() - startMs) / 1000).toFixed(1)} s`)
  return made
}
