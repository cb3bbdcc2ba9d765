import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { quarterCells, quartersFile } from '../../../../src/report/usage/engine/quarters-file.ts'
import { readUsage } from '../../../../src/report/usage/read.ts'
import { exportTable } from '../../../../src/store/files/export.ts'
import { openStore, type Store } from '../../../../src/store/session/open.ts'
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

/** Two weeks of some keys and models, with failures and missing values. */
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
  'a table of quarters gives the page of its events, to the last digit, by %s',
  { tags: 'whole' },
  async (by) => {
    await enterWeeks()
    const file = join(folder, 'quarters.parquet')
    await exportTable(store, { what: 'quarters', file, format: 'parquet' })
    const options = usageOptions({ by, timezone: 'Asia/Kathmandu', contract: null })
    const page = await readUsage(store, options)
    expect(page.peak.minute).toBe(2)
    const own = await openStore(':memory:')
    const fromFile = await readUsage(own, options, await quartersFile(own, file))
    own.close()
    expect(fromFile.scope.notes).toContain(
      'The data are sums per quarter of an hour, so single requests are not flagged.',
    )
    expect(JSON.stringify({ ...fromFile, scope: page.scope })).toBe(JSON.stringify(page))
  },
)

const write = (sql: string, name = 'few.parquet') =>
  store.execute(`COPY (${sql}) TO '${join(folder, name)}' (FORMAT parquet)`)
const few = `SELECT 'log' AS source, 1980000 + i AS quarter, 'ok' AS outcome, 2 AS requests, 0.5 AS credits FROM range(3) AS t(i)`

test('four columns and a folder of files are enough', { tags: 'whole' }, async () => {
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

test('a file that is not a table of quarters is refused with an explanation', async () => {
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
  await write(`SELECT * REPLACE ('1,50' AS credits) FROM (${few})`)
  await expect(quartersFile(store, file)).rejects.toThrow(/cannot be read: .*1,50/)
  await write(`SELECT *, 'few' AS prompt_tokens, 1 AS both_tokens, 1 AS tokens_known FROM (${few})`)
  await expect(quartersFile(store, file)).rejects.toThrow(/cannot be read: .*few/)
})

test('a quarter may be a number of four bytes', async () => {
  const file = join(folder, 'few.parquet')
  await write(
    `SELECT * REPLACE (quarter::INTEGER AS quarter, requests::INTEGER AS requests) FROM (${few})`,
  )
  const cells = await quarterCells(store, file, '--quarters')
  expect(
    await store.rows(
      `SELECT min(first_us)::VARCHAR AS first, max(last_us)::VARCHAR AS last FROM (${cells})`,
    ),
  ).toEqual([{ first: '1782000000000000', last: '1782002699999999' }])
})

test('only the named sources are read from a file', { tags: 'whole' }, async () => {
  await write(`${few} UNION ALL SELECT * REPLACE ('other' AS source) FROM (${few})`)
  const engine = await quartersFile(store, join(folder, 'few.parquet'))
  expect([engine.name, engine.holdsRequests]).toEqual([join(folder, 'few.parquet'), false])
  const requests = async (sources: readonly string[]) =>
    (await readUsage(store, usageOptions({ contract: null, sources }), engine)).cards[1]!.value
  expect(await requests([])).toBe(12)
  expect(await requests(['other'])).toBe(6)
})

test('decimals of a file keep their digits, and the minutes of a quarter give the peak', {
  tags: 'whole',
}, async () => {
  const minutes = (first: number) => `[${[first, ...Array.from({ length: 14 }, () => 0)]}]`
  await write(`SELECT * REPLACE (0.123456789::DECIMAL(20, 9) AS credits), CASE WHEN i = 1 THEN ${minutes(2)} END AS minutes
    FROM (SELECT *, quarter - 1980000 AS i FROM (${few}))`)
  const page = await readUsage(
    store,
    usageOptions({ contract: null }),
    await quartersFile(store, join(folder, 'few.parquet')),
  )
  expect(page.cards[0]!.value).toBeCloseTo(3 * 0.123456789, 12)
  expect(page.peak.minute).toBe(2)
})

const quarterUs = 900e6
test.each([
  ['a source', `SELECT * REPLACE (NULL::VARCHAR AS source) FROM (${few})`, true],
  ['a request', `SELECT * REPLACE (0 AS requests) FROM (${few})`, true],
  ['one request', `SELECT * REPLACE (1 AS requests) FROM (${few})`, false],
  ['whole requests', `SELECT * REPLACE (1.5::DECIMAL(10, 2) AS requests) FROM (${few})`, true],
  ['whole tokens', `SELECT *, 10.6::DOUBLE AS prompt_tokens FROM (${few})`, true],
  ['whole tokens as a double', `SELECT *, 10::DOUBLE AS prompt_tokens FROM (${few})`, false],
  ['tokens from 0 on', `SELECT *, -5 AS prompt_tokens FROM (${few})`, true],
  ['as many known costs as requests', `SELECT *, 2 AS credits_known FROM (${few})`, false],
  ['no more known costs than requests', `SELECT *, 3 AS credits_known FROM (${few})`, true],
  ['any amount', `SELECT * REPLACE (-2 AS credits) FROM (${few})`, false],
  [
    'a first time in the quarter',
    `SELECT *, quarter * ${quarterUs} - 1 AS first_us FROM (${few})`,
    true,
  ],
  [
    'a last time in the quarter',
    `SELECT *, (quarter + 1) * ${quarterUs} AS last_us FROM (${few})`,
    true,
  ],
  [
    'times within its ends',
    `SELECT *, quarter * ${quarterUs} AS first_us, (quarter + 1) * ${quarterUs} - 1 AS last_us FROM (${few})`,
    false,
  ],
  [
    'minutes that add up',
    `SELECT *, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] AS minutes FROM (${few})`,
    true,
  ],
  ['fifteen minutes', `SELECT *, [2] AS minutes FROM (${few})`, true],
  [
    'fifteen minutes that add up',
    `SELECT *, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] AS minutes FROM (${few})`,
    false,
  ],
])('a quarter needs %s', async (_, sql, isRefused) => {
  await write(sql)
  const read = quartersFile(store, join(folder, 'few.parquet')).then(() => 'read', String)
  expect(await read).toMatch(
    isRefused ? /contains a row that is not a quarter \(source .*, quarter 1980000\)/ : /^read$/,
  )
})

test('a path with pattern characters is taken literally', async () => {
  await write(few, 'a[1].parquet')
  expect((await quartersFile(store, join(folder, 'a[1].parquet'))).name).toMatch(/a\[1\]/)
  await expect(quartersFile(store, join(folder, 'none'))).rejects.toThrow(
    /--quarters: .*none: no such file/,
  )
})
