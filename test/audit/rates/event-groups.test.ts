import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { EventRecords } from '../../../src/audit/rules/rates/event-groups.ts'
import {
  numberColumns,
  rateEventTable,
  wordColumns,
} from '../../../src/audit/rules/rates/rate-events.ts'
import { defaultContract } from '../../../src/contract/default.ts'
import { ColumnFile } from '../../../src/store/read/column-file.ts'

const rows = 20_000
const words = ['run', 'key a', 'key b', 'chat', 'svc-k2', 'ok', ...Array(20).keys()].map(String)
const wordOf = { run_id: 0, endpoint: 3, model: 4, outcome: 5 } as Record<string, number>

/** An account whose two keys take turns, one request a millisecond. */
function accountTable(account: number) {
  const value = (name: string, row: number): number => {
    if (name.endsWith('_us')) return row * 1000
    if (name === 'slot') return row
    if (name === 'key_fp') return 1 + (row % 2)
    if (name === 'account') return 6 + account
    return wordOf[name] ?? 0
  }
  const columns = [...numberColumns, ...wordColumns].map((name) =>
    Float64Array.from({ length: rows }, (_, row) => value(name, row)),
  )
  return rateEventTable(columns, words, defaultContract)
}

test('records on disk keep no column of the accounts in memory', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-'))
  const file = new ColumnFile(join(folder, 's.duckdb'))
  onTestFinished(() => {
    file.close()
    rmSync(folder, { recursive: true })
  })
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const kept = () => {
    collect()
    return process.memoryUsage().arrayBuffers
  }
  const records = new EventRecords(file)
  const before = kept()
  for (let account = 0; account < 20; account++) records.add(accountTable(account))
  // An account has 4 MB of columns. The engine may hold the last ones, and frees others in a thread of its own, a little later.
  await expect.poll(() => kept() - before).toBeLessThan(20e6)
  const accounts = records.byAccount()
  expect(accounts.size).toBe(20)
  expect(accounts.get('19').map(({ slot }) => slot)).toEqual([...Array(rows).keys()])
})
