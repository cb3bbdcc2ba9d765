import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { importFile } from '../../../src/store/import/import-file.ts'
import type { FileImport } from '../../../src/store/import/import-options.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { emptyStore, type Store } from '../opened.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-cells-'))
afterAll(() => rmSync(folder, { recursive: true }))
let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

const mapping = parseMapping('fields: { id: id, time: time, credits: cost, promptTokens: tokens }')
const header = 'id,time,cost,tokens'
const row = (id: number, change: { time?: string; cost?: string; tokens?: string } = {}) =>
  [id, change.time ?? '2026-11-03T10:00:00Z', change.cost ?? '0.5', change.tokens ?? '10'].join()

let files = 0

async function take(rows: readonly string[], options: Partial<FileImport> = {}, first = header) {
  const file = join(folder, `${files++}.csv`)
  writeFileSync(file, [first, ...rows, ''].join('\n'))
  return importFile(store, { file, mapping, ...options })
}

const reasonsIn = ({ rejectsFile }: { readonly rejectsFile?: string | null }) =>
  readFileSync(rejectsFile!, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly reason: string }).reason)

const stored = (sql: string) =>
  store
    .rows<{ of: string | null }>(
      `SELECT (${sql})::VARCHAR AS of FROM usage_events ORDER BY id::INTEGER`,
    )
    .then((rows) => rows.map(({ of }) => of))
const times = `strftime(make_timestamp(at_us), '%Y-%m-%d %H:%M:%S')`

describe('times of spreadsheets', () => {
  test.each([
    [
      ['11/3/2026 2:30 PM', '11/23/2026 12:05:09 AM'],
      ['2026-11-03 14:30:00', '2026-11-23 00:05:09'],
    ],
    [
      ['"11/3/2026, 2:30:00 PM"', '"11/23/2026, 12:05 PM"'],
      ['2026-11-03 14:30:00', '2026-11-23 12:05:00'],
    ],
    [
      ['3/11/2026 14:30', '23/11/2026'],
      ['2026-11-03 14:30:00', '2026-11-23 00:00:00'],
    ],
    [
      ['2026/11/03 10:00:00', '2026/11/03'],
      ['2026-11-03 10:00:00', '2026-11-03 00:00:00'],
    ],
  ])('%s', { tags: 'whole' }, async (cells, expected) => {
    expect(await take(cells.map((time, id) => row(id, { time })))).toMatchObject({ rejected: 0 })
    expect(await stored(times)).toEqual(expected)
  })

  test('each column of times says the order of day and month', async () => {
    const own = parseMapping(
      'fields: { time: from, end: to, version: changed, requests: { value: "3" } }',
    )
    const bounds = async (line: string) => {
      const source = `bounds ${files}`
      await take([line], { mapping: { ...own, source } }, 'from,to,changed')
      const at = (name: string) => `strftime(make_timestamp(${name}), '%Y-%m-%d %H')`
      return store.rows<{ from: string; to: string }>(
        `SELECT ${at('start_us')} AS from, ${at('end_us')} AS to FROM usage_statements WHERE source = $1`,
        [source],
      )
    }
    expect(await bounds('01/03/2026 10:00,25/03/2026 10:00,')).toEqual([
      { from: '2026-03-01 10', to: '2026-03-25 10' },
    ])
    expect(await bounds('2026-11-03T10:00:00Z,12/25/2026 10:00,')).toEqual([
      { from: '2026-11-03 10', to: '2026-12-25 10' },
    ])
    expect(await bounds('2026-11-03T10:00:00Z,2026-11-04T10:00:00Z,25/12/2026')).toEqual([
      { from: '2026-11-03 10', to: '2026-11-04 10' },
    ])
    const ledger = parseMapping(
      'fields: { id: id, time: time, type: { value: grant }, credits: cost, expires: until }',
    )
    const imported = await take(
      ['4,2026-11-03T10:00:00Z,5,25/12/2026'],
      { mapping: ledger },
      'id,time,cost,until',
    )
    expect(imported).toMatchObject({ accepted: 1, rejected: 0 })
  })

  test('an end that is none is called by the name of its field', async () => {
    const own = parseMapping('fields: { id: id, time: from, end: to }')
    const rows = ['1,2026-11-03T10:00:00Z,xyz', '2,2026-11-03T10:00:00Z,2026-11-03T09:00:00Z']
    const imported = await take(rows, { mapping: own }, 'id,from,to')
    expect(reasonsIn(imported)).toEqual([
      'end: expected a time after that of the line (ISO 8601, or Unix s, ms, us or ns), got "xyz"',
      'end: expected a time after that of the line (ISO 8601, or Unix s, ms, us or ns), got "2026-11-03T09:00:00Z"',
    ])
  })

  test('a time that was shortened is rejected, and one with two digits for the year', {
    tags: 'whole',
  }, async () => {
    const rows = ['1.79E+12', '23/11/26 14:30', '2026-11-03T10:00:00Z']
    expect(await take(rows.map((time, id) => row(id, { time })))).toMatchObject({
      ...{ accepted: 1, rejected: 2 },
    })
  })
})

describe('numbers of spreadsheets', () => {
  test.each([
    [
      ['"1,234.5"', '"12,345,678.25"'],
      ['1234.5', '12345678.25'],
    ],
    [
      ['"1,23,456.50"', '"12,34,56,789"'],
      ['123456.5', '123456789'],
    ],
    [
      ["1'234.50", '$7'],
      ['1234.5', '7'],
    ],
    [
      ['1\u00a0234.5', '1\u202f234.25'],
      ['1234.5', '1234.25'],
    ],
    [
      ['1e-7', '-0'],
      ['0.0000001', '0'],
    ],
  ])('%s', async (cells, expected) => {
    expect(await take(cells.map((cost, id) => row(id, { cost })))).toMatchObject({ rejected: 0 })
    const credits = await stored('credits::DECIMAL(38, 18)')
    expect(credits.map((text) => text!.replace(/\.?0+$/, ''))).toEqual(expected)
  })

  test('cells with a power of ten, which a spreadsheet has shortened, are counted', async () => {
    const imported = await take([
      row(1, { tokens: '1.23E+05' }),
      row(2, { cost: '4.5E+03' }),
      row(3),
    ])
    expect(imported).toMatchObject({
      rejected: 0,
      notes: [
        '2 cells such as 1,23E+05 were shortened by a spreadsheet: their last digits are lost',
      ],
    })
    expect(await stored('prompt_tokens')).toEqual(['123000', '10', '10'])
  })

  test('a count is a whole number, however it is written', async () => {
    const cells = ['15e-1', '1e-7', '1.5', '10.0', '1e3']
    const imported = await take(cells.map((tokens, id) => row(id, { tokens })))
    expect(imported).toMatchObject({ accepted: 2, rejected: 3 })
    expect(await stored('prompt_tokens')).toEqual(['10', '1000'])
  })

  test('numbers in JSON have a point, whatever the decimal mark of the columns beside it', async () => {
    const own = parseMapping(
      'fields: { id: id, time: time, promptTokens: tokens, credits: { column: usage, json: cost } }',
    )
    const usage = (cost: string) => `"{""cost"":${cost}}"`
    const rows = [
      `1;2026-11-03T10:00:00Z;1.234;${usage('1.234')}`,
      `2;2026-11-03T10:00:00Z;12.345;${usage('2.5')}`,
    ]
    for (const decimal of [undefined, ',', '.'] as const) {
      const mapping = { ...own, source: `mark ${decimal}`, ...(decimal && { decimal }) }
      const imported = await take(rows, { mapping }, 'id;time;tokens;usage')
      expect(imported).toMatchObject(
        decimal === '.' ? { rejected: 2 } : { accepted: 2, rejected: 0 },
      )
    }
    const credits = await stored('credits::DOUBLE')
    expect(credits).toEqual(['1.234', '1.234', '2.5', '2.5'])
  })

  test('a number of JSON Lines has a point, and a text the decimal mark that the mapping says', async () => {
    const file = join(folder, 'marks.jsonl')
    const line = (id: number, cost: unknown) =>
      `${JSON.stringify({ id, time: '2026-11-03T10:00:00Z', cost, tokens: 10 })}\n`
    writeFileSync(file, line(1, 1.234) + line(2, '1,5') + line(3, '1.234'))
    await importFile(store, { file, mapping: { ...mapping, decimal: ',' } })
    expect(await stored('credits::DOUBLE')).toEqual(['1.234', '1.5', '1234.0'])
  })

  test('a number that the mapping gives has a point, whatever the decimal mark of the cells', async () => {
    const own = parseMapping(
      `fields: { id: id, time: time, credits: { column: cost, values: { Included: '0.125' } }, promptTokens: { value: '1000' } }`,
    )
    await take(
      ['1;2026-11-03T10:00:00Z;Included', '2;2026-11-03T10:00:00Z;1,5'],
      { mapping: { ...own, decimal: ',' } },
      'id;time;cost',
    )
    expect(await stored('credits::DOUBLE')).toEqual(['0.125', '1.5'])
  })

  test('an amount has all of its digits, wherever it is in JSON', async () => {
    const long = '0.123456789012345678'
    const wide = '1000000.000000000000000017'
    const file = join(folder, 'digits.jsonl')
    const line = (id: number, one: string, other: string) =>
      `{"id":${id},"time":"2026-11-03T10:00:00Z","costs":[${one},${other}],"text":"a, 12345678901234567"}\n`
    writeFileSync(file, line(1, long, '2') + line(2, '0.5', wide) + line(3, wide, long))
    const of = (credits: string) =>
      parseMapping(`{ source: s, fields: { id: id, time: time, credits: ${credits} } }`)
    await importFile(store, { file, mapping: of('costs.0') })
    const table = `4,2026-11-03T10:00:00Z,"{""cost"":${long}}"`
    await take([table], { mapping: of('{ column: usage, json: cost }') }, 'id,time,usage')
    const list = `5,2026-11-03T10:00:00Z,"{""costs"":[1,${wide}]}"`
    await take([list], { mapping: of('{ column: usage, json: costs.1 }') }, 'id,time,usage')
    expect(await stored('credits::DECIMAL(38, 18)')).toEqual([
      ...[long, '0.500000000000000000', wide, long, wide],
    ])
  })

  test('counts of decimals in Parquet are whole or refused, as those of a text are', async () => {
    const file = join(folder, 'decimals.parquet')
    await store.execute(
      `COPY (SELECT id, '2026-11-03T10:00:00Z' AS time, tokens::DECIMAL(18, 2) AS tokens, status::DECIMAL(9, 1) AS status, requests::DECIMAL(9, 2) AS requests
         FROM (VALUES (1, 2, 200, 1), (2, 1.5, 200, 1), (3, -0.4, 200, 1), (4, 2, 200.6, 1), (5, 2, 200, 1.5)) AS v(id, tokens, status, requests)) TO '${file}' (FORMAT parquet)`,
    )
    const own = parseMapping(
      'fields: { id: id, time: time, promptTokens: tokens, status: status, requests: requests }',
    )
    const imported = await importFile(store, { file, mapping: own })
    expect(imported).toMatchObject({ accepted: 1, rejected: 4 })
    expect(reasonsIn(imported)).toEqual([
      'prompt_tokens: expected a whole number, 0 or more, got "1.50"',
      'prompt_tokens: expected a whole number, 0 or more, got "-0.40"',
      'status: expected an HTTP status, got "200.6"',
      'requests: expected a whole number, 0 or more, got "1.50"',
    ])
  })

  test('what databases and data frames write for a missing value is not known', async () => {
    const words = ['', 'null', 'NaN', 'None', 'n/a', '-', '\\N', '<NA>', '0']
    const imported = await take(words.map((word, id) => row(id, { cost: word, tokens: word })))
    expect(imported).toMatchObject({ rejected: 0 })
    expect((await stored('credits')).slice(0, -1)).toEqual(words.slice(0, -1).map(() => null))
    expect((await stored('prompt_tokens')).at(-1)).toBe('0')
  })
})

describe('headers and ends of tables', () => {
  test('columns without a name behind the last one are no columns', async () => {
    const imported = await take([`${row(1)},,`, `${row(2)},,`], {}, `${header},,`)
    expect(imported).toMatchObject({ accepted: 2, rejected: 0 })
  })

  test('a column that occurs twice is refused, also in a known log', async () => {
    await expect(take([`${row(1)},2`], {}, `${header},cost`)).rejects.toThrow(
      /names the column "cost" twice/,
    )
    const file = join(folder, 'spend.csv')
    const names = 'request_id,startTime,spend,spend,prompt_tokens,completion_tokens,model'
    writeFileSync(file, `${names}\na,2026-11-03 10:00:00,1,2,3,4,m\n`)
    await expect(importFile(store, { file })).rejects.toThrow(/names the column "spend" twice/)
  })

  test('a last row that lacks cells is the end of a cut file', { tags: 'whole' }, async () => {
    const rows = [row(1), row(2), '3,2026-11-03T10:00:00Z']
    await expect(take(rows)).rejects.toThrow(
      /ends in the middle: its last row has 2 of 4 cells\. Nothing was imported\. Add --partial/,
    )
    expect(await take(rows, { partial: true })).toMatchObject({ accepted: 2, rejected: 1 })
    // A row within the file is a bad line.
    expect(await take([row(4), '5,2026-11-03T10:00:00Z', row(6)])).toMatchObject({
      ...{ accepted: 2, rejected: 1 },
    })
  })
})

describe('the source of a log', () => {
  test('is not the name of its file, which changes when the log is rotated', {
    tags: 'whole',
  }, async () => {
    const file = (name: string, ...rows: readonly string[]) => {
      const path = join(folder, name)
      writeFileSync(path, [header, ...rows, ''].join('\n'))
      return { file: path, mapping }
    }
    await importFile(store, file('june-1.csv', row(1), row(2)))
    const again = await importFile(store, file('june-2.csv', row(2), row(3)))
    expect(again).toMatchObject({ source: 'log', accepted: 1, duplicates: 1 })
    expect(again).toMatchObject({ notes: ['1 of 2 lines were in june-1.csv already'] })
    expect(await stored('id')).toEqual(['1', '2', '3'])
  })

  test('a refund of a request that comes later becomes one, and is known when it comes again', {
    tags: 'whole',
  }, async () => {
    const ledger = parseMapping('fields: { id: id, time: time, credits: cost, refersTo: of }')
    const types = () =>
      store
        .rows<{ id: string; type: string }>('SELECT id, type FROM usage_events ORDER BY id')
        .then((rows) => rows.map(({ id, type }) => `${id} ${type}`))
    const entry = (name: string, ...rows: readonly string[]) => {
      const path = join(folder, name)
      writeFileSync(path, ['id,time,cost,of', ...rows, ''].join('\n'))
      return importFile(store, { file: path, mapping: ledger })
    }
    await entry('r.csv', 'x,2026-11-03,-2,1', 'y,2026-11-03,-3,2')
    expect(await types()).toEqual(['x adjustment', 'y adjustment'])
    await entry('u.csv', '1,2026-11-03,5,')
    expect(await types()).toEqual(['1 usage', 'x refund', 'y adjustment'])
    expect(await entry('r.csv', 'x,2026-11-03,-2,1', 'y,2026-11-03,-3,2')).toMatchObject({
      ...{ accepted: 0, duplicates: 2, rejected: 0 },
    })
    // A file may hold the request, and the refund of an earlier file again.
    expect(await entry('b.csv', '2,2026-11-03,9,', 'y,2026-11-03,-3,2')).toMatchObject({
      ...{ accepted: 1, duplicates: 1, rejected: 0 },
    })
    expect(await types()).toEqual(['1 usage', '2 usage', 'x refund', 'y refund'])
  })
})

describe('times and units as services write them', () => {
  test('ISO 8601 without seconds, with a space before the offset, and with a decimal comma', async () => {
    const cells = [
      ...['2026-11-03T10:00Z', '2026-11-03 10:00 +05:30', '2026-11-03 10:00:00 +0530'],
      ...['"2026-11-03T10:00:00,5Z"', '2026-11-03T10:00:00.123456789Z', '2026-11-03T10:00+01'],
    ]
    expect(await take(cells.map((time, id) => row(id, { time })))).toMatchObject({ rejected: 0 })
    expect(await stored(`strftime(make_timestamp(at_us), '%H:%M:%S.%f')`)).toEqual([
      ...['10:00:00.000000', '04:30:00.000000', '04:30:00.000000'],
      ...['10:00:00.500000', '10:00:00.123456', '09:00:00.000000'],
    ])
  })

  test('a currency is one unit, however its letters are written, and a name is its own', async () => {
    const of = parseMapping('fields: { id: id, time: time, credits: cost, unit: unit }')
    const rows = ['usd', 'USD', ' Usd ', 'credits', 'Coins'].map((unit, id) => `${row(id)},${unit}`)
    const imported = await take(rows, { mapping: of }, `${header},unit`)
    expect(imported).toMatchObject({
      notes: ['3 units: Coins, USD, credits; they are not added up'],
    })
  })
})

test('a first line that is a list is one rejected line of JSON Lines', async () => {
  const file = join(folder, 'lists.jsonl')
  const line = { id: 1, time: '2026-11-03T10:00:00Z', cost: 1, tokens: 10 }
  writeFileSync(file, `[]\n${JSON.stringify(line)}\n[{"id":2}]\n`)
  const imported = await importFile(store, { file, mapping })
  expect(imported).toMatchObject({ lines: 3, accepted: 1, rejected: 2 })
  // One list, over several lines and in one.
  for (const text of [JSON.stringify([line], null, 1), JSON.stringify([line])]) {
    writeFileSync(file, text)
    expect(await importFile(store, { file, mapping })).toMatchObject({ lines: 1, duplicates: 1 })
  }
})

describe('JSON objects that follow each other', () => {
  const one = (id: number) => ({ id, time: '2026-11-03T10:00:00Z', cost: 0.5, tokens: 10 })
  test.each([
    ['in one line', `${JSON.stringify(one(1))}${JSON.stringify(one(2))}\n`],
    [
      'over several lines',
      `${JSON.stringify(one(1), null, 2)}\n${JSON.stringify(one(2), null, 2)}\n`,
    ],
    ['one of them alone', `${JSON.stringify(one(1), null, 2)}\n`],
  ])('%s', async (_, text) => {
    const file = join(folder, `${files++}.json`)
    writeFileSync(file, text)
    const count = text.split('"id"').length - 1
    expect(await importFile(store, { file, mapping })).toMatchObject({
      ...{ lines: count, accepted: count },
    })
    writeFileSync(file, text.trimEnd().slice(0, -4))
    await expect(importFile(store, { file, mapping })).rejects.toThrow(/ends in the middle/)
  })
})
test('a count of requests that cannot be read is refused: only a missing one is 1', async () => {
  const of = parseMapping('fields: { id: id, time: time, credits: cost, requests: n }')
  const cells = ['2', '', 'null', 'abc', '1.5', '-1']
  const rows = cells.map((cell, id) => `${row(id)},${cell}`)
  const imported = await take(rows, { mapping: of }, `${header},n`)
  expect(imported).toMatchObject({ accepted: 3, rejected: 3 })
  expect(await stored('requests')).toEqual(['2', '1', '1'])
})

test('a version that cannot be read is refused: only a missing one is none', async () => {
  const of = parseMapping('fields: { id: id, time: time, credits: cost, version: v }')
  const cells = ['7', '2026-11-03T10:00:00Z', '', 'null', 'abc']
  const rows = cells.map((cell, id) => `${row(id)},${cell}`)
  const imported = await take(rows, { mapping: of }, `${header},v`)
  expect(imported).toMatchObject({ accepted: 4, rejected: 1 })
  expect(await stored('version_us')).toEqual(['7000000', '1793700000000000', null, null])
})
