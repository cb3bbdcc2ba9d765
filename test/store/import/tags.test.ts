import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appendAttempts } from '../../../src/store/attempts/recorder.ts'
import { exportTable } from '../../../src/store/files/export.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import { ownMapping, parseMapping, parseTags } from '../../../src/store/import/mapping.ts'
import { attempt, enterRun } from '../../report/attempts.ts'
import { openStore, type Store } from '../opened.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-tags-'))
afterAll(() => rmSync(folder, { recursive: true }))
let store: Store
beforeAll(async () => {
  store = await openStore(join(folder, 'a.duckdb'))
})
afterAll(() => store.close())

const odd = `x'y"<b>/~`
const key = 'sk-abcdefghijklmnop'
const lines = [
  { id: 'r1', at: '2026-11-02T10:00:00Z', md: { team: 'search', [odd]: 'v</script>' } },
  {
    id: 'r2',
    at: '2026-11-02T10:01:00Z',
    md: JSON.parse('{"team":"a\'; DROP TABLE x;--","__proto__":"p"}'),
  },
  { id: 'r3', at: '2026-11-02T10:02:00Z', md: { team: key } },
  { id: 'r4', at: '2026-11-02T10:03:00Z', md: { team: '' } },
  { id: 'r5', at: '2026-11-02T10:04:00Z', md: { team: 'x'.repeat(201) } },
]
const mapping = parseMapping(
  `
tags:
  team: md.team
  __proto__: { column: [md, __proto__] }
  ${JSON.stringify(odd)}: { column: [md, ${JSON.stringify(odd)}] }
fields: { id: id, time: at }
`,
  'map.yaml',
)

async function importLines(some: readonly object[], change: object = {}, name = 'log.jsonl') {
  const file = join(folder, name)
  writeFileSync(file, some.map((each) => `${JSON.stringify(each)}\n`).join(''))
  return importFile(store, { file, source: name, mapping, ...change })
}
const tagsOf = async (source: string) =>
  (
    await store.rows<{ tags: string | null }>(
      'SELECT tags FROM usage WHERE source = $1 ORDER BY id',
      [source],
    )
  ).map(({ tags }) => tags)

const known = [
  JSON.stringify({ team: 'search', [odd]: 'v</script>' }),
  `{"__proto__":"p","team":"a'; DROP TABLE x;--"}`,
]

test('names and values of tags are data, sorted by name, without keys, and a long one is refused', async () => {
  const { rejected, accepted } = await importLines(lines)
  expect([accepted, rejected]).toEqual([4, 1])
  const [first, second, third, fourth] = await tagsOf('log.jsonl')
  expect([first, second]).toEqual(known)
  expect(third).toMatch(/^\{"team":"\[key\] [0-9a-f]{12}"\}$/)
  expect(fourth).toBeNull()
  const rejects = readFileSync(join(folder, 'log.jsonl.rejects.jsonl'), 'utf8')
  expect(rejects).toContain('expected at most 200 characters')
})

test('the rejected lines of a log keep their tags once they are mended', {
  tags: 'whole',
}, async () => {
  await importLines([{ ...lines[0]!, id: 'm1', at: 'never' }], {}, 'mend.jsonl')
  const rejects = join(folder, 'mend.jsonl.rejects.jsonl')
  writeFileSync(rejects, readFileSync(rejects, 'utf8').replaceAll('never', '2026-11-02T11:00:00Z'))
  await importLines([{ ...lines[0]!, id: 'm2' }], {}, 'mend.jsonl')
  await importFile(store, { file: rejects })
  expect(await tagsOf('mend.jsonl')).toEqual([known[0], known[0]])
})

test('lines that differ in a tag alone are two lines, and a file that comes again adds nothing', async () => {
  const noIds = parseMapping('tags: { team: team }\nfields: { time: at }', 'map.yaml')
  const at = '2026-11-02T10:00:00Z'
  const some = [
    { at, team: 'a' },
    { at, team: 'b' },
  ]
  const first = await importLines(some, { mapping: noIds }, 'ids.jsonl')
  const again = await importLines(some, { mapping: noIds }, 'ids.jsonl')
  expect([first.accepted, again.accepted, again.duplicates]).toEqual([2, 0, 2])
})

test('sums of the same time are apart by their tag', async () => {
  const bucket = parseMapping(
    'bucket: 1d\ntags: { team: team }\nfields: { time: at, credits: cost, requests: n }',
    'map.yaml',
  )
  const at = '2026-11-03T00:00:00Z'
  const some = [
    { at, team: 'a', cost: '2', n: '1' },
    { at, team: 'b', cost: '3', n: '1' },
    { at, cost: '4', n: '1' },
  ]
  await importLines(some, { mapping: bucket }, 'sums.jsonl')
  const rows = await store.rows(
    `SELECT tags, credits::VARCHAR AS credits FROM usage_buckets WHERE source = 'sums.jsonl' AND replaced_by IS NULL ORDER BY credits`,
  )
  expect(rows).toEqual([
    { tags: '{"team":"a"}', credits: '2.000000000000000000' },
    { tags: '{"team":"b"}', credits: '3.000000000000000000' },
    { tags: null, credits: '4.000000000000000000' },
  ])
})

test('tags of an own export are texts under names, as those of a log are', async () => {
  const file = join(folder, 'own-wrong.jsonl')
  await exportTable(store, { what: 'usage', file, format: 'jsonl', runIds: ['log.jsonl'] })
  const [first] = readFileSync(file, 'utf8').trim().split('\n')
  const right = ['{"team":"a"}', '{}', null]
  const wrong = [
    ...['{"team":{"a":1}}', '{"team":null}', '{"a:b":"x"}', '{"":"x"}', '["a"]'],
    `{"team":"${'x'.repeat(201)}"}`,
  ]
  const lines = [...right, ...wrong].map((tags, at) =>
    JSON.stringify({ ...JSON.parse(first!), id: `own-${at}`, tags }),
  )
  writeFileSync(file, `${lines.join('\n')}\n`)
  const imported = await importFile(store, { file, mapping: ownMapping, source: 'own wrong' })
  expect([imported.accepted, imported.rejected]).toEqual([right.length, wrong.length])
})

test.each(['csv', 'parquet', 'jsonl'] as const)(
  'an own export in %s keeps the tags',
  async (format) => {
    const file = join(folder, `own.${format}`)
    await exportTable(store, { what: 'usage', file, format, runIds: ['log.jsonl'] })
    await importFile(store, { file, mapping: ownMapping, source: `own ${format}` })
    expect(await tagsOf(`own ${format}`)).toEqual(await tagsOf('log.jsonl'))
  },
)

test('a known log has tags where an option says', async () => {
  const row = {
    ...{ id: 1, user_id: 2, created_at: 1_795_000_000, type: 2, username: 'anna', token_name: 'k' },
    ...{
      model_name: 'm',
      quota: 500,
      prompt_tokens: 1,
      completion_tokens: 2,
      use_time: 1,
      is_stream: false,
    },
    ...{ channel: 1, token_id: 5, group: 'gold', ip: '', other: '{"team":"search"}', content: '' },
  }
  await importLines(
    [row],
    { mapping: undefined, tags: parseTags(['team=other.team', 'group=group']) },
    'known.jsonl',
  )
  expect(await tagsOf('known.jsonl')).toEqual(['{"group":"gold","team":"search"}'])
})

test.each([
  ['tags: { "a:b": x }', 'without control characters and the signs : = ,'],
  ['tags: { a: a, b: b, c: c, d: d, e: e, f: f }', 'at most 5 tags'],
  [`tags: { ${'x'.repeat(51)}: x }`, 'a name of 1 to 50 characters'],
  ['tags: { team: 7 }', 'at tags.team'],
  ['tags: { team: { column: md, values: { a: 1 } } }', 'at tags.team'],
  ['bucket: 0h', 'expected a width such as 15m, 1h or 1d'],
  ['tags: [team]', 'expected names, each with the place of its value'],
])('a mapping with %s is refused', (text, said) => {
  expect(() => parseMapping(`${text}\nfields: { time: at }`, 'map.yaml')).toThrow(said)
})

test('an option that is no name and column is refused', () => {
  expect(() => parseTags(['team'])).toThrow('--tag team: expected a name and the column')
  expect(() => parseTags(['a:b=x'])).toThrow('the signs')
  expect(() => parseTags(['team=a', 'group=b', 'team=c'])).toThrow(
    '--tag team=c: expected each name once.',
  )
})

test('a run has the tags that the headers of its requests say', async () => {
  await enterRun(store, 'tagged', { timeScale: 1 })
  await store.execute(
    `UPDATE runs SET scenario_json = '{"tags":{"team":"X-Team","none":"X-None"}}' WHERE run_id = 'tagged'`,
  )
  await appendAttempts(
    store,
    [0, 1].map((slot) => attempt(slot, { runId: 'tagged', template: slot })),
  )
  await store.execute(
    `INSERT INTO templates VALUES ('tagged', 0, 'chat', 'POST', '/', '{"x-team":"search","accept":"*"}', NULL, 1, 1, ''),
       ('tagged', 1, 'chat', 'POST', '/', '{"accept":"*"}', NULL, 1, 1, '')`,
  )
  expect(await tagsOf('tagged')).toEqual(['{"team":"search"}', null])
})
