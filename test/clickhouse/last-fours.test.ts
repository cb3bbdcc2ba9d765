import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fingerprintOf } from '../../src/attempt/fingerprint.ts'
import { clickhouseSource } from '../../src/portal/source/clickhouse-source.ts'
import { clickhouseEngine } from '../../src/report/usage/engine/clickhouse.ts'
import { readUsage } from '../../src/report/usage/read.ts'
import { type ClickHouse, openClickhouse } from '../../src/store/clickhouse/clickhouse.ts'
import { importToClickhouse } from '../../src/store/clickhouse/import-log.ts'
import { tablesSql } from '../../src/store/clickhouse/tables.ts'
import { parseMapping } from '../../src/store/import/mapping.ts'
import { november, servedFrom, settingsOf, tokenOf } from '../portal/portal.ts'
import { usageOptions } from '../report/usage-events.ts'
import { inEmptyStore } from '../store/opened.ts'
import { type Door, openDoor, withoutChdb } from './chdb.ts'

test.skipIf(withoutChdb === null)(`the engine is not tried: ${withoutChdb}`, (context) =>
  context.skip(withoutChdb!),
)

const keys = ['sk-proj-Qm3vX8zLr0PtYw2Kijkl', 'sk-proj-b7NcE4aJ9uGfTi1Rwxyz'] as const
const mapping = parseMapping('fields: { id: id, time: at, account: who, key: key, credits: cost }')

describe.skipIf(withoutChdb !== null)('the last four letters of keys in ClickHouse', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-fours-'))
  const file = join(folder, 'log.jsonl')
  let door: Door
  let clickhouse: ClickHouse
  beforeAll(async () => {
    door = await openDoor()
    clickhouse = await openClickhouse(door.address('default'))
    const lines = keys.map((key, n) =>
      JSON.stringify({ id: `r${n}`, at: '2026-11-27T09:00:00Z', who: ['a', 'b'][n], key, cost: 1 }),
    )
    writeFileSync(file, lines.join('\n'))
  }, 120_000)
  afterAll(async () => {
    await clickhouse.close()
    door.close()
    rmSync(folder, { recursive: true })
  })

  /** What the page of the operator and that of each customer call the keys. */
  async function shown() {
    const served = await servedFrom(clickhouseSource(clickhouse), settingsOf())
    const of = async (account: string) => {
      const asked = await served.ask(
        `/v1/usage/breakdown?${november}&by=key`,
        await tokenOf(account),
      )
      const { rows } = (await asked.json()) as { rows: readonly { name: string }[] }
      return rows.map(({ name }) => name)
    }
    try {
      const pageOf = (account: string | null) =>
        inEmptyStore(async (store) => {
          const options = usageOptions({ by: 'key', contract: null, account })
          const page = await readUsage(store, options, clickhouseEngine(clickhouse))
          return page.topKeys.map(({ keyFp, lastFour }) => [keyFp, lastFour]).sort()
        })
      return {
        names: [await of('a'), await of('b')],
        all: await pageOf(null),
        a: await pageOf('a'),
      }
    } finally {
      await served.close()
    }
  }

  test('they are those of the log, each in its own account; tables of before have none until the log is imported again', async () => {
    for (const statement of tablesSql(null)) await clickhouse.command(statement)
    await clickhouse.command('DROP TABLE usage_keys')
    const imported = () => importToClickhouse(clickhouse, { file, mapping, source: 'log' })
    await imported()
    const prints = keys.map(fingerprintOf)
    expect(await shown()).toEqual({
      names: [['key 1'], ['key 1']],
      all: prints.map((print) => [print, null]).sort(),
      a: [[prints[0], null]],
    })
    for (const statement of tablesSql(null)) await clickhouse.command(statement)
    expect(await imported()).toMatchObject({ accepted: 0, duplicates: 2 })
    const [a, b] = [
      [prints[0], 'ijkl'],
      [prints[1], 'wxyz'],
    ]
    expect(await shown()).toEqual({
      names: [['…ijkl'], ['…wxyz']],
      all: [a, b].sort(),
      a: [a],
    })
  })
})
