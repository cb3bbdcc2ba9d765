import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
  ...{ choices: {}, nowMs: Date.UTC(2026, 10, 2) },
})

beforeAll(async () => {
  await writeEvidence(options('evidence'))
})

test('the findings of a folder are judged again without its log and contract, and are the same', async () => {
  const { report, differences } = await checkEvidence(join(place, 'evidence'))
  expect(differences).toEqual([])
  const failed = report.findings.filter(({ verdict }) => verdict.verdict === 'fail')
  expect(failed.length).toBeGreaterThan(0)
  expect(readFileSync(join(place, 'evidence/requests.csv'), 'utf8')).toContain('req-2')
})

test('no file of the folder has a key of the log', () => {
  for (const name of readdirSync(join(place, 'evidence'))) {
    expect([name, readFileSync(join(place, 'evidence', name)).includes(key)]).toEqual([name, false])
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
