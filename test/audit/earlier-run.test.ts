import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { audit } from '../../src/audit/audit.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun, novemberUs } from '../report/attempts.ts'
import { openStore, type Store } from '../store/opened.ts'

/** A stream that the first run abandoned is charged while the second run reads its balance. */
let folder: string
let store: Store
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-earlier-'))
  store = await openStore(join(folder, 'earlier.duckdb'))
})
afterEach(() => {
  store.close()
  rmSync(folder, { recursive: true })
})

const read = (slot: number, atS: number, creditsRemaining: number): AttemptRow =>
  attempt(slot, {
    runId: 'second',
    endpoint: 'credits',
    model: null,
    sentUs: atS * 1e6,
    headersUs: atS * 1e6 + 1e5,
    closedUs: atS * 1e6 + 1e5,
    creditsRemaining,
  })
const left = attempt(1, { runId: 'first', outcome: 'aborted', reason: 'first-event', streamed: 1 })

/** @param laterS seconds from the start of the first run to the start of the second */
async function verdictOf(laterS: number, rows: readonly AttemptRow[]) {
  await enterEndedRun(store, 'first')
  await enterEndedRun(store, 'second', { startedAtUs: novemberUs + laterS * 1e6 })
  await appendAttempts(store, rows)
  const report = await audit(store, {
    contract: defaultContract,
    rules: ['BILL-10'],
    auditId: 'earlier',
    auditedAt: new Date(0),
  })
  return report.findings[0]!.verdict.verdict
}

// The charge comes 11 s or more after the abort, and no response took longer than 0.1 s.
test('a late charge for a stream that an earlier run abandoned makes a missing credit inconclusive', {
  tags: 'whole',
}, async () => {
  const rows = [left, read(0, 0, 900), read(1, 1, 900), read(2, 30, 899)]
  expect(await verdictOf(10, rows)).toBe('inconclusive')
})

test('an abandoned stream of an earlier run explains no more than its price', {
  tags: 'whole',
}, async () => {
  const rows = [left, read(0, 0, 900), read(1, 1, 900), read(2, 30, 898)]
  expect(await verdictOf(10, rows)).toBe('fail')
})

test('an abandoned stream cannot be charged after the longest time that the service may take', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf(700, [left, read(0, 0, 900), read(1, 1, 900), read(2, 30, 899)])).toBe(
    'fail',
  )
})

test('an abandoned stream of another key explains no missing credit', async () => {
  const rows = [
    { ...left, keyFp: 'ba9876543210' },
    read(0, 0, 900),
    read(1, 1, 900),
    read(2, 30, 899),
  ]
  expect(await verdictOf(10, rows)).toBe('fail')
})
