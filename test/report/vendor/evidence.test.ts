import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { csvRows } from '../../../src/audit/evidence/prices/csv.ts'
import { anonymousJson } from '../../../src/report/vendor/anonymous.ts'
import { checkEvidence } from '../../../src/report/vendor/check-evidence.ts'
import { writeEvidence } from '../../../src/report/vendor/write-evidence.ts'

/** A folder of evidence is written once, and checked without what it came from. */
const place = mkdtempSync(join(tmpdir(), 'assay-vendor-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))
const file = (name: string, text: string) => {
  const path = join(place, name)
  writeFileSync(path, text)
  return path
}

const contract = file(
  'c.yaml',
  `name: shop
extends: none
currency: USD
charged: { success: full, refused: none }
models: [{ id: big, price: { input: 4, output: 8 } }]
`,
)
const key = 'sk-live-0123456789abcdef'
const log = file(
  'log.jsonl',
  [
    {
      request_id: 'req-1',
      model: 'big',
      prompt_tokens: 1000,
      completion_tokens: 100,
      spend: 0.0048,
    },
    {
      request_id: 'req-2',
      model: 'big',
      prompt_tokens: 1000,
      completion_tokens: 100,
      spend: 0.0096,
    },
  ]
    .map(
      (row) => `${JSON.stringify({ ...row, startTime: '2026-11-01T00:00:00.000Z', note: key })}\n`,
    )
    .join(''),
)
const options = (folder: string) => ({
  ...{ folder: join(place, folder), runs: null, contract, profile: null, log },
  ...{ choices: {}, nowMs: Date.UTC(2026, 10, 2), isAnonymous: false },
})

beforeAll(async () => {
  await writeEvidence(options('evidence'))
})

test('the findings of a folder are judged again without its log and contract, and are the same', async () => {
  const { report, differences } = await checkEvidence(join(place, 'evidence'))
  expect(differences).toEqual([])
  const failed = report.findings.filter(({ verdict }) => verdict.verdict === 'fail')
  expect(failed.length).toBeGreaterThan(0)
})

const csv = `request_id,model,prompt_tokens,completion_tokens,spend,startTime
req-1,big,1000,100,0.0048,2026-11-01T00:00:00Z
req-2,big,1000,100,0.0096,2026-11-01T00:00:00Z
`
test.each([
  ['cut.csv', Buffer.from(csv.slice(0, -12))],
  ['cut.csv.gz', gzipSync(csv).subarray(0, -12)],
])('a log that ends in the middle is no evidence: %s', async (name, bytes) => {
  const cut = join(place, name)
  writeFileSync(cut, bytes)
  await expect(writeEvidence({ ...options('of-cut'), log: cut })).rejects.toThrow(
    `${cut} ends in the middle`,
  )
})

test('the requests are a table of numbers, with their unit and what is too much', () => {
  const rows = csvRows(readFileSync(join(place, 'evidence/requests.csv'), 'utf8'), 'requests.csv')
  expect(rows).toEqual([
    expect.objectContaining({
      request_ids: 'req-2',
      unit: 'USD',
      logged: '0.0096',
      expected: '0.0048',
      difference: '0.0048',
    }),
  ])
})

test('the page names the log, its rows and its period', () => {
  expect(readFileSync(join(place, 'evidence/findings.html'), 'utf8')).toContain(
    'The log log.jsonl, 2 rows of 2026-11-01 UTC, judged by',
  )
})

test('no file of the folder has a key of the log', () => {
  for (const name of readdirSync(join(place, 'evidence'))) {
    expect([name, readFileSync(join(place, 'evidence', name)).includes(key)]).toEqual([name, false])
  }
})

test.each([
  ['json', '{"user":"Ann","n":"req-1","spend":0.123456789012345678,"team_id":7,"m":"Ann says hi"}'],
  ['a text that is JSON', '{"metadata":"{\\"user_id\\": \\"Ann\\", \\"x\\": 1.50}","model":"big"}'],
])('numbers stand in place of names in %s, and every other letter stays', (_, line) => {
  const [given] = [...anonymousJson([line])]
  expect(given).toBe(
    line
      .replace('"user":"Ann"', '"user":"account 1"')
      .replace('"team_id":7', '"team_id":"account 2"')
      .replace('\\"Ann\\"', '\\"account 1\\"'),
  )
})

test('an anonymous folder of a log names no account, as JSON and as CSV, and has the same findings', async () => {
  const jsonl = file(
    'named.jsonl',
    readFileSync(log, 'utf8').replaceAll('"note"', '"user":"Ann Lee, Ltd","note"'),
  )
  const csv = file(
    'named.csv',
    'request_id,startTime,model,user,prompt_tokens,completion_tokens,spend\r\nreq-1,2026-11-01T00:00:00Z,big,"Ann Lee, Ltd",1000,100,0.0048\r\nreq-2,2026-11-01T00:00:00Z,big,"Ann Lee, Ltd",1000,100,0.0096\r\n',
  )
  for (const [nth, named] of [jsonl, csv].entries()) {
    const folder = `anonymous-${nth}`
    await writeEvidence({ ...options(folder), log: named, isAnonymous: true })
    for (const name of readdirSync(join(place, folder))) {
      const text = readFileSync(join(place, folder, name), 'utf8')
      expect([name, text.includes('Ann Lee')]).toEqual([name, false])
    }
    const { report, differences } = await checkEvidence(join(place, folder))
    expect(differences).toEqual([])
    const failed = report.findings.find(({ rule }) => rule === 'PRICE-04')!.verdict
    expect(failed.verdict).toBe('fail')
    if (failed.verdict === 'fail') expect(failed.witnesses[0].service?.ids).toEqual(['req-2'])
  }
})

test('a folder with files is never overwritten', async () => {
  await expect(writeEvidence(options('evidence'))).rejects.toThrow('overwrites nothing')
})

test.each([
  [
    'changed',
    (folder: string) => writeFileSync(join(folder, 'requests.csv'), 'x'),
    'requests.csv was changed',
  ],
  ['missing', (folder: string) => rmSync(join(folder, 'log.jsonl')), 'log.jsonl is missing'],
  [
    'too many',
    (folder: string) => writeFileSync(join(folder, 'x.txt'), ''),
    'x.txt is not in the manifest',
  ],
  [
    'no manifest that can be read',
    (folder: string) => writeFileSync(join(folder, 'manifest.json'), '{'),
    'is not JSON',
  ],
])('a file that is %s is named', async (name, change, said) => {
  const folder = `evidence-${name.replaceAll(' ', '-')}`
  await writeEvidence(options(folder))
  change(join(place, folder))
  await expect(checkEvidence(join(place, folder))).rejects.toThrow(said)
})
