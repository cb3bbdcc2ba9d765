import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clickhouseEngine } from '../../src/report/usage/engine/clickhouse.ts'
import type { ClickHouse } from '../../src/store/clickhouse/clickhouse.ts'
import { importToClickhouse } from '../../src/store/clickhouse/import-log.ts'
import { tries } from '../nightly/tries.ts'
import { usageOptions } from '../report/usage-events.ts'
import { keepsSums } from '../store/import/any-cut.ts'
import { daysOf, saidOf, samples, sumsOf, zonesOf } from '../store/import/samples.ts'
import { openStore, type Store } from '../store/opened.ts'
import { openTables, withoutChdb } from './chdb.ts'

test.skipIf(withoutChdb === null)(`the engine is not tried: ${withoutChdb}`, (context) =>
  context.skip(withoutChdb!),
)

describe.skipIf(withoutChdb !== null)('logs in ClickHouse', () => {
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

  keepsSums(
    'ClickHouse',
    () => ({
      take: (file) => importToClickhouse(clickhouse, file),
      sums: async (options) => {
        const scratch = await openStore(':memory:')
        try {
          return await sumsOf(scratch, options, clickhouseEngine(clickhouse))
        } finally {
          scratch.close()
        }
      },
    }),
    tries(1, 8),
  )

  test.each(samples)(
    '$name: every figure is the expected one in each zone',
    async (sample) => {
      const { name, imports } = sample
      const { kind, daysIn, days: ownDays, ...figures } = sample.expected
      for (const each of imports) {
        expect(await importToClickhouse(clickhouse, { ...each, source: name })).toMatchObject({
          rejected: 0,
        })
      }
      for (const timezone of zonesOf(sample)) {
        const options = usageOptions({ contract: null, timezone, sources: [name] })
        const page = await sumsOf(store, options, clickhouseEngine(clickhouse))
        const { days, ...said } = saidOf(page)
        expect([timezone, said]).toEqual([timezone, figures])
        const isOwn = timezone === daysIn || kind === 'buckets of 1 day'
        const expected = isOwn ? ownDays : daysOf(sample, timezone)
        if (expected !== null) expect([timezone, days]).toEqual([timezone, expected])
      }
    },
    240_000,
  )
})
