import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { accountView } from '../../src/portal/settings/account-view.ts'
import { clickhouseSource } from '../../src/portal/source/clickhouse-source.ts'
import { storeSource } from '../../src/portal/source/store-source.ts'
import { clickhouseEngine, closeDays } from '../../src/report/usage/engine/clickhouse.ts'
import { readUsage } from '../../src/report/usage/read.ts'
import type { ClickHouse } from '../../src/store/clickhouse/clickhouse.ts'
import { literal } from '../../src/store/literal.ts'
import { main } from '../e2e/command.ts'
import { nowMs, servedFrom, settingsOf, tokenOf } from '../portal/portal.ts'
import { enterEvents, usageOptions, utc } from '../report/usage-events.ts'
import { openStore, type Store } from '../store/opened.ts'
import { openTables, withoutChdb } from './chdb.ts'

test.skipIf(withoutChdb === null)(`the engine is not tried: ${withoutChdb}`, (context) =>
  context.skip(withoutChdb!),
)

const october = 'from=2026-10-01&to=2026-11-01'
const november = 'from=2026-11-01&to=2026-12-01'
const paths = [october, november].flatMap((period) => [
  `/v1/usage/summary?${period}`,
  `/v1/usage/series?${period}&by=model&bucket=day`,
  `/v1/usage/breakdown?${period}&by=model`,
  `/v1/usage/breakdown?${period}&by=day&sort=name`,
  `/v1/export?${period}`,
  `/page?${period}`,
])

describe.skipIf(withoutChdb !== null)('a closed month in ClickHouse', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-closed-'))
  let engine: Awaited<ReturnType<typeof openTables>>
  let clickhouse: ClickHouse
  let store: Store
  beforeAll(async () => {
    engine = await openTables()
    clickhouse = engine.clickhouse
    store = await openStore(join(folder, 'usage.duckdb'))
  }, 120_000)
  afterAll(async () => {
    await engine.close()
    store.close()
    rmSync(folder, { recursive: true })
  })

  /** Lines that came at a time, in both engines. */
  async function enter(cameUs: number, events: Parameters<typeof enterEvents>[1]) {
    const ids = events.map(({ id }) => literal(id!)).join()
    await enterEvents(store, events)
    await store.execute(
      `UPDATE usage_events SET ingested_us = ${cameUs}, import_no = ${cameUs % 1000} WHERE id IN (${ids})`,
    )
    const names = await clickhouse.rows<{ name: string }>(
      `SELECT name FROM system.columns WHERE table = 'usage_events' AND database = currentDatabase() AND default_kind <> 'MATERIALIZED'`,
    )
    const own = await store.rows<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'usage_events'`,
    )
    const columns = names
      .map(({ name }) => name)
      .filter((name) => own.some((each) => each.name === name))
    const file = join(folder, `${cameUs}.parquet`)
    await store.execute(
      `COPY (SELECT ${columns.join()} FROM usage_events WHERE id IN (${ids})) TO ${literal(file)} (FORMAT parquet)`,
    )
    await clickhouse.insertParquet('usage_events', columns, file)
  }

  test('has the figures of its file and what came later apart, byte for byte as in a store', async () => {
    const at = (month: number, day: number) => ({ atUs: utc(2026, month, day, 9), account: 'a' })
    await enter(utc(2026, 11, 1, 2), [
      { ...at(10, 20), id: 'a1', credits: 10, model: 'large', tags: '{"team":"x"}' },
      { ...at(10, 21), id: 'a2', credits: '20.25', model: 'small' },
      { ...at(10, 20), id: 'b1', credits: 7, account: 'b' },
    ])
    // The file of the month is made by the command, from ClickHouse itself.
    const file = join(folder, 'october.parquet')
    const words = ['export', 'quarters', '--engine', engine.door.address('default'), '--out', file]
    await promisify(execFile)(process.execPath, [main, ...words])
    await enter(utc(2026, 11, 12, 8), [
      { ...at(10, 20), id: 'a4', credits: '1.5', model: 'large' },
      { ...at(10, 22), id: 'a2-back', credits: -4, model: 'small', type: 'refund', requests: 0 },
      { ...at(11, 3), id: 'a3', credits: 5 },
      // What d holds is said by rows of an import.
      ...[
        { id: 'd-pack', type: 'purchase', credits: 50, terms: { name: 'Pack', models: 'small' } },
        { id: 'd-gift', type: 'gift', credits: '7.5', terms: { expiresUs: utc(2026, 12, 5) } },
        { id: 'd-void', type: 'expiry', credits: -5, terms: { refersTo: 'd-pack' } },
      ].map((row) => ({
        ...{ ...at(11, 2), ...row, account: 'd', requests: 0, model: null },
        terms: JSON.stringify(row.terms),
      })),
      { ...at(11, 3), id: 'd-use', account: 'd', credits: 12, model: 'small' },
    ])
    const settings = {
      ...settingsOf(
        'closed: [{ month: 2026-10, file: october.parquet }]\naccounts: { a: { grants: [{ name: Pack, credits: 100, from: 2026-10-01 }, { name: Trial, credits: 4, models: [small] }] } }\n',
      ),
      folder,
    }
    const both = await Promise.all(
      [storeSource(store, defaultContract), clickhouseSource(clickhouse)].map((source) =>
        servedFrom(source, settings),
      ),
    )
    try {
      const compare = async () => {
        for (const path of [...paths, '/v1/credits', '/v1/credits/outlook?days=30']) {
          // Their tags differ with the hashes of rows, their content does not.
          const [one, other] = await Promise.all(
            both.map(async ({ ask }) => {
              const answer = await ask(path, await tokenOf('a'))
              expect([path, answer.status]).toEqual([path, 200])
              // ClickHouse stores no durations, which the page says of its list of requests.
              return (await answer.text()).replace('"timed":false', '"timed":true')
            }),
          )
          expect(one!.length).toBeGreaterThan(100)
          if (other !== one) expect([path, other]).toEqual([path, one])
        }
      }
      await compare()
      const ask = async <T>(path: string, account = 'a') =>
        (await (await both[1]!.ask(path, await tokenOf(account))).json()) as T
      const then = await ask<Answers['summary']>(`/v1/usage/summary?${october}`)
      expect([then.credits?.value, then.requests.value, then.entries]).toEqual(['30.25', '2', []])
      const now = await ask<Answers['summary']>(`/v1/usage/summary?${november}`)
      expect([now.credits?.value, now.requests.value]).toEqual(['5', '1'])
      expect(now.entries).toEqual([
        {
          ...{ type: 'after-closing', unit: 'credits', value: '-2.5', entries: 1 },
          ...{ month: '2026-10', at: '2026-11-12T08:00:00+00:00' },
        },
      ])
      const other = await ask<Answers['summary']>(`/v1/usage/summary?${november}`, 'b')
      expect(other.entries).toEqual([])
      // What is left counts all use, whenever it came: 10 + 1.5 + 16.25 + 5, of which Trial pays 4.
      const { held, used, remaining } = await ask<Answers['credits']>('/v1/credits')
      expect([held, used, remaining]).toEqual(['104', '32.75', '71.25'])
      const memory = await openStore(':memory:')
      const { holdings } = accountView(settings, 'a')
      const options = usageOptions({ account: 'a', nowUs: nowMs * 1000, holdings })
      const { credits } = await readUsage(memory, options, clickhouseEngine(clickhouse), [
        'credits',
      ])
      memory.close()
      expect(credits).toMatchObject({ held, used, remaining })
      expect(credits!.grants.map((each) => each.used)).toEqual(['28.75', '4'])
      const told = await Promise.all(
        both.map(async (each) => (await each.ask('/v1/credits', await tokenOf('d'))).json()),
      )
      expect(told[1]).toEqual(told[0])
      expect(told[1]).toMatchObject({ held: '52.5', used: '12', remaining: '40.5', expired: '5' })
      const own = await openStore(':memory:')
      const read = await readUsage(
        own,
        usageOptions({ account: 'd', nowUs: nowMs * 1000 }),
        clickhouseEngine(clickhouse),
        ['credits'],
      )
      own.close()
      expect(read.credits).toMatchObject({ held: '52.5', used: '12', remaining: '40.5' })
      // Days that ClickHouse has as sums alone are the same.
      await closeDays(clickhouse, null, utc(2026, 11, 15))
      for (const { portal } of both) await portal.refresh()
      await compare()
    } finally {
      for (const each of both) await each.close()
    }
  }, 240_000)
})
