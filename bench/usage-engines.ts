import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { clickhouseEngine, closeDays } from '../src/report/usage/engine/clickhouse.ts'
import { storeEngine, type UsageEngine } from '../src/report/usage/engine/engine.ts'
import { readUsage } from '../src/report/usage/read.ts'
import { openClickhouse } from '../src/store/clickhouse/clickhouse.ts'
import { importToClickhouse } from '../src/store/clickhouse/import-log.ts'
import { tablesSql } from '../src/store/clickhouse/tables.ts'
import { importFile } from '../src/store/import/import-file.ts'
import { ownMapping } from '../src/store/import/mapping.ts'
import { openStore, type Store } from '../src/store/session/open.ts'
import { openDoor } from '../test/clickhouse/chdb.ts'
import { dayUs, firstUs, writeUsageLog } from './usage-log.ts'

/**
 * `ASSAY_CHDB=FOLDER node bench/usage-engines.ts [--events 2]`: millions of events of 30 days, 200 keys and 8
 * models, in four files, into DuckDB and into ClickHouse, and from there into four databases. It ends with 1 where a
 * page differs in a digit, or a file that comes twice changes a quarter.
 */
const { values } = parseArgs({ options: { events: { type: 'string', default: '2' } } })
const events = Math.round(Number(values.events) * 1e6)
const folder = mkdtempSync(join(tmpdir(), 'assay-bench-engines-'))
const files = [0, 1, 2, 3].map((at) => join(folder, `log${at}.parquet`))
const say = (text: string) => process.stdout.write(`${text}\n`)
let isEqual = true

const door = await openDoor()
const clickhouse = await openClickhouse(door.address('default'))
const store = await openStore(join(folder, 'usage.duckdb'))
try {
  await makeLogs()
  const log = (file: string) => ({ file, mapping: ownMapping, source: 'gateway' })
  await timed('import into DuckDB', async () => {
    for (const file of files) await importFile(store, log(file))
  })
  await store.execute('CHECKPOINT')
  const page = await timed('page of DuckDB', () => pageOf(store, storeEngine))
  for (const statement of tablesSql(null)) await clickhouse.command(statement)
  await timed('import into ClickHouse', async () => {
    for (const file of files) await importToClickhouse(clickhouse, log(file))
  })
  const own = await openStore(':memory:')
  const engine = clickhouseEngine(clickhouse)
  equal('page of ClickHouse', await timed('page of events', () => pageOf(own, engine)), page)
  const close = (days: number, to: number) =>
    closeDays(clickhouse, firstUs + days * dayUs, firstUs + to * dayUs)
  const quarters = async () =>
    JSON.stringify(
      await clickhouse.rows(
        'SELECT count() AS n, toString(sum(cityHash64(toString(tuple(* EXCEPT closed_us))))) AS hash FROM usage_quarters FINAL',
      ),
    )
  await timed('days closed', () => close(0, 30))
  const before = await quarters()
  say(`quarters: ${before}`)
  equal('page of quarters', await timed('page of quarters', () => pageOf(own, engine)), page)
  await timed('one file again', () => importToClickhouse(clickhouse, log(files[1]!)))
  await timed('its days closed again', () => close(7, 15))
  equal('quarters after a file came twice', await quarters(), before)
  await timed('four databases by hash', shareOut)
  const set = await openClickhouse(door.address('four'))
  const four = clickhouseEngine(set)
  equal('page of four', await timed('page of four databases', () => pageOf(own, four)), page)
  await set.close()
  own.close()
} finally {
  store.close()
  await clickhouse.close()
  door.close()
  rmSync(folder, { recursive: true })
}
say(`most memory of this process (DuckDB): ${peakMb('self')} MB`)
process.exitCode = isEqual ? 0 : 1

/** Events of the one database in four, by the hash that `Distributed` tables deal by, read as one. */
async function shareOut(): Promise<void> {
  const names = await clickhouse.rows<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = 'default'`,
  )
  const tables = names.map(({ name }) => name)
  for (const at of [0, 1, 2, 3]) {
    await clickhouse.command(`CREATE DATABASE part${at}`)
    for (const table of tables) {
      await clickhouse.command(`CREATE TABLE part${at}.${table} AS default.${table}`)
    }
    await clickhouse.command(
      `INSERT INTO part${at}.usage_events SELECT * FROM usage_events WHERE cityHash64(source, id) % 4 = ${at}`,
    )
  }
  await clickhouse.command('CREATE DATABASE four')
  for (const table of tables) {
    await clickhouse.command(
      `CREATE TABLE four.${table} AS default.${table} ENGINE = Merge(REGEXP('^part[0-3]$'), '^${table}$')`,
    )
  }
}

async function makeLogs(): Promise<void> {
  const part = Math.ceil(events / files.length)
  for (const [at, file] of files.entries()) {
    await writeUsageLog({
      file,
      format: 'parquet',
      events,
      from: at * part,
      to: Math.min(events, (at + 1) * part),
      keys: 200,
      accounts: 50,
      models: 8,
    })
  }
}

async function pageOf(into: Store, engine: UsageEngine): Promise<string> {
  const asked = {
    timezone: 'America/New_York',
    by: 'key',
    runIds: [],
    sources: [],
    seed: 1,
  } as const
  const period = { fromUs: null, toUs: null, nowUs: Date.UTC(2026, 10, 20) * 1000 }
  const page = await readUsage(into, { ...asked, ...period, contract: null, grants: null }, engine)
  return JSON.stringify(page)
}

function equal(what: string, text: string, whole: string): void {
  const digest = (some: string) => createHash('sha256').update(some).digest('hex').slice(0, 12)
  isEqual &&= text === whole
  say(`${what}: ${text === whole ? 'equal' : 'DIFFERS'} (${digest(text)}, ${digest(whole)})`)
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  const result = await work()
  const memory = door.pid === undefined ? '' : `, ClickHouse at most ${peakMb(String(door.pid))} MB`
  say(`${what}: ${((performance.now() - start) / 1000).toFixed(1)} s${memory}`)
  return result
}

/** Most memory that a process held so far. */
function peakMb(process: string): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${process}/status`, 'utf8'))
  return Math.round(Number(line![1]) / 1000)
}
