import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clickhouseSource } from '../../src/portal/source/clickhouse-source.ts'
import { clickhouseEngine, closeDays } from '../../src/report/usage/engine/clickhouse.ts'
import { readUsage } from '../../src/report/usage/read.ts'
import type { UsageOptions } from '../../src/report/usage/shape.ts'
import { type ClickHouse, openClickhouse } from '../../src/store/clickhouse/clickhouse.ts'
import { importToClickhouse } from '../../src/store/clickhouse/import-log.ts'
import { tablesSql } from '../../src/store/clickhouse/tables.ts'
import { exportTable } from '../../src/store/files/export.ts'
import { importFile } from '../../src/store/import/import-file.ts'
import { ownMapping, parseMapping } from '../../src/store/import/mapping.ts'
import { openStore, type Store } from '../../src/store/session/open.ts'
import { main } from '../e2e/command.ts'
import { bytesOf, everyPath, servedFrom, tokenOf } from '../portal/portal.ts'
import {
  accounts,
  enterMarked,
  keyNames,
  marksOfOthers,
  subject,
} from '../report/marked-accounts.ts'
import { enterEvents, usageOptions, utc } from '../report/usage-events.ts'
import { openStore as openMarked } from '../store/opened.ts'
import { type Door, openDoor, withoutChdb } from './chdb.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-engine-'))
const log = join(folder, 'log.parquet')
let store: Store
afterAll(() => rmSync(folder, { recursive: true }))

test.skipIf(withoutChdb === null)(`the engine is not tried: ${withoutChdb}`, (context) =>
  context.skip(withoutChdb!),
)

describe.skipIf(withoutChdb !== null)('usage in ClickHouse', () => {
  const asked = { file: log, mapping: ownMapping, source: 'log' }
  let door: Door
  let clickhouse: ClickHouse
  beforeAll(async () => {
    door = await openDoor()
    clickhouse = await database('whole')
    store = await openStore(':memory:')
    await enterWeeks()
    await exportTable(store, { what: 'usage', file: log, format: 'parquet' })
    await store.execute('DELETE FROM usage_events')
    await importFile(store, asked)
  }, 120_000)
  afterAll(async () => {
    store.close()
    await clickhouse.close()
    door.close()
  })

  async function database(name: string): Promise<ClickHouse> {
    const outside = await openClickhouse(door.address('default'))
    await outside.command(`CREATE DATABASE ${name}`)
    await outside.close()
    const made = await openClickhouse(door.address(name))
    for (const statement of tablesSql(null)) await made.command(statement)
    return made
  }

  const importLog = (into: ClickHouse) => importToClickhouse(into, asked)

  async function pageOf(engine: ClickHouse, options: UsageOptions): Promise<string> {
    const own = await openStore(':memory:')
    try {
      return JSON.stringify(await readUsage(own, options, clickhouseEngine(engine)), null, 1)
    } finally {
      own.close()
    }
  }

  const pageOfStore = async (options: UsageOptions) =>
    JSON.stringify(await readUsage(store, options), null, 1)

  test('both engines give the same page, closed days or not, and importing a file twice changes nothing', async () => {
    expect(await importLog(clickhouse)).toMatchObject({ accepted: 1500, duplicates: 0 })
    await store.execute(
      `INSERT INTO usage_polls (polled_us, base_url, key_fp, status, consumed, remaining)
       SELECT ${utc(2026, 11, 3)} + i * 7200000000, 'http://127.0.0.1', 'key1', 200, 10 * i, 1000 - 10 * i
       FROM range(20) AS t(i)`,
    )
    await clickhouse.insertRows('usage_polls', await store.rows('FROM usage_polls'))
    const pages = [
      usageOptions({ timezone: 'Asia/Kathmandu' }),
      usageOptions({ by: 'key', contract: null, sources: ['log'], fromUs: utc(2026, 11, 8) }),
    ]
    for (const options of pages) {
      expect(await pageOf(clickhouse, options)).toBe(await pageOfStore(options))
    }
    const quarters = () =>
      clickhouse.rows('SELECT * EXCEPT closed_us FROM usage_quarters FINAL ORDER BY ALL')
    expect(await closeDays(clickhouse, null, utc(2026, 11, 6))).toBe(5)
    const before = await quarters()
    expect(await importLog(clickhouse)).toMatchObject({ accepted: 0, duplicates: 1500 })
    expect(await closeDays(clickhouse, utc(2026, 11, 2), utc(2026, 11, 6))).toBe(4)
    expect(await quarters()).toEqual(before)
    for (const options of pages) {
      // Polls fall within quarters: on closed days, the usage between two polls is not known to the
      // second.
      const {
        reconciliation: _,
        anomalies: __,
        ...page
      } = JSON.parse(await pageOf(clickhouse, options))
      const {
        reconciliation: ___,
        anomalies: ____,
        ...whole
      } = JSON.parse(await pageOfStore(options))
      expect(page).toEqual(whole)
    }
  }, 240_000)

  test('a version that moves a request to another day counts once, in any order of imports', async () => {
    const mapping = parseMapping(
      'fields: { id: id, time: at, credits: cost, version: changed }',
      'map.yaml',
    )
    const versions = [
      { id: 'a', at: '2026-11-02T10:00:00Z', cost: 3, changed: '2026-11-02T10:00:00Z' },
      { id: 'a', at: '2026-11-03T23:00:00Z', cost: 5, changed: '2026-11-04T10:00:00Z' },
      { id: 'a', at: '2026-11-02T10:00:01Z', cost: 7, changed: '2026-11-05T10:00:00Z' },
      { id: 'b', at: '2026-11-01T10:00:00Z', cost: 1, changed: '2026-11-01T10:00:00Z' },
    ]
    const orders = [
      [3, 0, 1],
      [1, 3, 0],
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [1, 3, 2, 0],
    ]
    for (const [nth, order] of orders.entries()) {
      const engine = await database(`moved${nth}`)
      const own = await openStore(':memory:')
      for (const at of order) {
        const file = join(folder, `version-${at}.jsonl`)
        writeFileSync(file, `${JSON.stringify(versions[at])}\n`)
        await importToClickhouse(engine, { file, mapping, source: 'log' })
        await importFile(own, { file, mapping, source: 'log' })
      }
      const options = usageOptions({ contract: null })
      expect(await pageOf(engine, options)).toBe(
        JSON.stringify(await readUsage(own, options), null, 1),
      )
      const [counted] = await engine.rows<{ credits: number }>(
        `SELECT sum(credits)::Float64 AS credits FROM usage_events FINAL WHERE type = 'usage'`,
      )
      expect(counted!.credits).toBe(order.includes(2) ? 8 : 6)
      own.close()
      await engine.close()
    }
  }, 120_000)

  test('four engines sharded by hash give the page of one', async () => {
    const shards: ClickHouse[] = []
    for (const at of [0, 1, 2, 3]) {
      const shard = await database(`shard${at}`)
      shards.push(shard)
      await shard.command(
        `INSERT INTO usage_events SELECT * FROM whole.usage_events WHERE cityHash64(source, id) % 4 = ${at}`,
      )
      await closeDays(shard, null, utc(2026, 11, 6))
    }
    const set = await openClickhouse(door.address('default'))
    for (const table of [
      ...['usage_events', 'usage_buckets', 'usage_quarters', 'usage_polls'],
      'usage_import_spans',
    ]) {
      await set.command(
        `CREATE TABLE ${table} AS whole.${table} ENGINE = Merge(REGEXP('^shard[0-3]$'), '^${table}$')`,
      )
    }
    const options = usageOptions({ by: 'key', contract: null })
    await store.execute('DELETE FROM usage_polls')
    expect(await pageOf(set, options)).toBe(await pageOfStore(options))
    for (const each of [...shards, set]) await each.close()
  }, 240_000)

  test('the usage of one account is the same bytes without the others, and in both engines', async () => {
    const own = await openMarked(':memory:')
    const ownAlone = await openMarked(':memory:')
    try {
      await enterMarked(own, accounts)
      await enterMarked(ownAlone, [subject])
      const usage = join(folder, 'marked.parquet')
      const lines = async (from: Store, name: string) => {
        const made = await database(name)
        // Lines and polls: ClickHouse has no runs.
        await from.execute(
          'DELETE FROM attempt_rows; DELETE FROM narrow_rows; DELETE FROM request_kinds',
        )
        await from.execute(
          'DELETE FROM runs; DELETE FROM usage_statements; DELETE FROM usage_event_days',
        )
        await exportTable(from, { what: 'usage', file: usage, format: 'parquet' })
        await importToClickhouse(made, { ...asked, file: usage, source: 'gateway' })
        await from.execute(`UPDATE usage_events SET id = source || '/' || id, source = 'gateway'`)
        await made.insertRows('usage_polls', await from.rows('FROM usage_polls'))
        return made
      }
      const all = await lines(own, 'marked')
      const alone = await lines(ownAlone, 'marked_alone')
      const options = usageOptions({ account: subject.name, keyNames, contract: null, by: 'key' })
      const page = await pageOf(all, options)
      expect(page === (await pageOf(alone, options))).toBe(true)
      expect(page).toBe(JSON.stringify(await readUsage(own, options), null, 1))
      for (const mark of marksOfOthers) expect(page.includes(mark) ? mark : '').toBe('')
      expect(await closeDays(all, null, utc(2026, 11, 6))).toBe(5)
      expect(await closeDays(alone, null, utc(2026, 11, 6))).toBe(5)
      const closed = await pageOf(all, options)
      expect(closed === (await pageOf(alone, options))).toBe(true)
      const condition =
        /\baccount = \{usage_account:String\}|key_fp IN \(SELECT key_fp FROM [\s\S]*?\) = \{usage_account:String\}\)/g
      // Each place of the condition in a query, by what it guards.
      for (const at of ['usage_events', 'usage_quarters', 'usage_polls']) {
        const mutated: ClickHouse = {
          ...all,
          writeParquet(sql, parameters, file) {
            const text = sql.replace(condition, (found, place: number) => {
              const [table] =
                sql
                  .slice(0, place)
                  .match(
                    /usage_(events|buckets|quarters|polls)(?!.*usage_(events|buckets|quarters|polls))/s,
                  ) ?? []
              return table === at ? 'true' : found
            })
            return all.writeParquet(text, parameters, file)
          },
        }
        expect((await pageOf(mutated, options)) === closed ? `${at} lives` : '').toBe('')
      }
      const served = await servedFrom(clickhouseSource(all))
      const servedAlone = await servedFrom(clickhouseSource(alone))
      for (const path of everyPath) {
        const token = await tokenOf(subject.name)
        const answer = await bytesOf(await served.ask(path, token))
        expect(answer.slice(0, 3), path).toBe('200')
        expect(answer === (await bytesOf(await servedAlone.ask(path, token))) ? '' : path).toBe('')
        for (const mark of marksOfOthers) expect(answer.includes(mark) ? mark : '').toBe('')
      }
      await served.close()
      await servedAlone.close()
    } finally {
      own.close()
      ownAlone.close()
    }
  }, 240_000)

  test('sums and entries of a ledger give the same page in both engines, and newer sums replace older ones', async () => {
    const made = await database('sums')
    const own = await openStore(':memory:')
    const startS = utc(2026, 11, 3) / 1e6
    const exported = (requests: number) => ({
      ...{ object: 'page', has_more: false, next_page: null },
      data: [
        {
          ...{ object: 'bucket', start_time: startS, end_time: startS + 86_400 },
          results: [
            {
              num_model_requests: requests,
              input_tokens: 100,
              output_tokens: 20,
              input_cached_tokens: 60,
              model: 'm',
            },
          ],
        },
      ],
    })
    const entries = [
      { id: '1', time: '2026-11-03T10:00:00Z', type: 'usage', credits: '3.06e-05', unit: 'USD' },
      { id: '2', time: '2026-11-04T10:00:00Z', type: 'refund', credits: '0.00001', unit: 'USD' },
      { id: '3', time: '2026-11-04T10:00:00Z', type: 'grant', credits: '5', unit: 'USD' },
    ]
    const logs = [
      ['noon.json', JSON.stringify(exported(2))],
      ['midnight.json', JSON.stringify(exported(4))],
      ['ledger.jsonl', entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')],
    ] as const
    for (const [name, text] of logs) {
      const file = join(folder, name)
      writeFileSync(file, text)
      const counts = await importFile(own, { file })
      expect(await importToClickhouse(made, { file })).toEqual(counts)
    }
    for (const timezone of ['UTC', 'Asia/Kathmandu', 'America/New_York']) {
      const options = usageOptions({ contract: null, timezone })
      const page = await pageOf(made, options)
      expect(page).toBe(JSON.stringify(await readUsage(own, options), null, 1))
      const { totals } = JSON.parse(page)
      expect(totals.requests.value).toBe(5)
      expect(totals.money).toEqual([
        { unit: 'USD', used: '0.0000206', refunds: '-0.00001', computed: '0' },
      ])
    }
    own.close()
    await made.close()
  }, 240_000)

  test('the commands create tables, import, close days and print the page', async () => {
    await (await database('commands')).close()
    const engine = ['--engine', door.address('commands')]
    const env = { ...process.env, ASSAY_API_KEY: 'sk-of-the-service' }
    const assay = async (...args: readonly string[]) =>
      promisify(execFile)(process.execPath, [main, ...args, ...engine], {
        cwd: folder,
        maxBuffer: 1e8,
        env,
      })
    expect((await assay('usage', 'init')).stdout).toMatch(/:\d+\/commands: 7 tables exist\n/)
    const imported = await assay('import', log, '--map', 'assay', '--source', 'log')
    expect(imported.stdout).toContain('1,500 lines = 1,500 accepted + 0 known + 0 rejected')
    const line = (day: number) =>
      `{"id": "e${day}", "time": "2026-11-0${day}T10:00:00Z", "credits": 2}\n`
    const cut = join(folder, 'cut.jsonl')
    writeFileSync(cut, `${line(4)}${line(5)}${line(6).slice(0, 20)}`)
    const whole = await assay('import', cut, '--source', 'part').catch((error) => error)
    expect(whole.stderr).toContain('cut.jsonl ends in the middle (2 whole lines). Nothing was')
    const part = await assay('import', cut, '--source', 'part', '--partial')
    expect(part.stdout).toContain('2 lines = 2 accepted + 0 known + 0 rejected')
    const closed = await assay('usage', 'close', '--to', '2026-11-03')
    expect(closed.stdout).toMatch(/commands: 2 days are stored as quarters of an hour\n/)
    const service = createServer((_, response) => response.end('{"remaining": 40, "consumed": 2}'))
    await once(service.listen(0, '127.0.0.1'), 'listening')
    const { port } = service.address() as AddressInfo
    await assay('usage', 'watch', '--base-url', `http://127.0.0.1:${port}`, '--count', '1')
    service.close()
    const polls = await openClickhouse(door.address('commands'))
    expect(await polls.rows('SELECT remaining, consumed FROM usage_polls')).toEqual([
      { remaining: 40, consumed: 2 },
    ])
    await polls.close()
    const { stdout } = await assay('usage', '--json')
    const { cards, scope } = JSON.parse(stdout)
    expect(cards[1]).toMatchObject({ name: 'requests', value: 2252 })
    const from = { fromUs: utc(2026, 11, 4, 10), toUs: utc(2026, 11, 5, 10) + 1 }
    expect(
      scope.sources.map(({ source, partial }: { source: string; partial: object | null }) => [
        source,
        partial,
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['log', null],
        ['part', from],
      ]),
    )
    const refused = await assay('usage', 'latest').catch((error) => error)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/^Choose one of runs, --engine and --quarters/),
    ])
    expect(stdout + imported.stdout + closed.stdout + refused.stderr).not.toContain('s3cret')
  }, 120_000)

  test('no error contains the password', async () => {
    const wrong = await openClickhouse(door.address('whole').replace('s3cret', 'wr0ng'))
    const summary = await wrong.rows('SELECT 1').catch((error: Error) => error.message)
    expect(summary).toMatch(/^clickhouse:\/\/127\.0\.0\.1:\d+\/whole: .*assay:\[key\]: Auth/)
    await wrong.close()
    const empty = await openClickhouse(door.address('default'))
    await expect(empty.rows('SELECT * FROM nothing')).rejects.toThrow(/assay usage init/)
    await empty.close()
  })
})

/** Two weeks of some keys and models, with failures, missing values, and odd requests. */
async function enterWeeks(): Promise<void> {
  await enterEvents(
    store,
    Array.from({ length: 1500 }, (_, at) => ({
      atUs: utc(2026, 11, 1) + at * 777e6 + (at % 7) * 1e6,
      model: at % 11 === 0 ? null : `svc-${at % 12}\\'é`,
      keyFp: at % 13 === 0 ? null : at > 700 && at % 5 === 0 ? 'fresh' : `key${(at * at) % 9}`,
      account: at % 3 === 0 ? null : `account${at % 4}`,
      credits: at % 17 === 0 ? null : (at % 5) / 4,
      promptTokens: at % 19 === 0 ? null : at * 300,
      requests: 1 + (at % 2),
      ...(at % 10 === 0 ? { outcome: 'http_error', status: at % 20 === 0 ? 429 : 500 } : {}),
      ...(at % 23 === 0 ? { outcome: 'timeout', status: null, credits: null } : {}),
    })),
  )
}

test('an invalid address is refused, and a cluster has its tables on every shard', async () => {
  await expect(openClickhouse('http://user:hidden@host')).rejects.toThrow(
    /^--engine: expected clickhouse:/,
  )
  const statements = tablesSql('main')
  expect(statements).toHaveLength(14)
  expect(statements[0]).toContain('usage_events_local ON CLUSTER `main` (')
  expect(statements[1]).toBe(
    "CREATE TABLE IF NOT EXISTS usage_events ON CLUSTER `main` AS usage_events_local\nENGINE = Distributed('main', currentDatabase(), usage_events_local, cityHash64(source, id))",
  )
})
