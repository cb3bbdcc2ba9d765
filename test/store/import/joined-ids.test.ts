import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { importFile } from '../../../src/store/import/import-file.ts'
import { joinedId, joinedIdSql } from '../../../src/store/import/joined-id.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { emptyStore, type Store } from '../opened.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-ids-'))
afterAll(() => rmSync(folder, { recursive: true }))
let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

let files = 0
function take(mapping: string, lines: readonly string[]) {
  const file = join(folder, `${files++}.csv`)
  writeFileSync(file, [...lines, ''].join('\n'))
  return importFile(store, { file, mapping: parseMapping(mapping) })
}

const daily = `source: sums
bucket: 1d
fields: { time: day, model: model, account: account, requests: n }`
const sums = (...lines: readonly string[]) =>
  take(daily, ['day,model,account,n', ...lines.map((line) => `2026-11-03,${line}`)])

const counted = () =>
  store.rows(
    `SELECT model, account, requests::INTEGER AS n FROM usage_buckets WHERE replaced_by IS NULL ORDER BY ALL`,
  )

/** The ids that former releases gave: the values with `/` between them. */
const asBefore = () =>
  store.execute(
    `UPDATE usage_statements SET id = concat_ws('/', start_us, end_us, outcome,
       array_to_string(json_extract_string(substr(id, strpos(id, '{')), '$.*'), '/'))`,
  )

test('two sums whose names have slashes are two, however the slashes fall', {
  tags: 'whole',
}, async () => {
  await sums('a/b,c,1', 'a,b/c,2')
  expect(await counted()).toEqual([
    { model: 'a', account: 'b/c', n: 2 },
    { model: 'a/b', account: 'c', n: 1 },
  ])
})

/** Texts of parts with slashes between, as a model and an account: each is split at every one of its slashes. */
const splits = fc
  .array(fc.constantFrom('a', 'b', '~', '~1', '"', '{', ':', ''), { minLength: 3, maxLength: 6 })
  .map((parts) =>
    parts.slice(1).map((_, at) => ({
      model: parts.slice(0, at + 1).join('/') || '-',
      account: parts.slice(at + 1).join('/') || '-',
    })),
  )
const named = fc
  .array(splits, { minLength: 20, maxLength: 40 })
  .map((all) => [...new Map(all.flat().map((each) => [JSON.stringify(each), each])).values()])
const cell = (text: string) => `"${text.replaceAll('"', '""')}"`

test('sums are as many as their names are different, whatever signs these have', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(named, async (all) => {
      await store.execute('DELETE FROM usage_statements')
      await sums(
        ...all.map(({ model, account }, at) => `${cell(model)},${cell(account)},${at + 1}`),
      )
      const found = await store.rows(
        'SELECT model, account, requests::INTEGER AS n FROM usage_buckets WHERE replaced_by IS NULL ORDER BY n',
      )
      expect(found).toEqual(all.map((each, at) => ({ ...each, n: at + 1 })))
    }),
    { numRuns: 2, endOnFailure: true },
  )
})

test('sums by two kinds of names are two sets, though a name of both is the same', {
  tags: 'whole',
}, async () => {
  await take('source: sums\nbucket: 1d\nfields: { time: day, model: model, requests: n }', [
    'day,model,n',
    '2026-11-03,x,5',
  ])
  await take('source: sums\nbucket: 1d\nfields: { time: day, account: account, requests: n }', [
    'day,account,n',
    '2026-11-03,x,5',
  ])
  expect(await store.rows('SELECT count(*)::INTEGER AS n FROM usage_buckets')).toEqual([{ n: 2 }])
})

test('a sum of a store that a former release wrote is known, and replaced by its newer figures', {
  tags: 'whole',
}, async () => {
  await sums('openai/large,org/team,1', 'small,team,2')
  await asBefore()
  const again = await sums('openai/large,org/team,1', 'small,team,2')
  expect(again).toMatchObject({ accepted: 0, duplicates: 2 })
  await sums('openai/large,org/team,7', 'small,team,2', 'new/one,org/team,3')
  expect(await counted()).toEqual([
    { model: 'new/one', account: 'org/team', n: 3 },
    { model: 'openai/large', account: 'org/team', n: 7 },
    { model: 'small', account: 'team', n: 2 },
  ])
})

test('two sums that became one in a store of a former release are two again once the file comes again', {
  tags: 'whole',
}, async () => {
  await sums('a/b,c,3')
  await asBefore()
  await store.execute('UPDATE usage_statements SET model = NULL, account = NULL')
  for (let nth = 0; nth < 2; nth++) {
    await sums('a/b,c,1', 'a,b/c,2')
    expect(await counted()).toEqual([
      { model: 'a', account: 'b/c', n: 2 },
      { model: 'a/b', account: 'c', n: 1 },
    ])
  }
})

test('a sum with slashes that is new does not replace another that was there', {
  tags: 'whole',
}, async () => {
  await sums('a/b,c,1')
  await asBefore()
  await sums('a/b,c,1', 'a,b/c,2')
  expect(await counted()).toEqual([
    { model: 'a', account: 'b/c', n: 2 },
    { model: 'a/b', account: 'c', n: 1 },
  ])
})

const joined = 'source: lines\nfields: { id: [invoice, line], time: time, credits: cost }'

test('lines whose id is of two columns are two, however the slashes of the columns fall', async () => {
  const lines = [
    'invoice,line,time,cost',
    'a/b,c,2026-11-03T10:00:00Z,1',
    'a,b/c,2026-11-03T10:00:00Z,2',
  ]
  expect(await take(joined, lines)).toMatchObject({ accepted: 2, duplicates: 0 })
})

const values = [
  ['a/b', 'c'],
  ['a', 'b/c'],
  ['a/b', ''],
  ['a', 'b~1c'],
  ['a', 'b~c'],
  ['urn:x/1', '7'],
]

test('a joined id is the same in SQL, and only of these values', async () => {
  const ids = values.map((each) => joinedId(each))
  expect(new Set(ids).size).toBe(values.length)
  expect(ids.at(-1)).toBe('urn:x/1/7')
  const sql = values.map((each) => joinedIdSql(each.map((text) => `'${text}'`)))
  const [row] = await store.rows(`SELECT ${sql.map((each, at) => `${each} AS "${at}"`).join(', ')}`)
  expect(Object.values(row!)).toEqual(ids)
})
