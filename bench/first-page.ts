import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SignJWT } from 'jose'
import { defaultContract } from '../src/contract/default.ts'
import { percentileOf } from '../src/measure/percentile.ts'
import { Portal } from '../src/portal/server.ts'
import { openSettings } from '../src/portal/settings/opened-settings.ts'
import { parseSettings, showable } from '../src/portal/settings/settings.ts'
import { Snapshot } from '../src/portal/source/snapshot.ts'
import { storeSource } from '../src/portal/source/store-source.ts'
import { openStore } from '../src/store/session/open.ts'

/**
 * `node bench/first-page.ts [--events 1000000] [--models 20] [--keys 200] [--zone Europe/Berlin] [--pages 5] [--queries]`: the time of a
 * processor that the first page of an account takes, after every change of its usage: of the copy, of its forecast, and the median of its
 * pages, whose forecast is made. `--queries` prints the queries of the last page that took more than 10 ms. It ends with 1 if a page takes a second or more.
 */
const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    models: { type: 'string', default: '20' },
    keys: { type: 'string', default: '200' },
    zone: { type: 'string', default: 'Europe/Berlin' },
    pages: { type: 'string', default: '5' },
    queries: { type: 'boolean', default: false },
  },
})
const events = Number(values.events)
const secret = 'a secret for the bench that has more than 32 bytes'
const nowMs = Date.UTC(2026, 10, 28, 12)
const [fromUs, seconds] = [Date.UTC(2026, 10, 1) * 1000, 27.4 * 86_400]
const folder = mkdtempSync(join(tmpdir(), 'assay-bench-page-'))
const file = join(folder, 'usage.duckdb')

/** Events of one account over the month so far; one day costs six times as much as the others. */
const eventsSql = `
  SELECT 'gateway' AS source, 'e' || i AS id, ${fromUs} + (i * ${seconds}::BIGINT // ${events}) * 1000000 AS at_us, 0 AS ingested_us, 1 AS import_no,
    'model-' || hash(i) % ${values.models} AS model, 'chat' AS endpoint, 'k' || lpad((hash(i + 7) % ${values.keys})::VARCHAR, 11, '0') AS key_fp,
    'acct' AS account, CASE WHEN i % 97 = 0 THEN 'http_error' ELSE 'ok' END AS outcome, CASE WHEN i % 97 = 0 THEN 500 ELSE 200 END AS status,
    ((1 + i % 5) * CASE WHEN i * 28 // ${events} = 17 THEN 6 ELSE 1 END)::DECIMAL(18, 6) AS credits,
    100 + i % 900 AS prompt_tokens, 50 AS completion_tokens, 1 AS requests
  FROM range(${events}) AS t(i)`
const settings = `product: Bench
timezone: ${values.zone}
currency: EUR
credits: { price: '0.0125' }
tokens: { algorithm: HS256, secretEnv: SECRET }
everyAccount: { budget: [{ amount: '9000000' }, { amount: '900000', period: week }] }
accounts:
  acct:
    grants:
      - { name: Pack, credits: 9000000, from: 2026-10-01, expires: 2027-01-01 }
      - { name: Bonus, credits: 5000, from: 2026-11-01, expires: 2026-12-05 }
`

const say = (text: string) => process.stdout.write(`${text}\n`)
function processorS(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
async function spent(work: () => Promise<unknown>): Promise<number> {
  const before = processorS()
  await work()
  return processorS() - before
}
const shown = (name: string, s: number) => say(`${name}: ${s.toFixed(2)} s of processor`)

const store = await openStore(file)
await store.execute(`INSERT INTO usage_events BY NAME ${eventsSql}`)
store.close()
const opened = openSettings({ ...parseSettings(settings, 'bench'), folder }, { SECRET: secret })
const memory = await openStore(':memory:')
const snapshot = await Snapshot.of(memory, storeSource(file, defaultContract))
const portal = new Portal({
  ...{ snapshot, settings: () => opened, contract: null, now: () => nowMs },
  ...{ slowMs: 60_000, forecastMs: 60_000 },
})
const handler = await portal.handler()

async function ask(path: string): Promise<void> {
  const token = await new SignJWT({ shows: [...showable], jti: `${Math.random()}` })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('acct')
    .setAudience('assay-usage')
    .setIssuedAt(nowMs / 1000 - 10)
    .setNotBefore(nowMs / 1000 - 10)
    .setExpirationTime(nowMs / 1000 + 3600)
    .sign(new TextEncoder().encode(secret))
  const headers = { authorization: `Bearer ${token}` }
  const answer = await handler(new Request(`http://usage.test${path}`, { headers }))
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(text)
}

/** Queries of the page that is being made, with their time of a processor; null for none. */
let queries: (readonly [sql: string, s: number])[] | null = null
const { session } = memory
memory.session = async (scope) => {
  const own = await session(scope)
  const noted =
    <Rest extends readonly unknown[], Result>(
      run: (sql: string, ...rest: Rest) => Promise<Result>,
    ) =>
    async (sql: string, ...rest: Rest) => {
      const before = processorS()
      const result = await run(sql, ...rest)
      queries?.push([sql, processorS() - before])
      return result
    }
  return { ...own, rows: noted(own.rows) as typeof own.rows, execute: noted(own.execute) }
}

try {
  shown('copy', await spent(() => portal.refresh()))
  const times: number[] = []
  for (let page = 0; page < Number(values.pages); page++) {
    portal.forget()
    const forecast = await spent(() => ask('/v1/credits/outlook'))
    if (page === 0) shown('forecast', forecast)
    queries = []
    times.push(await spent(() => ask('/page?from=2026-11-01&to=2026-12-01')))
  }
  times.sort((a, b) => a - b)
  const median = percentileOf(times, 0.5)!
  shown(`first page, median of ${times.length}`, median)
  say(`${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MiB, ${queries!.length} queries`)
  if (values.queries)
    for (const [sql, s] of queries!)
      if (s > 0.01) say(`${s.toFixed(3)} ${sql.replace(/\s+/g, ' ').slice(0, 200)}`)
  if (median >= 1) process.exitCode = 1
} finally {
  await snapshot.close()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
