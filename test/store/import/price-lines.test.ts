import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { loadContract } from '../../../src/contract/load.ts'
import { logPrices } from '../../../src/price/price-log.ts'
import { readUsage } from '../../../src/report/usage/read.ts'
import { terminalUsage } from '../../../src/report/usage/terminal.ts'
import { usageCards } from '../../../src/report/usage-page.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import { usageOptions } from '../../report/usage-events.ts'
import { emptyStore, type Store } from '../opened.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-prices-'))
afterAll(() => rmSync(folder, { recursive: true }))
let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

/** Prices of a contract, as the command line reads it. */
function pricesOf(models: string, name = 'acme') {
  const file = join(folder, `${name}.yaml`)
  writeFileSync(
    file,
    `name: ${name}\nextends: none\ncurrency: USD\ncharged: { refused: none }\nmodels:\n${models}`,
  )
  return logPrices(loadContract(file))
}
const plain = '  - { id: m, price: { input: 3, cache_read: 0.3, output: 15 } }\n'

let files = 0
async function importRows(rows: readonly object[], options: object = {}) {
  const file = join(folder, `${files++}.jsonl`)
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  return importFile(store, { file, source: 'log', ...options })
}

const row = {
  ...{ id: '1', time: '2026-11-03T10:00:00Z', model: 'm', status: 200 },
  ...{ promptTokens: 1000, cachedTokens: 400, completionTokens: 10 },
}
/** 600 x 3 + 400 x 0.3 + 10 x 15, by hand, for a million. */
const cost = '0.00207'

const pageOf = () => readUsage(store, usageOptions({ contract: null }))
const moneyOf = async () => (await pageOf()).totals.money

test('lines without a cost get one by the prices of a contract, apart from those that are logged', {
  tags: 'whole',
}, async () => {
  const imported = await importRows(
    [row, { ...row, id: '2', credits: '0.5', unit: 'USD' }, { ...row, id: '3', model: 'other' }],
    { prices: pricesOf(plain) },
  )
  expect(imported).toMatchObject({
    accepted: 3,
    notes: expect.arrayContaining([
      'the cost of 1 line is computed by your prices of acme',
      '1 line without a cost: the prices of acme do not say theirs',
    ]),
  })
  const page = await pageOf()
  expect(page.totals).toMatchObject({
    money: [{ unit: 'USD', used: '0.50207', refunds: '0', computed: cost }],
    pricedBy: ['acme'],
    unknownCost: 1,
  })
  expect(terminalUsage(page)).toContain(
    `computed                    0.0021 USD   (by your prices of acme; part of the above)\nas logged                     0.50 USD   (the rest of the above)\n`,
  )
  expect(usageCards(page).text).toContain('by your prices of acme; part of the above')
})

test('a failed request costs what the contract charges for it, and one without tokens stays unknown', {
  tags: 'whole',
}, async () => {
  await importRows(
    [
      {
        ...row,
        id: '1',
        status: 500,
        promptTokens: null,
        cachedTokens: null,
        completionTokens: null,
      },
      { ...row, id: '2', promptTokens: null, cachedTokens: null, completionTokens: null },
    ],
    { prices: pricesOf(plain) },
  )
  expect((await pageOf()).totals).toMatchObject({
    money: [{ unit: 'USD', used: '0', computed: '0' }],
    unknownCost: 1,
  })
})

test('a sum over a day is priced if its requests cost the same each, whatever their size', {
  tags: 'whole',
}, async () => {
  const sum = { ...row, id: undefined, end: '2026-11-04T10:00:00Z', requests: 7 }
  const fee = '  - { id: m, price: { input: 3, cache_read: 0.3, output: 15, request: 0.01 } }\n'
  const tiers =
    '  - { id: m, price: { input: 3, output: 15 }, tiers: { steps: [{ above: 100, price: { input: 6 } }] } }\n'
  await importRows([sum], { prices: pricesOf(fee) })
  expect(await moneyOf()).toMatchObject([{ unit: 'USD', used: '0.07207', computed: '0.07207' }])
  await importRows([sum], { prices: pricesOf(tiers), source: 'tiers' })
  expect((await pageOf()).totals).toMatchObject({
    money: [{ used: '0.07207' }],
    unknownCost: 7,
  })
})

test('a sum of unknown many requests has no cost once each request has a fee', async () => {
  const change = (from: string) =>
    pricesOf(
      `  - { id: m, price: { input: 3, output: 15 }, changes: [{ from: "${from}", price: { request: 0.01 } }] }\n`,
    )
  const sum = {
    ...row,
    id: undefined,
    end: '2026-11-04T10:00:00Z',
    requests: null,
    cachedTokens: 0,
  }
  await importRows([sum], { prices: change('2026-10-01T00:00:00Z') })
  expect(await moneyOf()).toEqual([])
  // A sum ends before its end.
  await importRows([sum], { prices: change('2026-11-04T10:00:00Z'), source: 'before' })
  expect(await moneyOf()).toMatchObject([{ used: '0.00315', computed: '0.00315' }])
})

test('importing again prices known lines by the newer prices, and without prices changes nothing', {
  tags: 'whole',
}, async () => {
  expect(await importRows([row])).toMatchObject({ accepted: 1 })
  expect(await moneyOf()).toEqual([])
  const dearer = pricesOf(
    '  - { id: m, price: { input: 30, cache_read: 3, output: 150 } }\n',
    'dear',
  )
  for (const [prices, used] of [
    [pricesOf(plain), cost],
    [dearer, '0.0207'],
    [undefined, '0.0207'],
  ] as const) {
    const again = await importRows([row], prices === undefined ? {} : { prices })
    expect(again).toMatchObject({ accepted: 0, duplicates: 1, rejected: 0 })
    expect(await moneyOf()).toMatchObject([{ unit: 'USD', used }])
  }
  const sum = { ...row, id: undefined, end: '2026-11-04T10:00:00Z', requests: 7 }
  for (const prices of [undefined, pricesOf(plain), undefined]) {
    await importRows([sum], { source: 'sums', ...(prices === undefined ? {} : { prices }) })
  }
  expect(await moneyOf()).toMatchObject([{ used: '0.02277' }])
})

test('costs that a provider reports apart from its usage come before computed ones', {
  tags: 'whole',
}, async () => {
  const bucket = (result: object) => ({
    ...{ object: 'page', has_more: false, next_page: null },
    data: [{ object: 'bucket', start_time: 1793664000, end_time: 1793750400, results: [result] }],
  })
  const usage = {
    ...{ object: 'organization.usage.completions.result', model: 'm', num_model_requests: 2 },
    ...{ input_tokens: 1000, input_cached_tokens: 400, output_tokens: 10 },
  }
  const costs = {
    object: 'organization.costs.result',
    amount: { value: 0.25, currency: 'usd' },
    line_item: 'm',
  }
  await importRows([bucket(usage)], { prices: pricesOf(plain), source: 'openai' })
  expect(await moneyOf()).toMatchObject([{ used: cost, computed: cost }])
  await importRows([bucket(costs)], { source: 'openai' })
  expect(await moneyOf()).toEqual([{ unit: 'USD', used: '0.25', refunds: '0', computed: '0' }])
})

/** A day of the usage or of the costs of a provider, in an account or in none. */
const daySum = (day: number, of: object) => ({
  time: `2026-11-0${day}T00:00:00Z`,
  ...{ end: `2026-11-0${day + 1}T00:00:00Z`, ...of },
})
const usageOf = (day: number, account?: string) =>
  daySum(day, { model: 'm', account, requests: 2, promptTokens: 1e6, completionTokens: 0 })
const costsOf = (day: number, credits: string, account?: string) =>
  daySum(day, { credits, unit: 'USD', account })

test('costs of a day leave the computed costs of other days', async () => {
  await importRows(
    [1, 2, 3].map((day) => usageOf(day)),
    { prices: pricesOf(plain) },
  )
  expect(await moneyOf()).toMatchObject([{ used: '9', computed: '9' }])
  await importRows([costsOf(2, '5')])
  expect(await moneyOf()).toMatchObject([{ used: '11', computed: '6' }])
  expect((await pageOf()).totals.unknownCost).toBe(0)
})

test('a day without costs within an export of costs was free, and so are weeks that it overlaps', async () => {
  await importRows(
    [1, 2, 3].map((day) => usageOf(day)),
    { prices: pricesOf(plain) },
  )
  await importRows([costsOf(1, '3'), costsOf(3, '3')])
  expect(await moneyOf()).toMatchObject([{ used: '6', computed: '0' }])
  const week = { ...usageOf(1), end: '2026-11-08T00:00:00Z' }
  await importRows([week], { prices: pricesOf(plain), source: 'weeks' })
  await importRows([costsOf(2, '1'), costsOf(3, '1')], { source: 'weeks' })
  expect(await moneyOf()).toMatchObject([{ used: '8', computed: '0' }])
})

test('costs of an account leave the computed costs of another, and costs of no account are those of each', async () => {
  await importRows([usageOf(1, 'a'), usageOf(1, 'b')], { prices: pricesOf(plain) })
  await importRows([costsOf(1, '9', 'a')])
  expect(await moneyOf()).toMatchObject([{ used: '12', computed: '3' }])
  await importRows([usageOf(1, 'a'), usageOf(1, 'b')], { prices: pricesOf(plain), source: 'two' })
  await importRows([costsOf(1, '9')], { source: 'two' })
  expect(await moneyOf()).toMatchObject([{ used: '21', computed: '3' }])
})

test('a contract without prices is refused', () => {
  expect(() => logPrices(defaultContract)).toThrow(/^The contract .* has no prices/)
})
