import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { importFile } from '../../../src/store/import/import-file.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { tries } from '../../nightly/tries.ts'
import { usageOptions } from '../../report/usage-events.ts'
import { emptyStore, type Store } from '../opened.ts'
import { keepsSums } from './any-cut.ts'
import { sumsOf } from './samples.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-sums-'))
afterAll(() => rmSync(folder, { recursive: true }))
let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

keepsSums(
  'DuckDB',
  () => ({
    take: (file) => importFile(store, file),
    sums: (options) => sumsOf(store, options),
  }),
  tries(2, 12),
)

test('equal lines of a file count each, and as many times as the file that has most of them', {
  tags: 'whole',
}, async () => {
  const byContent = parseMapping('fields: { time: at, credits: cost, promptTokens: prompt }')
  for (const [at, n] of [2, 3, 1].entries()) {
    const file = join(folder, `equal-${at}.jsonl`)
    writeFileSync(file, '{"at":"2026-11-01T00:00:00Z","cost":"0.1","prompt":7}\n'.repeat(n))
    await importFile(store, { file, mapping: byContent })
  }
  const { totals } = await sumsOf(store, usageOptions({ contract: null }))
  expect(totals).toMatchObject({ requests: { value: 3 }, money: [{ used: '0.3' }] })
})

test.each([
  ['jsonl', (lines: readonly string[]) => lines.join('\n')],
  ['json', (lines: readonly string[]) => `[${lines.join(',\n')}]`],
] as const)(
  'a JSON number in .%s keeps every digit, also past those of a double',
  async (name, of) => {
    const file = join(folder, `digits.${name}`)
    const lines = [
      '{"time":"2026-11-01T10:00:00Z","id":"a","credits":0.123456789012345678,"note":"x: 12345678901234567, y"}',
      '{"time":"2026-11-01T10:00:01Z","id":"b","credits":12345678901234567.123456}',
      '{"time":"2026-11-01T10:00:02Z","id":"c","credits": 3.06e-05,"trace":[1234567890123456789]}',
      '{"time":"2026-11-01T10:00:03Z","id":"d","credits":-0.000000000000000001,"trace":[ 1234567890123456789]}',
    ]
    writeFileSync(file, `${of(lines)}\n`)
    await importFile(store, { file })
    const rows = await store.rows(
      'SELECT id, credits::VARCHAR AS credits FROM usage_events ORDER BY id',
    )
    expect(rows.map(({ id, credits }) => `${id} ${credits}`)).toEqual([
      'a 0.123456789012345678',
      'b 12345678901234567.123456000000000000',
      'c 0.000030600000000000',
      'd -0.000000000000000001',
    ])
  },
)

test('a check counts a line once that repeats another of the file, and none whose id has other content', async () => {
  const file = join(folder, 'check.csv')
  const row = '2026-11-01T10:00:00Z,a,1,10'
  writeFileSync(file, `time,id,credits,promptTokens\n${row}\n${row}\n2026-11-01T10:00:00Z,a,2,10\n`)
  const checked = await importFile(store, { file, check: true })
  expect(checked).toMatchObject({ lines: 3, accepted: 1, duplicates: 1, rejected: 1 })
  expect(checked).toMatchObject({
    summary: { requests: 1, tokens: { input: 10 }, cost: { credits: '1' } },
  })
})
