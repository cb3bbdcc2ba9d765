import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { reconcileFiles } from '../../../src/audit/reconcile/read-bill.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { decimalText } from '../../../src/money/rational.ts'
import { readKnown } from '../../../src/store/import/known-logs.ts'
import { knownFormat } from '../../../src/store/import/recognised-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-other-services-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Row = Readonly<Record<string, unknown>>

/** The rows and the notes of a bill in CSV, each line of which has the columns of the first. */
function read(name: string, lines: readonly Readonly<Record<string, string>>[]) {
  const path = join(folder, `${name}.csv`)
  const columns = Object.keys(lines[0]!)
  const cells = [columns, ...lines.map((line) => columns.map((column) => line[column] ?? ''))]
  writeFileSync(path, cells.map((row) => `${row.join(',')}\n`).join(''))
  const known = readKnown(knownFormat(path)!, [{ file: path, path }], { partial: false })
  return { rows: [...known.lines] as Row[], notes: known.notes }
}

const azureLine = {
  ...{ date: '11/09/2026', meterName: 'gpt-4o-0806-Inp-glbl Tokens' },
  ...{ meterCategory: 'Foundry Models', consumedService: 'Microsoft.CognitiveServices' },
  ...{ serviceFamily: 'AI + Machine Learning', unitOfMeasure: '1K', quantity: '2' },
  ...{ costInBillingCurrency: '0.5', billingCurrency: 'EUR', chargeType: 'Usage' },
  ...{ previousInvoiceId: '' },
}
const azureStorage = {
  ...azureLine,
  ...{ meterName: 'Standard Data Input Throughput', meterCategory: 'Storage' },
  ...{ consumedService: 'Microsoft.Storage', serviceFamily: 'Storage' },
  ...{ unitOfMeasure: '1 GB', costInBillingCurrency: '3.02' },
}
const awsLine = {
  ...{ line_item_line_item_type: 'Usage', line_item_product_code: 'AmazonBedrock' },
  ...{ line_item_usage_start_date: '2026-11-09T10:00:00Z' },
  ...{ line_item_usage_end_date: '2026-11-09T11:00:00Z' },
  ...{ line_item_usage_type: 'USE1-NovaPro-input-tokens', line_item_usage_amount: '2' },
  ...{ pricing_unit: '1K tokens', line_item_currency_code: 'EUR', line_item_unblended_cost: '0.5' },
}
const awsStorage = {
  ...awsLine,
  ...{ line_item_product_code: 'AmazonS3', line_item_usage_type: 'TimedStorage-ByteHrs' },
  ...{ line_item_unblended_cost: '3.02' },
}
const focusLine = {
  ...{ BilledCost: '0.5', BillingCurrency: 'EUR', ChargeCategory: 'Usage' },
  ...{ ChargePeriodStart: '2026-11-09T10:00:00Z', ChargePeriodEnd: '2026-11-09T11:00:00Z' },
  ...{ ResourceId: 'm', ServiceCategory: 'AI and Machine Learning', ServiceName: 'Text API' },
}
const focusStorage = {
  ...focusLine,
  ...{ BilledCost: '3.02', ResourceId: 'bucket-1', ServiceCategory: 'Storage' },
  ServiceName: 'Blob Storage',
}
const gitHubLine = {
  ...{ date: '2026-11-09', product: 'copilot', sku: 'copilot_premium_request', model: 'Large' },
  ...{ quantity: '1', applied_cost_per_quantity: '0.5', net_amount: '0.5' },
}
const gitHubStorage = {
  ...gitHubLine,
  ...{ product: 'actions', sku: 'actions_linux', model: '', net_amount: '3.02' },
}

test.each([
  ['azure', azureLine, azureStorage, 'Storage', 'EUR'],
  ['aws', awsLine, awsStorage, 'AmazonS3', 'EUR'],
  ['focus', focusLine, focusStorage, 'Blob Storage', 'EUR'],
  ['github', gitHubLine, gitHubStorage, 'actions', 'USD'],
] as const)(
  'a bill of %s has no line of another service in the cost of models, and says what is left out',
  (name, line, storage, service, unit) => {
    const { rows, notes } = read(name, [line, storage, storage])
    expect(rows.map(({ cost }) => cost)).toEqual(['0.5'])
    expect(notes).toContain(
      `2 of 3 lines left out, 6.04 ${unit}: they are of other services (${service}).`,
    )
  },
)

test('a line of use that names neither model nor service stays, with a note', () => {
  const line = { ...azureLine, meterCategory: '', consumedService: '', serviceFamily: '' }
  const disk = { ...line, meterName: 'Hot LRS Data Stored', costInBillingCurrency: '3.02' }
  const { rows, notes } = read('unknown', [line, disk])
  expect(rows.map(({ model, cost }) => [model, cost])).toEqual([
    ['gpt-4o-0806', '0.5'],
    [null, '3.02'],
  ])
  expect(notes).toEqual(['1 of 2 lines names no model, 3.02 EUR: it is in the cost.'])
})

test('a bill all of whose lines name a model has no note', () => {
  expect(read('plain', [azureLine, azureLine]).notes).toEqual([])
})

test.each([
  ['gpt 4o 1120 Inp glbl Tokens', 'gpt 4o 1120', { input: 2000 }],
  ['gpt 4o 1120 cached Inp glbl Tokens', 'gpt 4o 1120', { input: 2000, cached: 2000 }],
  ['gpt-4o-mini-0718-Outp-regnl Tokens', 'gpt-4o-mini-0718', { output: 2000 }],
  ['gpt-4.1-cchd-Inp-glbl Tokens', 'gpt-4.1', { input: 2000, cached: 2000 }],
  ['GPT 5 inp cached Glbl 1K Tokens', 'GPT 5', { input: 2000, cached: 2000 }],
  ['gpt-35-turbo-16k-Prompt Tokens', 'gpt-35-turbo-16k', { input: 2000 }],
  ['GPT-4-8K-Completion Tokens', 'GPT-4-8K', { output: 2000 }],
  ['Claude Sonnet 4.5 cache write Input Tokens', 'Claude Sonnet 4.5', { cacheWrite: 2000 }],
  ['text embedding 3 small glbl Tokens', 'text embedding 3 small', { input: 2000 }],
  ['Az-Text-Embedding-Ada-002 Tokens', 'Az-Text-Embedding-Ada-002', { input: 2000 }],
])('the meter %s names the model %s and a kind of token', (meterName, model, tokens) => {
  expect(read('meter', [{ ...azureLine, meterName }]).rows[0]).toMatchObject({ model, ...tokens })
})

test('a refund of Azure is one by its type, or by the invoice that it gives back', () => {
  const back = { costInBillingCurrency: '-0.25', quantity: '0' }
  const { rows } = read('refunds', [
    azureLine,
    { ...azureLine, ...back, chargeType: 'Refund' },
    { ...azureLine, ...back, previousInvoiceId: 'INV-6' },
    { ...azureLine, ...back, chargeType: 'RoundingAdjustment' },
  ])
  expect(rows.map(({ type }) => type)).toEqual(['usage', 'refund', 'refund', 'adjustment'])
})

const contract = parseContract(
  {
    ...{ extends: 'none', name: 'azure', currency: 'EUR' },
    models: [{ id: 'gpt-4o-0806', price: { input: 250, output: 1000 } }],
  },
  'azure.yaml',
)

test('a reconciled bill says what it charges beside models, and adds none of it', async () => {
  read('reconciled', [azureLine, azureStorage])
  const log = join(folder, 'log.jsonl')
  writeFileSync(log, '{"id":"a","time":"2026-11-09T10:00:00Z","model":"gpt-4o-0806","cost":0.5}\n')
  const files = { bill: join(folder, 'reconciled.csv'), log, contract }
  const { cells, billNotes } = await reconcileFiles(files)
  expect(cells.map(({ model, bill }) => [model, decimalText(bill)])).toEqual([
    ['gpt-4o-0806', '0.5'],
  ])
  expect(billNotes).toEqual([
    'The bill: 1 of 2 lines left out, 3.02 EUR: it is of another service (Storage).',
  ])
})
