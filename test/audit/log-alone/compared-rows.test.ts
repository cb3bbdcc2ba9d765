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

const contract = parseContract(
  {
    ...{ name: 'ours', currency: 'USD', charged: { success: 'full' } },
    models: [{ id: 'large', price: { input: 4, output: 20 } }],
  },
  'ours.yaml',
)

async function found(rule: string, rows: readonly object[]) {
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
