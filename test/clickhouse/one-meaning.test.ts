import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { clickhouseSource } from '../../src/portal/source/clickhouse-source.ts'
import { clickhouseEngine, closeDays } from '../../src/report/usage/engine/clickhouse.ts'
import { readUsage } from '../../src/report/usage/read.ts'
import { openClickhouse } from '../../src/store/clickhouse/clickhouse.ts'
import { importToClickhouse } from '../../src/store/clickhouse/import-log.ts'
import { tablesSql } from '../../src/store/clickhouse/tables.ts'
import { exportTable } from '../../src/store/files/export.ts'
import { ownMapping } from '../../src/store/import/mapping.ts'
import { servedFrom } from '../portal/portal.ts'
import {
  byAccount,
  eventsOf,
  expectApi,
  expectPage,
  expectSums,
  someLines,
} from '../report/usage/meaning.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'
import { type Door, openDoor, withoutChdb } from './chdb.ts'

test.skipIf(withoutChdb === null)(`the engine is not tried: ${withoutChdb}`, (context) =>
  context.skip(withoutChdb!),
)

describe.skipIf(withoutChdb !== null)('usage in ClickHouse', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-meaning-'))
  let door: Door
  beforeAll(async () => {
    door = await openDoor()
  }, 120_000)
  afterAll(() => {
    door.close()
    rmSync(folder, { recursive: true })
  })

  test('each figure of an import has one value everywhere, and keeps it when days are closed', async () => {
    const lines = someLines()
    const file = join(folder, 'log.parquet')
    const store = await openStore(':memory:')
    const clickhouse = await openClickhouse(door.address('default'))
    for (const statement of tablesSql(null)) await clickhouse.command(statement)
    const served = await servedFrom(clickhouseSource(clickhouse))
    try {
      await enterEvents(store, eventsOf(lines))
      await exportTable(store, { what: 'usage', file, format: 'parquet' })
      await store.execute('DELETE FROM usage_events')
      await importToClickhouse(clickhouse, { file, mapping: ownMapping, source: 'log' })
      const expectAll = async () => {
        await served.portal.refresh()
        for (const mine of byAccount(lines)) {
          await expectPage(
            (options) => readUsage(store, options, clickhouseEngine(clickhouse)),
            mine,
          )
          await expectSums(store, mine, clickhouseEngine(clickhouse))
          await expectApi(served, mine)
        }
      }
      await expectAll()
      await closeDays(clickhouse, null, utc(2026, 11, 15))
      await expectAll()
    } finally {
      await served.close()
      store.close()
    }
  }, 240_000)
})
