import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { assay } from '../e2e/command.ts'

const cwd = mkdtempSync(join(tmpdir(), 'assay-folder-'))
mkdirSync(join(cwd, 'dd'))
writeFileSync(
  join(cwd, 'prices.yaml'),
  'name: gw\nextends: none\ncurrency: USD\ncharged: { refused: none }\nmodels:\n  - { id: m, price: { input: 3, output: 15 } }\n',
)
writeFileSync(join(cwd, 'log.jsonl'), '{"id":"a"}\n')
afterAll(() => rmSync(cwd, { recursive: true }))

test.concurrent.each([
  'usage reconcile --bill dd --log log.jsonl --contract prices.yaml',
  'usage reconcile --bill log.jsonl --log dd --contract prices.yaml',
  'usage reconcile --bill log.jsonl --bill-map dd --log other.jsonl --contract prices.yaml',
  'import dd',
  'import usage log.jsonl --map dd',
  'audit --log dd --alone --contract prices.yaml',
])('a folder in place of a file is said to be one: %s', { tags: 'whole' }, async (words) => {
  const { code, stderr } = await assay(words.split(' '), { cwd }).ended
  expect([code, stderr]).toEqual([2, 'dd: expected a file; it is a folder.\n'])
})

test('a file is no bill for itself', { tags: 'whole' }, async () => {
  const { code, stderr } = await assay(
    'usage reconcile --bill log.jsonl --log log.jsonl --contract prices.yaml'.split(' '),
    { cwd },
  ).ended
  expect([code, stderr]).toEqual([
    ...[2, '--bill and --log are both log.jsonl: expected a bill and a log of the same requests\n'],
  ])
})
