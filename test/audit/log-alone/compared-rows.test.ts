import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditLog } from '../../../src/audit/log-alone/audit-log.ts'
import { parseContract } from '../../../src/contract/load.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-compared-rows-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const contractOf = (terms: object) =>
  parseContract(
    {
      ...{ name: 'ours', currency: 'USD', charged: { success: 'full' } },
      models: [{ id: 'large', price: { input: 4, output: 20 } }],
      ...terms,
    },
    'ours.yaml',
  )

async function found(rule: string, rows: readonly object[], contract = contractOf({})) {
  const file = join(folder, 'log.jsonl')
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const { findings } = await auditLog({ file, contract, nowMs: Date.UTC(2026, 11, 1) })
  return findings.find((each) => each.rule === rule)!.verdict
}

const row = { model: 'large', spend: 0.00014, prompt_tokens: 10, completion_tokens: 5 }

test('PRICE-05: rows without an id and a time show neither a repeat nor a time', async () => {
  expect((await found('PRICE-05', [row, row])).verdict).toBe('not-observed')
  expect(await found('PRICE-05', [{ ...row, request_id: 'a' }])).toMatchObject({
    verdict: 'pass',
    note: expect.stringMatching(/; not tested: times$/),
  })
  const timed = { ...row, startTime: '2026-11-09T10:00:00Z' }
  expect(await found('PRICE-05', [timed])).toMatchObject({
    note: expect.stringMatching(/; not tested: rows with one id$/),
  })
  expect(await found('PRICE-05', [{ ...timed, request_id: 'a' }])).not.toMatchObject({
    note: expect.stringContaining('not tested'),
  })
})

test('PRICE-08: a sum beside costs that are all open passes nothing', async () => {
  const unknown = { ...row, model: 'nobody', request_id: 'a' }
  expect(await found('PRICE-08', [unknown])).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('leaves the cost of every row open'),
  })
  expect((await found('PRICE-08', [{ ...row, request_id: 'a' }])).verdict).toBe('pass')
})

const startMs = Date.UTC(2026, 10, 9, 10)
/** Rows of so many requests, one each second, with these costs. */
const rowsOf = (count: number, costOf: (nth: number) => number) =>
  Array.from({ length: count }, (_, nth) => ({
    ...{ ...row, spend: costOf(nth), request_id: `a${nth}` },
    startTime: new Date(startMs + nth * 1000).toISOString(),
  }))

test.each([
  ['3,000 free rows', 'inconclusive', () => 0],
  ['2,500 free rows before others', 'inconclusive', (nth: number) => (nth < 2500 ? 0 : row.spend)],
  ['3,000 halved rows', 'fail', () => row.spend / 2],
  ['free rows in between', 'fail', (nth: number) => (nth % 2 === 0 ? 0 : row.spend)],
  ['2,500 free rows and one too high', 'fail', (nth: number) => (nth < 2500 ? 0 : 2 * row.spend)],
] as const)('PRICE-04: an allowance that is open, and %s: %s', async (_, verdict, costOf) => {
  const open = contractOf({ allowance: 'open' })
  const judged = await found('PRICE-04', rowsOf(3000, costOf), open)
  expect([_, judged.verdict]).toEqual([_, verdict])
})

test('PRICE-04: free rows among paid ones fail, however few of the right rows are kept', async () => {
  // Right rows are one each second; in two minutes of the second half, every second one is free.
  const isFree = (nth: number) => nth >= 5000 && nth < 5120 && nth % 2 === 0
  const rows = rowsOf(9000, (nth) => (isFree(nth) ? 0 : row.spend))
  expect((await found('PRICE-04', rows)).verdict).toBe('fail')
})

test('PRICE-04: free rows that come first are inconclusive among more right ones than are kept', async () => {
  const rows = rowsOf(4100, (nth) => (nth < 50 ? 0 : row.spend))
  expect(await found('PRICE-04', rows)).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('50 of 4100 costs in the log are below'),
  })
})
