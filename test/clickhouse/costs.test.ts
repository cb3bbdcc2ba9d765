import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadContract } from '../../src/contract/load.ts'
import { logPrices } from '../../src/price/price-log.ts'
import { clickhouseEngine } from '../../src/report/usage/engine/clickhouse.ts'
import { readUsage } from '../../src/report/usage/read.ts'
import type { ClickHouse } from '../../src/store/clickhouse/clickhouse.ts'
import { importToClickhouse } from '../../src/store/clickhouse/import-log.ts'
import { importFile } from '../../src/store/import/import-file.ts'
import { usageOptions } from '../report/usage-events.ts'
import { openStore, type Store } from '../store/opened.ts'
import { openTables, withoutChdb } from './chdb.ts'

test.skipIf(withoutChdb === null)(`the engine is not tried: ${withoutChdb}`, (context) =>
  context.skip(withoutChdb!),
)

describe.skipIf(withoutChdb !== null)('costs that are reported apart, in ClickHouse', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-costs-'))
  let engine: Awaited<ReturnType<typeof openTables>>
  let clickhouse: ClickHouse
  let store: Store
  beforeAll(async () => {
    engine = await openTables()
    clickhouse = engine.clickhouse
    store = await openStore(':memory:')
  }, 120_000)
  afterAll(async () => {
    await engine.close()
    store.close()
    rmSync(folder, { recursive: true })
  })

  test('they stand for the computed costs of their days and accounts alone, as in a store', async () => {
    const contract = join(folder, 'acme.yaml')
    writeFileSync(
      contract,
      'name: acme\nextends: none\ncurrency: USD\nmodels:\n  - { id: m, price: { input: 3, output: 15 } }\n',
    )
    const prices = logPrices(loadContract(contract))
    const sum = (day: number, of: object) => ({
      ...{ time: `2026-11-0${day}T00:00:00Z`, end: `2026-11-0${day + 1}T00:00:00Z`, ...of },
    })
    const usage = (day: number, account: string) =>
      sum(day, { model: 'm', account, requests: 2, promptTokens: 1e6, completionTokens: 0 })
    const logs = {
      usage: [usage(1, 'a'), usage(1, 'b'), usage(2, 'a'), usage(3, 'a'), usage(3, 'b')],
      costs: [
        sum(1, { credits: '9', unit: 'USD', account: 'a' }),
        sum(3, { credits: '20', unit: 'USD' }),
      ],
    }
    for (const [name, rows] of Object.entries(logs)) {
      const path = join(folder, `${name}.jsonl`)
      writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      const file = { file: path, source: 'log', ...(name === 'usage' ? { prices } : {}) }
      await importFile(store, file)
      await importToClickhouse(clickhouse, file)
    }
    const seen = async (account?: string) => {
      const asked = { contract: null, ...(account === undefined ? {} : { account }) }
      const own = (await readUsage(store, usageOptions(asked))).totals
      const engine = clickhouseEngine(clickhouse)
      const there = (await readUsage(store, usageOptions(asked), engine)).totals
      expect([account, there.money, there.unknownCost]).toEqual([
        account,
        own.money,
        own.unknownCost,
      ])
      return [own.money[0]!.used, own.money[0]!.computed, own.unknownCost]
    }
    expect(await seen()).toEqual(['29', '0', 0])
    expect(await seen('a')).toEqual(['15', '6', 0])
    expect(await seen('b')).toEqual(['6', '6', 0])
  }, 120_000)
})
