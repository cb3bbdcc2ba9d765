import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { importFile } from '../../../src/store/import/import-file.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { emptyStore, type Store } from '../opened.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-again-'))
afterAll(() => rmSync(folder, { recursive: true }))
let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

let files = 0

/** Imports a text, corrects its rejected lines, and imports those alone. */
async function correct(
  name: string,
  text: string,
  options: object,
  correction: (rejects: string) => string,
) {
  const file = join(folder, `${files++}-${name}`)
  writeFileSync(file, text)
  const first = await importFile(store, { file, ...options })
  const rejects = `${file}.rejects.jsonl`
  writeFileSync(rejects, correction(readFileSync(rejects, 'utf8')))
  const again = await importFile(store, { file: rejects })
  const rows = await store.rows<{ id: string; model: string; credits: number; source: string }>(
    'SELECT id, model, credits, source FROM usage_events ORDER BY id',
  )
  return { first, again, rows }
}

test.each([
  [
    'JSON Lines',
    'log.jsonl',
    '{"id":"a","at":"2026-11-01T00:00:00Z","m":{"n":"x"},"cost":1}\n{"id":"b","at":"2026-11-01T00:00:00Z","m":{"n":"y"},"cost":"two"}\n{"id":"c","at":"2026-11-31","m":{"n":"z"},"cost":3}\n',
    'm.n',
    (rejects: string) =>
      rejects.replaceAll('\\"two\\"', '2').replaceAll('2026-11-31', '2026-11-30'),
  ],
  [
    'CSV with a dot in a name, a German number and a broken row',
    'log.csv',
    'id;at;m.n;cost\na;01.11.2026;x;1,00\nc;13.11.2026;z\nb;01.11.2026;y;two\n',
    'm.n',
    (rejects: string) =>
      rejects.replaceAll('two', '2,00').replaceAll('13.11.2026;z', '13.11.2026;z;3,00'),
  ],
] as const)(
  'rejected lines of %s are corrected and imported whole',
  { tags: 'whole' },
  async (...of) => {
    const [, name, text, model, correction] = of
    const mapping = parseMapping(
      `source: gateway\nfields: { id: id, time: at, model: ${model}, credits: cost }`,
      'map.yaml',
    )
    const { first, again, rows } = await correct(name, text, { mapping }, correction)
    expect(first).toMatchObject({ accepted: 1, rejected: 2 })
    expect(again).toMatchObject({ accepted: 2, rejected: 0, source: 'gateway' })
    expect(rows).toEqual([
      { id: 'a', model: 'x', credits: 1, source: 'gateway' },
      { id: 'b', model: 'y', credits: 2, source: 'gateway' },
      { id: 'c', model: 'z', credits: 3, source: 'gateway' },
    ])
  },
)

test('a line with a known id and other content is written as it was, and gets an id of its own', {
  tags: 'whole',
}, async () => {
  const mapping = parseMapping(
    'fields: { id: id, time: at, model: model, credits: cost }',
    'map.yaml',
  )
  const line = (cost: number) =>
    `{"id":"a","at":"2026-11-01T00:00:00Z","model":"x","cost":${cost},"extra":[1]}\n`
  const { first, again, rows } = await correct(
    'twice.jsonl',
    line(1) + line(2),
    { mapping },
    (rejects) => {
      expect(JSON.parse(rejects).line).toBe(line(2).trim())
      return rejects.replaceAll('\\"a\\"', '\\"b\\"')
    },
  )
  expect([first, again]).toMatchObject([
    { accepted: 1, rejected: 1 },
    { accepted: 1, rejected: 0 },
  ])
  expect(rows.map(({ id, credits }) => [id, credits])).toEqual([
    ['a', 1],
    ['b', 2],
  ])
})

test('rejected lines of a known format are read as that format', { tags: 'whole' }, async () => {
  const spend = (id: string, at: string) =>
    `{"request_id":"${id}","startTime":"${at}","spend":0.5,"model_group":"m","prompt_tokens":1,"completion_tokens":1}\n`
  const { again, rows } = await correct(
    'spend.jsonl',
    spend('a', '2026-11-01T00:00:00Z') + spend('b', 'at noon'),
    {},
    (rejects) => rejects.replaceAll('at noon', '2026-11-01T12:00:00Z'),
  )
  expect(again).toMatchObject({ accepted: 1, rejected: 0, source: 'litellm' })
  expect(rows).toMatchObject([{ id: 'a' }, { id: 'b', model: 'm', credits: 0.5 }])
})

test('rejected lines of an unknown log need its mapping', async () => {
  const file = join(folder, 'lost.rejects.jsonl')
  writeFileSync(file, '{"reason":"time: expected","line":"{}"}\n')
  await expect(importFile(store, { file })).rejects.toThrow(
    /lost\.rejects\.jsonl has the rejected lines of a log that is not in this store: give the mapping/,
  )
})

test('a clock that is years ahead rejects its lines, and one that is days ahead is said', async () => {
  const file = join(folder, 'ahead.jsonl')
  const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  writeFileSync(
    file,
    [at(-1), at(10), at(12 * 365.25)]
      .map((time, id) => JSON.stringify({ id, time, credits: 1 }))
      .join('\n'),
  )
  const imported = await importFile(store, { file })
  expect(imported).toMatchObject({
    ...{ accepted: 2, rejected: 1 },
    notes: ['1 line is ahead of this clock'],
  })
  expect(readFileSync(`${file}.rejects.jsonl`, 'utf8')).toContain('"time is 12 years ahead: 2')
})

test('a negative amount whose id names a known id is its refund', async () => {
  const file = join(folder, 'refund.csv')
  writeFileSync(
    file,
    'id,time,credits\n1,2026-10-01T10:00:00Z,3000\n2,2026-10-01T10:01:00Z,5000\n2-refund,2026-10-01T10:05:00Z,-5000\nfix,2026-10-01T10:06:00Z,-1\n',
  )
  await importFile(store, { file })
  expect(
    await store.rows('SELECT id, type FROM usage_events WHERE credits < 0 ORDER BY id'),
  ).toEqual([
    { id: '2-refund', type: 'refund' },
    { id: 'fix', type: 'adjustment' },
  ])
})
