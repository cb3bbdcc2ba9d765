import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mappedNames } from '../../../src/measure/usage/quantities.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import { mappingShape, parseMapping } from '../../../src/store/import/mapping.ts'
import { openStore, type Store } from '../opened.ts'

/** Each field that a mapping accepts changes what is imported: none is read by nobody. */

const folder = mkdtempSync(join(tmpdir(), 'assay-mapping-'))
afterAll(() => rmSync(folder, { recursive: true }))
let store: Store
beforeAll(async () => {
  store = await openStore(join(folder, 'a.duckdb'))
})
afterAll(() => store.close())

/** Times of a day on which clocks go back in Berlin, at 03:00, so that 02:30 comes twice. */
const lines = [
  { at: '2026-10-25 02:30:00', n: '1' },
  { at: '2026-10-25 12:30:00', n: '2' },
  { at: '2026-10-25 12:31:00', n: '3', more: { model: 'c' } },
].map(({ at, n, more }, nth) => ({
  ...{ id: `r${n}`, group: 'g', at, later: '2026-10-26 00:00:00', version: nth + 1 },
  ...{ model: 'm', other: 'o', path: 'chat', key: 'k', name: 'who', team: 'a', cost: `1,${n}` },
  ...{ unit: 'EUR', kind: 'refund', back: 'r1', prompt: 100, completion: 50, cached: 30 },
  ...{ written: 20, hour: 10, thought: 5, status: 500, word: 'aborted', code: 'x', requests: 2 },
  ...{ first: 12, all: 40, day: '03/11/2026', total: 100 * (nth + 1), ...more },
}))
const base = {
  source: 's',
  fields: { id: 'id', time: { column: 'at', timezone: 'Europe/Berlin' }, model: 'model' },
}

let imports = 0
async function imported(mapping: object, text = jsonl): Promise<string> {
  const number = imports++
  const file = join(folder, `log-${number}.${text.startsWith('{') ? 'jsonl' : 'csv'}`)
  writeFileSync(file, text)
  const given = { ...base, ...mapping } as { readonly source?: string }
  const source = given.source === 's' ? `s${number}` : given.source
  const read = parseMapping(JSON.stringify({ ...given, source }))
  const said = await importFile(store, { file, mapping: read }).catch((error: unknown) => ({
    refused: String(error),
  }))
  const rows = await Promise.all(
    ['usage_events', 'usage_statements', 'usage_referrals'].map((table) =>
      store.rows(`SELECT * FROM ${table} WHERE source = $1 ORDER BY ALL`, [source ?? 'none']),
    ),
  )
  // They are of no source, so the next import finds none.
  const keys = await store.rows('FROM usage_keys ORDER BY ALL')
  await store.execute('DELETE FROM usage_keys')
  const shown = JSON.stringify([said, rows, keys], (name, value) =>
    numbers.has(name) ? undefined : typeof value === 'bigint' ? String(value) : value,
  )
  return shown.replaceAll(`s${number}"`, 's"').replaceAll(file, 'FILE')
}
/** Columns that differ with each import. */
const numbers = new Set(['import_no', 'statement', 'ingested_us'])
const jsonl = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
const table = (delimiter: string) =>
  [Object.keys(lines[0]!), ...lines.map((line) => Object.values(line))]
    .map((row) => `${row.join(delimiter)}\n`)
    .join('')

type Change = readonly [before: object, after: object, text?: string]
const fields = (more: object) => ({ fields: { ...base.fields, ...more } })
const field = (more: object, before: object = {}): Change => [
  fields(before),
  fields({ ...before, ...more }),
]

const grant = { type: { value: 'grant' }, account: 'name', credits: 'requests' }

/** The fields of all kinds of tokens: a new kind needs no case of its own. */
const tokenFields = Object.fromEntries(
  mappedNames.map((name) => [
    `fields.${name}`,
    field({ [name]: 'thought' }, { promptTokens: 'prompt', completionTokens: 'completion' }),
  ]),
)

const changes: Readonly<Record<string, Change>> = {
  source: [{}, { source: 'another' }],
  format: [{ format: 'jsonl' }, { format: 'csv' }],
  delimiter: [{ delimiter: ';' }, { delimiter: '|' }, table(';').replaceAll(',', '.')],
  decimal: [
    { ...fields({ credits: 'cost' }), decimal: ',' },
    { ...fields({ credits: 'cost' }), decimal: '.' },
  ],
  dateOrder: [
    { ...fields({ time: 'day' }), dateOrder: 'dmy' },
    { ...fields({ time: 'day' }), dateOrder: 'mdy' },
  ],
  ambiguous: [{ ambiguous: 'first' }, { ambiguous: 'second' }],
  bucket: [{}, { bucket: '1h' }],
  dimensions: [{ bucket: '1h' }, { bucket: '1h', dimensions: ['team'] }],
  tags: [{}, { tags: { team: 'team' } }],
  cached: [
    fields({ promptTokens: 'prompt', cachedTokens: 'cached' }),
    { ...fields({ promptTokens: 'prompt', cachedTokens: 'cached' }), cached: 'separate' },
  ],
  reasoning: [
    fields({ completionTokens: 'completion', reasoningTokens: 'thought' }),
    {
      ...fields({ completionTokens: 'completion', reasoningTokens: 'thought' }),
      reasoning: 'separate',
    },
  ],
  ids: [fields({ id: 'group' }), { ...fields({ id: 'group' }), ids: 'repeat' }],
  where: [{}, { where: { model: 'c' } }],
  carry: [fields({ model: 'none' }), { ...fields({ model: 'none' }), carry: { model: 'other' } }],
  cumulative: [
    fields({ promptTokens: 'total' }),
    { ...fields({ promptTokens: 'total' }), cumulative: { fields: ['promptTokens'] } },
  ],
  quantity: [{}, { quantity: { column: 'prompt', kind: 'path', per: 'none' } }],
  request: [{}, { request: false }],
  amounts: [
    { bucket: '1h', ...fields({ credits: 'requests' }) },
    { bucket: '1h', amounts: 'disjoint', ...fields({ credits: 'requests' }) },
  ],
  'fields.session': [
    { ...fields({ promptTokens: 'total' }), cumulative: { fields: ['promptTokens'] } },
    {
      ...fields({ promptTokens: 'total', session: 'id' }),
      cumulative: { by: 'session', fields: ['promptTokens'] },
    },
  ],
  'fields.id': field({ id: 'later' }),
  'fields.time': field({ time: 'later' }),
  'fields.end': field({ end: 'later' }),
  'fields.version': field({ version: { column: 'later' } }, { id: 'group' }),
  'fields.type': field({ type: 'kind' }, { credits: { value: '-2' } }),
  'fields.refersTo': field({ refersTo: 'back' }, { credits: { value: '-2' } }),
  'fields.model': field({ model: 'other' }),
  'fields.endpoint': field({ endpoint: 'path' }),
  'fields.key': field({ key: 'key' }),
  'fields.keyFp': field({ keyFp: 'name' }),
  'fields.lastFour': field({ lastFour: { value: 'ijkl' } }, { keyFp: 'name' }),
  'fields.account': field({ account: 'name' }),
  'fields.credits': field({ credits: 'requests' }),
  'fields.unit': field({ unit: 'unit' }, { credits: 'requests' }),
  'fields.expires': field({ expires: 'later' }, grant),
  'fields.name': field({ name: 'team' }, grant),
  'fields.priority': field({ priority: 'requests' }, grant),
  'fields.models': field({ models: 'other' }, grant),
  ...tokenFields,
  'fields.status': field({ status: 'status' }),
  'fields.outcome': field({ outcome: 'word' }),
  'fields.errorCode': field({ errorCode: 'code' }, { outcome: { value: 'http_error' } }),
  'fields.requests': field({ requests: 'requests' }),
  'fields.ttft': field({ ttft: { column: 'first', unit: 'ms' } }),
  'fields.latency': field({ latency: { column: 'all', unit: 'ms' } }),
}

test.each(Object.entries(changes))(
  '%s changes what is imported',
  { tags: 'whole' },
  async (_, [before, after, text]) => {
    expect(await imported(after, text)).not.toBe(await imported(before, text))
  },
)

test('the same mapping imports the same', async () => {
  expect(await imported({})).toBe(await imported({}))
})

test('every field that a mapping accepts is in these tests', () => {
  const { fields: inner, ...outer } = mappingShape.shape
  const accepted = [
    ...Object.keys(outer),
    ...Object.keys(inner.shape).map((name) => `fields.${name}`),
  ]
  expect(Object.keys(changes).toSorted()).toEqual(accepted.toSorted())
})

test.each(['+05:30', '-0530', 'Mars'])('a zone %j is refused by its name', (timezone) => {
  const fields = { id: 'id', time: { column: 'at', timezone } }
  expect(() => parseMapping(JSON.stringify({ source: 's', fields }))).toThrow(
    `"${timezone}" is not an IANA name such as Asia/Kolkata`,
  )
})
