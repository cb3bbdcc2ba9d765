import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { columnsText, unreadHint } from '../../../src/store/import/unmapped-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-unmapped-'))
afterAll(() => rmSync(folder, { recursive: true }))

function logOf(...names: readonly string[]): string {
  const path = join(folder, 'log.jsonl')
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(names.map((name) => [name, 1])))}\n`)
  return path
}

test.each([
  ['promptTokenCount'],
  ['tokensUsed'],
  ['tokenCount'],
  ['totalUSD'],
  ['usdTotal'],
  ['USDTotal'],
  ['total_usd'],
  ['input-tokens'],
  ['Total Tokens'],
  ['unitCost'],
  ['price_per_token'],
  ['time_price'],
  ['costs'],
  ['amountCharged'],
])('a column %s is named as one that is not read', (name) => {
  expect(unreadHint(logOf('time', name))).toEqual([
    `not read: ${name}; a --map says which fields they are`,
  ])
})

test('columns of times to a token, of keys and of other things are not named', () => {
  const others = ['time_to_first_token', 'timeToFirstToken', 'latencyPerToken', 'tokens_per_second']
  expect(
    unreadHint(logOf(...others, 'api_token', 'accessToken', 'tokenizer', 'museum', 'Europe')),
  ).toEqual([])
  expect(unreadHint(logOf('coster', 'discharge_code', 'spender_name'))).toEqual([])
})

test('of many columns that are not read some are named, without signs for a terminal', () => {
  const names = Array.from({ length: 300 }, (_, at) => `cost_${at + 1}`)
  expect(unreadHint(logOf('time', ...names))).toEqual([
    `not read: ${names.slice(0, 12).join(', ')} and 288 more; a --map says which fields they are`,
  ])
  expect(unreadHint(logOf('time', 'cost\u001b[31m'))).toEqual([
    'not read: cost; a --map says which fields they are',
  ])
  const [hint] = unreadHint(logOf(...names.slice(0, 12).map((name) => name.padEnd(200, '_'))))
  expect(hint).toMatch(/; a --map says which fields they are$/)
  expect(hint!.length).toBeLessThan(400)
})

test('the command that begins a mapping quotes the file for a shell', () => {
  const path = logOf('a')
  expect(columnsText('/tmp/my log; $(x).jsonl', path)).toMatch(
    /assay import '\/tmp\/my log; \$\(x\)\.jsonl' --suggest > map\.yaml$/,
  )
  expect(columnsText('log.jsonl', path)).toMatch(/assay import log\.jsonl --suggest > map\.yaml$/)
})
