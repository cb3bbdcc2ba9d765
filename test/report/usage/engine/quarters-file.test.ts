import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { quartersFile } from '../../../../src/report/usage/engine/quarters-file.ts'
import { readUsage } from '../../../../src/report/usage/read.ts'
import { exportTable } from '../../../../src/store/export.ts'
import { openStore, type Store } from '../../../../src/store/open.ts'
import { enterEvents, usageOptions, utc } from '../../usage-events.ts'

let store: Store
let folder: string
beforeEach(async () => {
  store = await openStore(':memory:')
  folder = mkdtempSync(join(tmpdir(), 'assay-quarters-'))
})
afterEach(() => {
  store.close()
  rmSync(folder, { recursive: true })
})

/** Two weeks of some keys and models, with failures, and values that are not told. */
async function enterWeeks(): Promise<void> {
  await enterEvents(
    store,
    Array.from({ length: 1500 }, (_, at) => ({
      atUs: utc(2026, 11, 1) + at * 777e6 + (at % 7) * 1e6,
      model: at % 11 === 0 ? null : `svc-${at % 12}`,
      keyFp: at % 13 === 0 ? null : `key${(at * at) % 9}`,
      account: at % 3 === 0 ? null : `account${at % 4}`,
      credits: at % 17 === 0 ? null : at % 5,
      promptTokens: at % 19 === 0 ? null : at,
      requests: 1 + (at % 2),
      ...(at % 10 === 0
        ? { outcome: 'http_error', status: at % 20 === 0 ? 429 : 500, credits: 0 }
        : {}),
      ...(at % 23 === 0 ? { outcome: 'timeout', status: null, credits: null } : {}),
    })),
  )
}

test.each(['model', 'key', 'endpoint'] as const)(
  'the table of quarters gives the page of its events, to the last digit, by %s',
  async (by) => {
    await enterWeeks()
    const file = join(folder, 'quarters.parquet')
    await exportTable(store, 'quarters', [], file, 'parquet')
    const options = usageOptions({ by, timezone: 'Asia/Kathmandu', contract: null })
    const page = await readUsage(store, options)
    expect(page.peak.minute).toBe(2)
    const own = await openStore(':memory:')
    const fromFile = await readUsage(own, options, await quartersFile(own, file))
    own.close()
    expect(fromFile.scope.notes).toContain(
      'These are sums of quarters of an hour: flags on single requests are left out.',
    )
    expect(JSON.stringify({ ...fromFile, scope: page.scope })).toBe(JSON.stringify(page))
  },
)

const write = (sql: string, name = 'few.parquet') =>
  store.execute(`COPY (${sql}) TO '${join(folder, name)}' (FORMAT parquet)`)
const few = `SELECT 'log' AS source, 1980000 + i AS quarter, 'ok' AS outcome, 2 AS requests, 0.5 AS credits FROM range(3) AS t(i)`

test('four columns and a folder of files are enough', async () => {
  await write(few)
  await write(few, 'more.parquet')
  const { cards, peak } = await readUsage(
    store,
    usageOptions({ contract: null }),
    await quartersFile(store, folder),
  )
  expect(cards.map(({ name, value }) => [name, value])).toEqual([
    ['credits', 3],
    ['requests', 12],
    ['tokens', null],
    ['averageTokens', null],
  ])
  expect(peak.minute).toBeNull()
})

test('a file that is no table of quarters is refused in words', async () => {
  const file = join(folder, 'few.parquet')
  await expect(quartersFile(store, file)).rejects.toThrow(/no such file/)
  await write('SELECT 1 AS source')
  await expect(quartersFile(store, file)).rejects.toThrow(
    /has no column quarter, outcome, requests; it has source/,
  )
  await write(`SELECT * REPLACE ('fine' AS outcome) FROM (${few})`)
  await expect(quartersFile(store, file)).rejects.toThrow(/a known outcome/)
  await write(`SELECT *, [1, 1] AS minutes FROM (${few})`)
  await expect(quartersFile(store, file)).rejects.toThrow(/15 minutes/)
  await write(`SELECT * REPLACE ('many' AS requests) FROM (${few})`)
  await expect(quartersFile(store, file)).rejects.toThrow(/cannot be read: .*many/)
})
