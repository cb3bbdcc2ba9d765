import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { reconcileFiles } from '../../../src/audit/reconcile/read-bill.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { decimalText } from '../../../src/money/rational.ts'
import { reconciliationPage } from '../../../src/report/reconcile/page.ts'
import { sumsOf } from '../../../src/report/reconcile/sums.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { parseYaml } from '../../../src/user/yaml.ts'

/** An amount that nobody states is unknown. It is in no sum, and never 0. */
const folder = mkdtempSync(join(tmpdir(), 'assay-unknown-'))
afterAll(() => rmSync(folder, { recursive: true }))

const samples = join(import.meta.dirname, '../../store/import/bill-samples')
const file = (name: string, lines: readonly string[]) => {
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
  return join(folder, name)
}
const contractOf = (model: string) =>
  parseContract(
    parseYaml(`
name: gateway
extends: none
currency: USD
charged: { success: full, refused: none }
models: [{ id: ${model}, price: { input: 4, output: 20 } }]
`),
    'c.yaml',
  )
const row = (id: string, day: string) =>
  `{"request_id": "${id}", "startTime": "2026-11-${day}T08:00:00Z", "model": "large", "prompt_tokens": 1000, "completion_tokens": 100, "spend": 0.006}`
const log = file('spend.jsonl', [row('a', '09'), row('b', '10')])
const head =
  'BilledCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ResourceId'
const charge = (cost: string, day: number) =>
  `${cost},USD,Usage,2026-11-${day}T00:00:00Z,2026-11-${day + 1}T00:00:00Z,large`
const bill = file('bill.csv', [head, charge('0.006', 10)])

test.each(['fireworks.csv', 'claude-code.jsonl', 'codex.jsonl', 'gemini-cli.jsonl'])(
  '%s states no amount: the bill is not 0, it is unknown',
  async (name) => {
    const files = { bill: join(samples, name), log, contract: contractOf('large') }
    await expect(reconcileFiles(files)).rejects.toThrow(
      /no amount in any of its \d+ lines: what it charges is unknown, not 0/,
    )
  },
)

test('lines of a bill without an amount are counted, and in no sum', async () => {
  const part = file('part.csv', [head, charge('0.006', 10), charge('', 11)])
  const found = await reconcileFiles({ bill: part, log, contract: contractOf('large') })
  expect(found.withoutAmount).toBe(1)
  expect(decimalText(sumsOf(found.cells).bill)).toBe('0.006')
  expect(reconciliationPage(found)).toContain('Of 1 line of the bill the amount is unknown')
})

test('a log of a model that the contract has no price of has an unknown cost, never 0', async () => {
  const found = await reconcileFiles({ bill, log, contract: contractOf('other') })
  expect(found.cells.map(({ expected, unknown }) => [expected, unknown])).toEqual([
    [null, 1],
    [null, 1],
  ])
  expect(sumsOf(found.cells).expected).toBeNull()
  expect(reconciliationPage(found)).toContain('by the contract, the cost of the log is unknown')
})

test('a bill or a log that is cut is refused', async () => {
  const cutLog = file('cut.jsonl', [row('a', '09'), row('b', '10').slice(0, 40)])
  writeFileSync(cutLog, `${row('a', '09')}\n${row('b', '10').slice(0, 40)}`)
  const cutBill = join(folder, 'cut.csv')
  writeFileSync(cutBill, `${head}\n${charge('0.006', 10)}\n${charge('0.006', 11).slice(0, 12)}`)
  const contract = contractOf('large')
  await expect(reconcileFiles({ bill, log: cutLog, contract })).rejects.toThrow(
    /ends in the middle/,
  )
  await expect(reconcileFiles({ bill: cutBill, log, contract })).rejects.toThrow(
    /ends in the middle/,
  )
})

test('a credit that is stated more finely than the use makes no price of what is rounded', async () => {
  const use = { a: '0.0004', b: '0.0004' }
  const bill = file('fine.csv', [
    'request_id,startTime,model,spend,prompt_tokens,completion_tokens,type',
    ...Object.entries(use).map(
      ([id, cost]) => `${id},2026-11-09T08:00:00Z,large,${cost},90,0,usage`,
    ),
    'c,2026-11-09T08:00:00Z,,-0.0000001,,,credit',
  ])
  const log = file(
    'fine.jsonl',
    Object.keys(use).map(
      (id) =>
        `{"request_id": "${id}", "startTime": "2026-11-09T08:00:00Z", "model": "large", "prompt_tokens": 90, "completion_tokens": 0}`,
    ),
  )
  const billMap = parseMapping(
    'fields: { id: request_id, time: startTime, model: model, type: type, credits: spend, promptTokens: prompt_tokens, completionTokens: completion_tokens }',
  )
  const { cells } = await reconcileFiles({ bill, log, billMap, contract: contractOf('large') })
  const causes = sumsOf(cells).causes.map(({ cause, amount }) => [cause, decimalText(amount)])
  expect(causes).toEqual([
    ['rounding', '0.00008'],
    ['credit', '-0.0000001'],
  ])
})
