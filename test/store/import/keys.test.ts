import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fingerprintOf } from '../../../src/attempt/fingerprint.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { openStore } from '../../../src/store/session/open.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))

const mapping = parseMapping(
  `
fields:
  id: id
  time: at
  model: model
  account: who
  key: auth.key
  errorCode: error
  credits: cost
ids: unique
`,
  'map.yaml',
)
const flat = parseMapping(
  'fields: { id: id, time: at, model: model, account: who, key: key, errorCode: error, credits: cost }',
  'map.yaml',
)

const [first, second, third] = [
  'sk-live-Qm3vX8zLr0PtYw2KdH6s',
  'sk-live-b7NcE4aJ9uGfTi1RoV5x',
  'zq81-Ymw0-Kp7r-Ld3v-9Xse',
]

let imports = 0
/** Imports a text. @returns every byte that the import left, the rows, and the rejects */
async function imported(
  text: string,
  name: string,
  map: typeof mapping | null = mapping,
  partial = false,
) {
  const own = mkdtempSync(join(folder, `${imports++}-`))
  const [file, path] = [join(own, name), join(own, 's.duckdb')]
  writeFileSync(file, text)
  const store = await openStore(path)
  const counts = await importFile(store, {
    file,
    partial,
    ...(map === null ? {} : { mapping: map }),
  })
  const rows = await store.rows<Record<string, string>>(
    'SELECT id, model, account, key_fp, error_code FROM usage_events ORDER BY credits',
  )
  store.close()
  const rejects = existsSync(`${file}.rejects.jsonl`)
    ? readFileSync(`${file}.rejects.jsonl`, 'utf8')
    : ''
  expect(existsSync(`${path}.import`)).toBe(false)
  const left = readFileSync(path).toString('latin1') + rejects + JSON.stringify(counts)
  return { counts, rows, rejects, left }
}

/** No eight letters of a key in a row are there. */
function expectNoPartOf(text: string, keys: readonly string[]) {
  for (const key of keys) {
    for (let at = 0; at + 8 <= key.length; at++)
      expect(text.includes(key.slice(at, at + 8)), key.slice(at, at + 8)).toBe(false)
  }
}

const line = (n: number, key: string, rest: object = {}) =>
  `${JSON.stringify({ id: `r${n}`, at: '2026-01-01T00:00:00Z', model: 'svc-k2', who: 'acme', auth: { key }, cost: n, ...rest })}\n`

test('a key of the file reaches no other column of any row, in any encoding, and equal values stay equal', {
  tags: 'whole',
}, async () => {
  const encoded = Buffer.from(first).toString('base64')
  const { rows, left, counts } = await imported(
    [
      line(1, first, { error: `Incorrect API key: ${first}`, who: first }),
      line(2, second, { error: `caused by ${encoded}`, who: first, id: `${first}/1` }),
      line(3, third, { model: `svc-k2@${second}`, id: `${second}/1` }),
      line(4, second, { who: 'plain', id: `x-${first.toUpperCase()}` }),
    ].join(''),
    'log.jsonl',
  )
  expect(counts).toMatchObject({ accepted: 4, rejected: 0, duplicates: 0 })
  expectNoPartOf(left, [first, second, third, encoded, first.toUpperCase()])
  expect(rows.map((row) => row.key_fp)).toEqual([first, second, third, second].map(fingerprintOf))
  expect(rows[0]!.error_code).toBe('Incorrect API key: [key]')
  expect(rows[0]!.account).toBe(`[key] ${fingerprintOf(first)}`)
  expect(rows[1]!.account).toBe(rows[0]!.account)
  expect(rows[3]!.account).toBe('plain')
  expect(new Set(rows.map((row) => row.id)).size).toBe(4)
})

test('a log that is imported again is known, though its ids hold keys', {
  tags: 'whole',
}, async () => {
  const path = join(folder, 'again.duckdb')
  const file = join(folder, 'again.jsonl')
  writeFileSync(file, line(1, first, { id: `${first}/1` }) + line(2, second, { id: `${second}/1` }))
  const store = await openStore(path)
  const counts = []
  for (let nth = 0; nth < 2; nth++) counts.push(await importFile(store, { file, mapping }))
  store.close()
  expect(counts).toMatchObject([
    { accepted: 2, duplicates: 0 },
    { accepted: 0, duplicates: 2 },
  ])
})

test('a key reaches neither the reason nor the line of a reject', { tags: 'whole' }, async () => {
  const { rejects, left, counts } = await imported(
    line(1, first) +
      line(2, second, { cost: `${first} credits` }) +
      line(3, third, { at: `never ${third}` }),
    'log.jsonl',
  )
  expect(counts).toMatchObject({ accepted: 1, rejected: 2 })
  expectNoPartOf(left, [first, second, third])
  const [one, two] = rejects
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each))
  expect(one.reason).toBe('credits: expected a number, got "[key] credits"')
  expect(JSON.parse(one.line)).toMatchObject({ auth: { key: '[key]' }, cost: '[key] credits' })
  expect(two.reason).toContain('got "never [key]"')
})

test('a line that cannot be read keeps no key, though no other line has it', {
  tags: 'whole',
}, async () => {
  const cut = await imported(
    `${line(1, first)}{"id":"r2","at":"2026-01-01T00:00:00Z","auth":{"key":"${second}\n${line(3, first)}`,
    'log.jsonl',
  )
  expect(cut.counts).toMatchObject({ accepted: 2, rejected: 1 })
  expectNoPartOf(cut.left, [first, second])
  const header = 'id,at,model,who,key,error,cost\n'
  const good = `r1,2026-01-01T00:00:00Z,svc-k2,acme,${first},,1\n`
  const columns = await imported(
    `${header}${good}r3,2026-01-01T00:00:00Z,svc-k2,${third}\nr2,2026-01-01T00:00:00Z,svc-k2,acme,more,${second},,2\n`,
    'log.csv',
    flat,
  )
  expect(columns.counts).toMatchObject({ accepted: 1, rejected: 2 })
  expectNoPartOf(columns.left, [first, second, third])
  expect(columns.rejects).toContain('2026-01-01T00:00:00Z,svc-k2')
  const quote = imported(
    `${header}${good}r2,2026-01-01T00:00:00Z,svc-k2,acme,"${second},,2\nr3,2026-01-01T00:00:00Z,svc-k2,acme,${third},,3\n`,
    'log.csv',
    flat,
  )
  await expect(quote).rejects.toThrow(/the quote in line 3 is never closed, so the lines after it/)
  await quote.catch((error: Error) => expectNoPartOf(error.message, [first, second, third]))
})

test('a short key replaces its own value and no other text', { tags: 'whole' }, async () => {
  const json = await imported(
    line(1, 'k', { model: 'k' }) + line(2, 'k', { cost: 'k and key', model: 'k' }),
    'log.jsonl',
  )
  expect(json.rows[0]).toMatchObject({ id: 'r1', model: 'k', key_fp: fingerprintOf('k') })
  const rejected = JSON.parse(json.rejects)
  expect(rejected.reason).toBe('credits: expected a number, got "k and key"')
  expect(JSON.parse(rejected.line)).toEqual({
    ...{ id: 'r2', at: '2026-01-01T00:00:00Z', model: 'k', who: 'acme' },
    ...{ auth: { key: '[key]' }, cost: 'k and key' },
  })
  const csv = await imported(
    'id,at,model,who,key,error,cost\nr1,2026-01-01T00:00:00Z,k,acme,k,,k\n',
    'log.csv',
    flat,
  )
  expect(JSON.parse(JSON.parse(csv.rejects).line)).toMatchObject({
    model: 'k',
    key: '[key]',
    cost: 'k',
  })
})

test('what looks like a key is hidden in a log without a column of keys', {
  tags: 'whole',
}, async () => {
  const { rows, left } = await imported(
    `${JSON.stringify({ id: 'r1', at: '2026-01-01T00:00:00Z', error: `Incorrect API key provided: ${first}.`, who: 'task-0123456789abcdef', cost: 1 })}\n`,
    'log.jsonl',
    parseMapping(
      'fields: { id: id, time: at, account: who, errorCode: error, credits: cost }',
      'm',
    ),
  )
  expectNoPartOf(left, [first])
  expect(rows[0]).toMatchObject({
    account: 'task-0123456789abcdef',
    error_code: 'Incorrect API key provided: [key].',
  })
})

const withoutColumn = parseMapping(
  'fields: { id: id, time: at, account: who, errorCode: error, credits: cost }',
  'm',
)
const base64 = 'AbCdEf12/ghijklmnop+qrstuvwxyz~0123=='

test('a bearer key is hidden with each letter that RFC 6750 allows, in any case and after any blank', async () => {
  const at = '2026-01-01T00:00:00Z'
  const errors = [
    `401 for Authorization: Bearer ${base64}`,
    `Bearer a1b2/${base64} is unknown`,
    `BEARER ${third}.`,
    `bearer\t${second.slice(3)}`,
    `?auth=Bearer%20${first.slice(3)}&x=1`,
  ]
  const { rows, left, rejects } = await imported(
    `${errors.map((error, n) => `${JSON.stringify({ id: `r${n}`, at, error, cost: n })}\n`).join('')}${JSON.stringify({ id: 'r9', at: 'never', why: `Bearer ${base64}x` }).replaceAll('/', '\\/')}\n`,
    'log.jsonl',
    withoutColumn,
  )
  expect(rows.map((row) => row.error_code)).toEqual([
    '401 for Authorization: Bearer [key]',
    'Bearer [key] is unknown',
    'BEARER [key].',
    'bearer\t[key]',
    '?auth=Bearer%20[key]&x=1',
  ])
  expect(JSON.parse(JSON.parse(rejects).line)).toMatchObject({ id: 'r9', why: 'Bearer [key]' })
  expectNoPartOf(left, [base64, first.slice(3), second.slice(3), third])
})

test('a key that stands twice in one line is hidden at both places', async () => {
  const { rejects } = await imported(
    `${line(1, first)}{"id":"r2","at":"never","auth":{"key":"one","key":"two"},"cost":1}\n`,
    'log.jsonl',
  )
  expect(JSON.parse(rejects).line).toContain('"auth":{"key":"[key]","key":"[key]"}')
})

test('records of another tool lose the keys in their errors and settings', async () => {
  const record = (error: object | null) =>
    `${JSON.stringify({ metadata: { request_start_ns: 1_767_225_600_000_000_000, request_end_ns: 1_767_225_601_000_000_000, x_request_id: `id ${second}` }, metrics: { request_latency: { value: 900 } }, error })}\n`
  const { left, counts } = await imported(
    record({ code: 401, type: `Unauthorized ${first}`, message: 'x' }) +
      record(null) +
      `{"api_key":"${third}" cut\n{"authorization":"Basic ${base64.replaceAll('/', '\\/')}" cut\n`,
    'profile_export.jsonl',
    null,
  )
  expect(counts.kind).toBe('records')
  expectNoPartOf(left, [first, second, third, base64])
})
