import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { auditLog } from '../../../src/audit/log-alone/audit-log.ts'
import { contractOf } from '../prices/paid.ts'

/** What rows of a log say of the end of their requests. */

const served = (nth: number, more: object = {}) => ({
  ...{ request_id: `r${nth}`, model: 'big', startTime: `2026-10-01T18:00:0${nth}Z` },
  ...{ prompt_tokens: 10, completion_tokens: 5, spend: 0.00014 },
  ...more,
})

async function verdictOf(rule: string, last: object) {
  const folder = mkdtempSync(join(tmpdir(), 'log-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'log.jsonl')
  const rows = [served(1), served(2), last]
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join('\n'))
  const { findings } = await auditLog({
    ...{ file: path, contract: contractOf() },
    nowMs: Date.UTC(2026, 10, 1),
  })
  return findings.find((each) => each.rule === rule)!.verdict.verdict
}

test.each([
  { status: 500 },
  { status: '429' },
  { status_code: 500 },
  { error: { message: 'no' } },
  { status: 'rate_limited' },
  { status: 'server_error' },
])('a row that failed is free: %o', async (more) => {
  const failed = { ...served(3), completion_tokens: 0 }
  expect(await verdictOf('PRICE-04', { ...failed, ...more, spend: 0 })).toBe('pass')
  expect(await verdictOf('PRICE-04', { ...failed, ...more, spend: 0.00004 })).toBe('fail')
})

test('a row whose end has a word of its own may be free, and one that succeeded has its cost', async () => {
  const free = { ...served(3), spend: 0 }
  expect(await verdictOf('PRICE-04', { ...free, status: 'shadowed' })).toBe('pass')
  for (const status of ['success', 'ok', 200, 'completed'])
    expect(await verdictOf('PRICE-04', { ...free, spend: 0.00004, status })).toBe('fail')
})

test('an end in whole seconds is not before a start within that second', async () => {
  const of = (startTime: unknown, endTime: unknown) =>
    verdictOf('PRICE-05', { ...served(3), startTime, endTime })
  expect(await of('2026-10-01T18:00:01.500Z', '2026-10-01T18:00:01Z')).toBe('pass')
  expect(await of(1790877601.5, 1790877601)).toBe('pass')
  expect(await of('2026-10-01T18:00:01Z', '2026-10-01T17:00:01')).toBe('pass')
  expect(await of('2026-10-01T18:00:02.500Z', '2026-10-01T18:00:01Z')).toBe('fail')
})
