import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { reconcileFiles } from '../../../src/audit/reconcile/read-bill.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { add, decimalText, readNumber, zero } from '../../../src/money/rational.ts'
import { sumsOf } from '../../../src/report/reconcile/sums.ts'
import { parseYaml } from '../../../src/user/yaml.ts'

/** Bills of public formats, whose sums an independent reader states (`bill-samples/expected.json`). */
const samples = join(import.meta.dirname, '../../store/import/bill-samples')
const folder = mkdtempSync(join(tmpdir(), 'assay-bill-sums-'))
afterAll(() => rmSync(folder, { recursive: true }))

const log = join(folder, 'log.jsonl')
writeFileSync(
  log,
  '{"request_id": "a", "startTime": "2026-11-09T08:00:00Z", "model": "none", "prompt_tokens": 1, "completion_tokens": 1, "spend": 0.1}\n',
)

interface Sums {
  readonly cost: Readonly<Record<string, { readonly used: string; readonly net: string }>> | null
  readonly days: Readonly<Record<string, Readonly<Record<string, Sums>>>>
}
const stated = JSON.parse(readFileSync(join(samples, 'expected.json'), 'utf8')) as Record<
  string,
  Sums
>
const bills = Object.entries(stated).filter(
  ([name, { cost }]) => cost !== null && !name.includes('+'),
)

test('each bill of the samples with an amount is tried', () => {
  expect(bills.map(([name]) => name).toSorted()).toEqual([
    'aws-cur2.csv',
    'azure-cost-details.csv',
    'copilot.csv',
    'cursor.csv',
    'focus-charges.csv',
    'focus-litellm-later.csv',
    'focus-litellm.csv',
  ])
})

test.each(bills)('%s beside a log: its sum is that of an independent reader', async (name, of) => {
  const [unit, cost] = Object.entries(of.cost!)[0]!
  const contract = parseContract(
    parseYaml(
      `{ name: c, extends: none, currency: ${unit}, models: [{ id: x, price: { input: 1, output: 1 } }] }`,
    ),
    'c.yaml',
  )
  const { cells } = await reconcileFiles({ bill: join(samples, name), log, contract })
  const sums = sumsOf(cells)
  expect(decimalText(sums.bill)).toBe(decimalText(readNumber(cost.net)!))
  // Each cause of a cell is a part of its difference, and the parts are all of it.
  expect(sums.causes.map(({ amount }) => amount).reduce(add, zero)).toEqual(sums.difference)
  for (const [day, models] of Object.entries(of.days)) {
    const net = Object.values(models)
      .flatMap(({ cost: own }) => (own === null ? [] : [readNumber(own[unit]!.net)!]))
      .reduce(add, zero)
    const billed = cells.filter((cell) => cell.day === day).map(({ bill }) => bill)
    // A charge of a month stands at its first day here, and beside the days there.
    if (!day.endsWith('-01')) expect([day, billed.reduce(add, zero)]).toEqual([day, net])
  }
})
