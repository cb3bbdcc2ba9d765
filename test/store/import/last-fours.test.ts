import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { fingerprintOf } from '../../../src/attempt/fingerprint.ts'
import { exportFormats, exportTable } from '../../../src/store/files/export.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import type { FileImport } from '../../../src/store/import/import-options.ts'
import { lastFourOf, lastFourSql } from '../../../src/store/import/key-forms.ts'
import { ownMapping, parseMapping } from '../../../src/store/import/mapping.ts'
import { literal } from '../../../src/store/literal.ts'
import { emptyStore, inEmptyStore, openStore, type Store } from '../opened.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-last-fours-'))
afterAll(() => rmSync(folder, { recursive: true }))

const key = 'sk-proj-Qm3vX8zLr0PtYw2Kijkl'
const mapped = (fields: string) =>
  parseMapping(`fields: { id: id, time: at, account: who, credits: cost, ${fields} }`)

let files = 0

async function enter(store: Store, text: string, name: string, options: Partial<FileImport> = {}) {
  const file = join(folder, `${files++}-${name}`)
  writeFileSync(file, text)
  return importFile(store, { file, ...options })
}

const linesOf = (rows: readonly object[]) =>
  rows
    .map((row, n) =>
      JSON.stringify({ id: `r${n}`, at: '2026-01-01T00:00:00Z', who: 'acme', cost: 1, ...row }),
    )
    .join('\n')

/** What the store keeps of keys. */
const kept = (store: Store) =>
  store.rows<{ account: string | null; key_fp: string; last_four: string }>(
    'FROM usage_keys ORDER BY ALL',
  )

/** The last four letters after an import, by key. */
const foursOf = (text: string, name: string, options: Partial<FileImport> = {}) =>
  inEmptyStore(async (store) => {
    await enter(store, text, name, options)
    const rows = await kept(store)
    return Object.fromEntries(rows.map((row) => [row.key_fp, row.last_four]))
  })

/** Every text of every row of every table. */
async function textsIn(store: Store): Promise<string> {
  const tables = await store.rows<{ name: string }>(
    `SELECT table_name AS name FROM duckdb_tables() WHERE NOT temporary`,
  )
  const rows = await Promise.all(tables.map(({ name }) => store.rows(`FROM ${name}`)))
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

test('no more than four letters of a key reach the store, in no column, and none of a short one', {
  tags: 'whole',
}, async () => {
  // No hash, no number and no word of a store has such letters.
  const letters = fc.constantFrom(...'GHJKLMNPQRSTUVWXYZ~+')
  const keys = fc.uniqueArray(fc.string({ unit: letters, minLength: 5, maxLength: 64 }), {
    minLength: 1,
    maxLength: 40,
  })
  await fc.assert(
    fc.asyncProperty(keys, async (some) => {
      await inEmptyStore(async (store) => {
        const text = linesOf(some.map((each) => ({ key: each, id: `${each}/1`, model: each })))
        const mapping = mapped('key: key, model: model')
        // A key of fewer than eight letters is hidden in its own column only.
        const shown = some.some((each) => each.length < 8)
          ? linesOf(some.map((each) => ({ key: each })))
          : text
        await enter(store, shown, 'log.jsonl', { mapping })
        const texts = await textsIn(store)
        for (const each of some) {
          for (let at = 0; at + 5 <= each.length; at++)
            expect(texts, each).not.toContain(each.slice(at, at + 5))
        }
        const long = some.filter((each) => each.length >= 24)
        const rows = await kept(store)
        expect(rows.map((row) => [row.key_fp, row.last_four])).toEqual(
          long
            .map((each) => [fingerprintOf(each), each.slice(-4)])
            .sort(([a], [b]) => (a! < b! ? -1 : 1)),
        )
      })
    }),
    { numRuns: 12 },
  )
})

const forms: readonly (readonly [text: string, of: 'key' | 'name' | 'end', four: string | null])[] =
  [
    [key, 'key', 'ijkl'],
    [`Bearer ${key}`, 'key', 'ijkl'],
    [key.slice(0, 23), 'key', null],
    ['sk-short-key', 'key', null],
    ['e128db88dff244733f6c2a3ff9c0b7c4f51c9e8b5512b4f5d7124214f06698fb', 'key', null],
    ['apikey_01Rj2N8SVvo6BePZj99NhmiT', 'key', null],
    ['key_0123456789abcdefghijklmn', 'key', null],
    ['550e8400-e29b-41d4-a716-446655440000', 'key', null],
    ['E128DB88DFF244733F6C2A3FF9C0B7C4F51C9E8B5512B4F5D7124214F06698FB', 'key', null],
    ['5f4dcc3b5aa765d61d8327deb882cf99', 'key', null],
    ['550E8400-E29B-41D4-A716-446655440000', 'key', null],
    ['proj_Qm3vX8zLr0PtYw2KdH6sijkl', 'key', null],
    ['production-billing-service', 'key', null],
    ['Production-Batch-Jobs-Team-Alpha', 'key', null],
    ['team-2-production-batch-jobs', 'key', null],
    [`${'a1'.repeat(300)}ijkl`, 'key', null],
    ['prod', 'key', null],
    ['sk-proj-abcdefghijklmnopqrst...', 'key', null],
    ['sk-...abcd', 'key', 'abcd'],
    ['sk-proj-****abcd', 'key', 'abcd'],
    ['…ijkl', 'key', 'ijkl'],
    ['••••ijkl', 'key', 'ijkl'],
    ['sk-ant-api03-R2D...igAA', 'key', 'igAA'],
    ['sk-...abc', 'key', null],
    ['sk-...', 'key', null],
    // What no key consists of, and would be markup, the end of a text, or a change of direction, is none.
    ['sk-proj-Qm3vX8zLr0PtYw2K<b>"', 'key', null],
    [`sk-...ab'"`, 'key', null],
    ['sk-...\u202eabc', 'key', null],
    ['sk-proj-Qm3vX8zLr0PtYw2Kab\u202e😀', 'key', null],
    ['sk-...abcd\n', 'key', null],
    // A name is one, whatever it ends with, unless it is a redacted form, or looks like a key wherever it stands.
    ['prod', 'name', null],
    ['Qm3vX8zLr0PtYw2KdH6sijkl', 'name', null],
    ['3f2a91c04d7e', 'name', null],
    ['arn:aws:iam::123456789012:user/billing', 'name', null],
    ['team...production', 'name', null],
    ['v1..beta', 'name', null],
    ['a**bold', 'name', null],
    [key, 'name', 'ijkl'],
    ['sk-...abcd', 'name', 'abcd'],
    ['sk-or-v1-abc...xyz9', 'name', 'xyz9'],
    ['ijkl', 'end', 'ijkl'],
    ['w2Kdijkl', 'end', 'ijkl'],
    ['jkl', 'end', null],
    ['sk-...ijkl', 'end', 'ijkl'],
    [key, 'end', null],
    ['', 'end', null],
  ]

test('a key shows its last four letters, and so does a redacted form, wherever it stands; a name, an id and a hash show none', async () => {
  await inEmptyStore(async (store) => {
    const parts = forms.map(([text, of]) => lastFourSql(literal(text), of))
    const [row] = await store.rows<{ fours: (string | null)[] }>(
      `SELECT [${parts.join(', ')}] AS fours`,
    )
    expect(forms.map(([text, of], at) => [text, of, row!.fours[at]])).toEqual(forms)
  })
})

test('a reader of lines and a reader of columns take the same for a key', async () => {
  const part = fc.oneof(
    fc.constantFrom(
      'sk-',
      'Bearer ',
      '...',
      '…',
      '****',
      '•',
      'key_',
      'prod',
      'abcd',
      '<',
      '"',
      '\n',
      '😀',
    ),
    fc.string({ maxLength: 30 }),
    fc.string({ unit: fc.constantFrom(...'abcXYZ019-_.~='), maxLength: 30 }),
  )
  const text = fc
    .array(part, { maxLength: 4 })
    .map((parts) => parts.join('').replaceAll('\0', ''))
    .map((each) => each.toWellFormed())
  await inEmptyStore((store) =>
    fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 20, maxLength: 60 }), async (texts) => {
        const [row] = await store.rows<{ fours: (string | null)[] }>(
          `SELECT list_transform($1::JSON::VARCHAR[], lambda text: ${lastFourSql('text', 'key')}) AS fours`,
          [JSON.stringify(texts)],
        )
        expect(row!.fours).toEqual(texts.map(lastFourOf))
      }),
      { numRuns: 40 },
    ),
  )
})

test('a mapping names a key, its name, or its last letters beside its hash', {
  tags: 'whole',
}, async () => {
  const hash = fingerprintOf(key)
  const of = (fields: string, row: object) =>
    foursOf(linesOf([row]), 'log.jsonl', { mapping: mapped(fields) })
  expect(await of('key: key', { key })).toEqual({ [hash]: 'ijkl' })
  expect(await of('key: key', { key: 'sk-...abcd' })).toEqual({
    [fingerprintOf('sk-...abcd')]: 'abcd',
  })
  expect(await of('keyFp: name', { name: 'prod' })).toEqual({})
  expect(await of('keyFp: name', { name: '…ijkl' })).toEqual({ '…ijkl': 'ijkl' })
  // What looks like a key is hidden, as it was before.
  expect(Object.values(await of('keyFp: name', { name: key }))).toEqual(['ijkl'])
  expect(await of('keyFp: name, lastFour: end', { name: 'prod', end: 'ijkl' })).toEqual({
    prod: 'ijkl',
  })
  expect(await of('key: key, lastFour: end', { key: 'e1'.repeat(32), end: 'sk-...ijkl' })).toEqual({
    e1e1e1e1e1e1: 'ijkl',
  })
  const csv = `id,at,who,cost,key\nr1,2026-01-01T00:00:00Z,acme,1,${key}\n`
  expect(await foursOf(csv, 'log.csv', { mapping: mapped('key: key') })).toEqual({ [hash]: 'ijkl' })
})

test('each known log that shows an end of its keys has it', { tags: 'whole' }, async () => {
  const litellm = (apiKey: string) =>
    JSON.stringify({
      ...{
        request_id: apiKey.slice(0, 5),
        startTime: '2026-11-03 02:38:06.570',
        spend: 0.1,
        model: 'm',
      },
      ...{
        prompt_tokens: 1,
        completion_tokens: 1,
        total_tokens: 2,
        team_id: 'acme',
        api_key: apiKey,
      },
    })
  expect(await foursOf(litellm(key), 'spend.jsonl')).toEqual({ [fingerprintOf(key)]: 'ijkl' })
  expect(await foursOf(litellm('e1'.repeat(32)), 'spend.jsonl')).toEqual({})
  const openai = {
    data: [
      {
        ...{
          aggregation_timestamp: 1_700_000_000,
          n_requests: 1,
          operation: 'completion',
          snapshot_id: 'm',
        },
        ...{ n_context_tokens_total: 1, n_generated_tokens_total: 1, organization_id: 'org' },
        ...{ api_key_id: 'key_1f', api_key_redacted: 'sk-...ijkl' },
      },
    ],
  }
  expect(await foursOf(JSON.stringify(openai), 'openai.json')).toEqual({ key_1f: 'ijkl' })
  const openrouter = (name: string) =>
    `generation_id,created_at,cost_total,tokens_prompt,tokens_completion,model_permaslug,api_key_name\ngen-1,2026-11-03 01:34:37.492,0.1,1,1,m,${name}\n`
  expect(Object.values(await foursOf(openrouter('sk-or-v1-abc...xyz9'), 'or.csv'))).toEqual([
    'xyz9',
  ])
  expect(await foursOf(openrouter('Studio'), 'or.csv')).toEqual({})
  const newApi = (name: string) =>
    JSON.stringify({
      ...{ id: 1, created_at: 1_762_134_000, type: 2, username: 'acme', token_name: name },
      ...{
        model_name: 'm',
        quota: 500,
        prompt_tokens: 1,
        completion_tokens: 1,
        use_time: 1,
        other: '{}',
      },
    })
  expect(await foursOf(newApi('sk-abcd**********wxyz'), 'new.jsonl')).toEqual({
    'sk-abcd**********wxyz': 'wxyz',
  })
  expect(await foursOf(newApi('billing'), 'new.jsonl')).toEqual({})
})

test('a name that stands for several keys has no last four letters, and one of another account has its own', async () => {
  await inEmptyStore(async (store) => {
    const rows = [
      { who: 'acme', name: 'prod', end: 'aaaa' },
      { who: 'acme', name: 'prod', end: 'bbbb' },
      { who: 'other', name: 'prod', end: 'cccc' },
    ]
    await enter(store, linesOf(rows), 'log.jsonl', {
      mapping: mapped('keyFp: name, lastFour: end'),
    })
    expect(await kept(store)).toHaveLength(3)
    const file = join(folder, 'several.csv')
    await exportTable(store, { what: 'usage', file, format: 'csv' })
    const shown = await store.rows(
      `SELECT account, key_last_four AS four FROM read_csv('${file}') ORDER BY ALL`,
    )
    expect(shown).toEqual([
      { account: 'acme', four: null },
      { account: 'acme', four: null },
      { account: 'other', four: 'cccc' },
    ])
  })
})

test('a store of before opens, and the same log again gives its keys their last four letters', {
  tags: 'whole',
}, async () => {
  const path = join(folder, 'before.duckdb')
  const before = await openStore(path)
  const text = linesOf([{ key }])
  await enter(before, text, 'log.jsonl', { mapping: mapped('key: key') })
  await before.execute('DROP TABLE usage_keys')
  before.close()
  const store = await openStore(path)
  expect(await kept(store)).toEqual([])
  const again = await enter(store, text, 'log.jsonl', { mapping: mapped('key: key') })
  expect(again).toMatchObject({ accepted: 0, duplicates: 1, rejected: 0 })
  expect(await kept(store)).toEqual([
    { account: 'acme', key_fp: fingerprintOf(key), last_four: 'ijkl' },
  ])
  store.close()
})

test('a check of a log keeps nothing of its keys', async () => {
  await inEmptyStore(async (store) => {
    await enter(store, linesOf([{ key }]), 'log.jsonl', {
      mapping: mapped('key: key'),
      check: true,
    })
    expect(await kept(store)).toEqual([])
  })
})

test('an export has the last four letters, in every format, and its import keeps them', {
  tags: 'whole',
}, async () => {
  for (const format of exportFormats) {
    const store = await emptyStore()
    const file = join(folder, `export.${format}`)
    const rows = [{ key }, { key: 'short', id: 'r1' }]
    await enter(store, linesOf(rows), 'log.jsonl', { mapping: mapped('key: key') })
    const entered = await kept(store)
    await exportTable(store, { what: 'usage', file, format })
    store.close()
    await inEmptyStore(async (other) => {
      const counts = await importFile(other, { file, mapping: ownMapping })
      expect(counts).toMatchObject({ accepted: 2, rejected: 0 })
      expect(await kept(other), format).toEqual(entered)
      expect(entered).toHaveLength(1)
    })
  }
})

test('an export of an earlier build, without the column, is imported as before', {
  tags: 'whole',
}, async () => {
  await inEmptyStore(async (store) => {
    const file = join(folder, 'earlier.parquet')
    await enter(store, linesOf([{ key }]), 'log.jsonl', { mapping: mapped('key: key') })
    await store.execute(`COPY (FROM usage) TO '${file}' (FORMAT parquet)`)
    await inEmptyStore(async (other) => {
      expect(await importFile(other, { file, mapping: ownMapping })).toMatchObject({ accepted: 1 })
      expect(await kept(other)).toEqual([])
    })
  })
})
