import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clickhouseEngine } from '../../src/report/usage/engine/clickhouse.ts'
import type { ClickHouse } from '../../src/store/clickhouse/clickhouse.ts'
import { importToClickhouse } from '../../src/store/clickhouse/import-log.ts'
import { importFile } from '../../src/store/import/import-file.ts'
import { openmeter, readSample, zones } from '../store/import/read-sample.ts'
import { openStore, type Store } from '../store/opened.ts'
import { openTables, withoutChdb } from './chdb.ts'

/** Bills and logs of agents in ClickHouse: each figure is that of the store, which is that of an independent reader. */
const folder = join(import.meta.dirname, '../store/import/bill-samples')
const names = Object.keys(JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')))

test.skipIf(withoutChdb === null)(`the engine is not tried: ${withoutChdb}`, (context) =>
  context.skip(withoutChdb!),
)

describe.skipIf(withoutChdb !== null)('bills in ClickHouse', () => {
  let engine: Awaited<ReturnType<typeof openTables>>
  let clickhouse: ClickHouse
  let store: Store
  beforeAll(async () => {
    engine = await openTables()
    clickhouse = engine.clickhouse
    store = await openStore(':memory:')
  }, 120_000)
  afterAll(async () => {
    store.close()
    await engine.close()
  })

  test.each(names)(
    '%s: days, models, units and adjustments are those of the store, in five zones',
    {
      timeout: 240_000,
    },
    async (name) => {
      const own = await openStore(':memory:')
      try {
        for (const each of name.split(' + ')) {
          const file = {
            file: join(folder, each),
            ...(each.includes('openmeter') ? { mapping: openmeter } : {}),
            source: name,
          }
          expect(await importFile(own, file)).toMatchObject({ rejected: 0 })
          expect(await importToClickhouse(clickhouse, file)).toMatchObject({ rejected: 0 })
        }
        for (const timezone of zones) {
          const there = await readSample(store, timezone, [name], clickhouseEngine(clickhouse))
          expect([timezone, there]).toEqual([timezone, await readSample(own, timezone, [name])])
        }
      } finally {
        own.close()
      }
    },
  )
})
