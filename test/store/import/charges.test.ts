import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readKnown } from '../../../src/store/import/known-logs.ts'
import { knownFormat } from '../../../src/store/import/recognised-log.ts'

/** Lines of bills, each with the names of its cloud: models of meters, corrections, plans of other services. No money is lost. */

const folder = mkdtempSync(join(tmpdir(), 'assay-charges-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Row = Readonly<Record<string, unknown>>

function read(name: string, text: string) {
  const path = join(folder, name)
  writeFileSync(path, text)
  const known = readKnown(knownFormat(path)!, [{ file: path, path }], { partial: false })
  const rows = [...known.lines] as Row[]
  return { rows, notes: known.notes }
}
const csv = (lines: readonly Readonly<Record<string, string>>[]) => {
  const columns = [...new Set(lines.flatMap((line) => Object.keys(line)))]
  const cell = (value: string) => `"${value.replaceAll('"', '""')}"`
  return [columns, ...lines.map((line) => columns.map((column) => line[column] ?? ''))]
    .map((row) => `${row.map(cell).join(',')}\n`)
    .join('')
}

const aws = {
  ...{ line_item_line_item_type: 'Usage', line_item_product_code: 'AmazonBedrock' },
  ...{ line_item_usage_start_date: '2026-11-09T10:00:00Z' },
  ...{ line_item_usage_end_date: '2026-11-09T11:00:00Z' },
  ...{ line_item_usage_type: 'USE1-NovaPro-input-tokens', line_item_usage_amount: '2' },
  ...{ pricing_unit: '1K tokens', line_item_currency_code: 'USD', line_item_unblended_cost: '0.5' },
}
const market = { line_item_product_code: '4kgaq4zb4z5pm5xsqv1bh9hk3' }
const product = { product: '{"product_name":"Claude Haiku 4.5 (Amazon Bedrock Edition)"}' }

test.each([
  ['USE1-MP:USE1_InputTokenCount-Units', { input: 2000 }],
  ['USE1-MP:USE1_OutputTokenCount_Global-Units', { output: 2000 }],
  ['EUC1-MP:EUC1_CacheReadInputTokenCount-Units', { cached: 2000 }],
  ['USE1-MP:USE1_CacheWriteInputTokenCount_Global-Units', { cacheWrite: 2000 }],
  ['USE1-MP:USE1_input_tokens_standard-Units', { input: 2000 }],
  ['USE1-MP:USE1_output_tokens_global_standard-Units', { output: 2000 }],
])('the meter %s of the marketplace has the model of its product', (meter, tokens) => {
  for (const named of [
    product,
    { product_product_name: 'Claude Haiku 4.5 (Amazon Bedrock Edition)' },
    { product_servicename: 'Claude Haiku 4.5 (Amazon Bedrock Edition)' },
  ]) {
    const { rows, notes } = read(
      'aws.csv',
      csv([{ ...aws, ...market, ...named, line_item_usage_type: meter }]),
    )
    expect(rows).toMatchObject([{ model: 'Claude Haiku 4.5', cost: '0.5', ...tokens }])
    expect(notes).toEqual([])
  }
})

test('plans, support and other services of AWS are left out with a note, whatever their kind of line', () => {
  const lines = [
    aws,
    {
      ...aws,
      line_item_product_code: 'ComputeSavingsPlans',
      line_item_line_item_type: 'SavingsPlanRecurringFee',
      line_item_usage_type: 'ComputeSP:1yrNoUpfront',
    },
    {
      ...aws,
      line_item_product_code: 'AWSSupportBusiness',
      line_item_line_item_type: 'Fee',
      line_item_usage_type: 'Dollar',
    },
    {
      ...aws,
      line_item_product_code: 'OCBPremiumSupport',
      line_item_line_item_type: 'Fee',
      line_item_usage_type: 'Dollar',
    },
    {
      ...aws,
      line_item_product_code: 'AmazonS3',
      line_item_line_item_type: 'Tax',
      line_item_usage_type: '',
    },
    { ...aws, line_item_line_item_type: 'Tax', line_item_usage_type: '' },
    { ...aws, line_item_line_item_type: 'Refund', line_item_unblended_cost: '-0.5' },
  ]
  const { rows, notes } = read('plans.csv', csv(lines))
  expect(rows.map(({ type, cost }) => [type, cost])).toEqual([
    ['usage', '0.5'],
    ['tax', '0.5'],
    ['refund', '-0.5'],
  ])
  expect(notes).toEqual([
    '4 of 7 lines left out, 2 USD: they are of other services (AWSSupportBusiness, AmazonS3, ComputeSavingsPlans, OCBPremiumSupport).',
  ])
})

test('what a seller of the marketplace charges without a model stays, with a note', () => {
  const other = { ...aws, ...market, line_item_usage_type: 'USE1-SoftwareUsage' }
  const { rows, notes } = read('seller.csv', csv([aws, other]))
  expect(rows.map(({ model, cost }) => [model, cost])).toEqual([
    ['NovaPro', '0.5'],
    [null, '0.5'],
  ])
  expect(notes).toEqual(['1 of 2 lines names no model, 0.5 USD: it is in the cost.'])
})

test.each([
  ['5.1 codex mini cd inp Gl 1M Tokens', '5.1 codex mini', { input: 2000, cached: 2000 }],
  ['5.1 codex mini opt Gl 1M Tokens', '5.1 codex mini', { output: 2000 }],
  ['gpt 4o mini0718 BatchOutp DataZone Tokens', 'gpt 4o mini0718', { output: 2000 }],
  ['gpt 4o mini0718 BatchInp DataZone Tokens', 'gpt 4o mini0718', { input: 2000 }],
  ['o4-mini 0416 Batch Inp Data Zone Tokens', 'o4-mini 0416', { input: 2000 }],
  ['gpt 4o mini dev ft cchd inpt glbl Tokens', 'gpt 4o mini dev ft', { cached: 2000 }],
])(
  'the meter %s of Azure is of the model %s, whatever its batch is called',
  (meterName, model, tokens) => {
    const line = {
      ...{ date: '11/09/2026', meterName, unitOfMeasure: '1K', quantity: '2', chargeType: 'Usage' },
      ...{ costInBillingCurrency: '0.5', billingCurrency: 'EUR', meterCategory: 'Foundry Models' },
    }
    expect(read('azure.csv', csv([line])).rows).toMatchObject([{ model, ...tokens }])
  },
)

const focus = {
  ...{ BilledCost: '0.5', BillingCurrency: 'EUR', ChargeCategory: 'Usage', ChargeClass: '' },
  ...{ ChargePeriodStart: '2026-11-09T10:00:00Z', ChargePeriodEnd: '2026-11-09T11:00:00Z' },
  ...{ ServiceCategory: 'AI and Machine Learning', ServiceName: 'Models' },
  ...{ ConsumedQuantity: '2', ConsumedUnit: '1K Tokens' },
}
const azurePath =
  '/subscriptions/s/resourcegroups/rg/providers/microsoft.cognitiveservices/accounts/a'

test.each([
  [
    'Azure',
    { ResourceId: azurePath, x_SkuMeterName: 'gpt 4o 1120 cached Inp glbl Tokens' },
    { model: 'gpt 4o 1120', cached: 2000 },
  ],
  [
    'Azure 1.2',
    { ResourceId: azurePath, SkuMeter: 'gpt-4o-0806-Outp-glbl Tokens' },
    { model: 'gpt-4o-0806', output: 2000 },
  ],
  [
    'AWS',
    { ResourceId: '', SkuMeter: '', x_UsageType: 'USE1-NovaPro-output-tokens' },
    { model: 'NovaPro', output: 2000 },
  ],
  [
    'AWS with its resource',
    {
      ResourceId: 'arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-x',
      SkuMeter: 'Input',
    },
    { model: 'anthropic.claude-x', input: 2000 },
  ],
  [
    'Google Cloud',
    {
      ResourceId: '//aiplatform.googleapis.com/projects/1',
      ChargeDescription: 'Gemini 2.5 Pro Text Output - Predictions',
    },
    { model: 'Gemini 2.5 Pro', output: 2000 },
  ],
  [
    'a gateway',
    { ResourceId: 'text-large', SkuMeter: 'Input Tokens', ChargeDescription: 'text-large input' },
    { model: 'text-large', input: 2000 },
  ],
  ['a path without a meter', { ResourceId: azurePath, SkuMeter: 'Input Tokens' }, { model: null }],
])('a FOCUS file of %s has the model of its meter, and no path', (_, names, row) => {
  expect(read('focus.csv', csv([{ ...focus, ...names }])).rows).toMatchObject([row])
})

test.each([
  ['gpt-4o-2024-08-06, input', 'gpt-4o-2024-08-06'],
  ['gpt-4o-2024-08-06, cached input', 'gpt-4o-2024-08-06'],
  ['text-large-2, all tokens', 'text-large-2'],
  ['GPT-4o mini, Output', 'GPT-4o mini'],
  ['gpt-4o-mini', 'gpt-4o-mini'],
  ['web search tool calls', null],
  ['Credit', null],
  ['assistants api | file search', null],
  ['code interpreter sessions', null],
  ['vector storage', null],
])("the item %s of OpenAI's costs names the model %s", (line_item, model) => {
  const { rows } = read(
    'openai.json',
    JSON.stringify({
      ...{ object: 'page', has_more: false, next_page: null },
      data: [
        {
          ...{ object: 'bucket', start_time: 1793664000, end_time: 1793750400 },
          results: [
            {
              ...{ object: 'organization.costs.result', line_item, project_id: 'p' },
              amount: { value: 0.5, currency: 'usd' },
            },
          ],
        },
      ],
    }),
  )
  expect(rows).toMatchObject([{ model, line_item }])
})

const gcp = (sku: string, fields: object = {}) => ({
  ...{ billing_account_id: 'a', service: { id: 's', description: 'Vertex AI' } },
  ...{ sku: { id: sku, description: sku }, project: { id: 'p' }, credits: [], cost: 0.5 },
  ...{ usage_start_time: '2026-11-09 10:00:00 UTC', usage_end_time: '2026-11-09 11:00:00 UTC' },
  ...{ currency: 'USD', usage: { amount: 2000, unit: 'count' }, cost_type: 'regular' },
  ...fields,
})

test('tokens written to a cache are told from those read, and a correction of Google Cloud is one', () => {
  const { rows } = read(
    'gcp.jsonl',
    [
      gcp('Claude Haiku 4.5 Input Cache Write Tokens'),
      gcp('Claude Haiku 4.5 Cache Read Tokens'),
      gcp('Claude Haiku 4.5 Input Tokens', {
        cost: -0.25,
        adjustment_info: { mode: 'PARTIAL_CORRECTION', type: 'USAGE_CORRECTION' },
      }),
      gcp('Claude Haiku 4.5 Output Tokens', { adjustment_info: { mode: null, type: null } }),
    ]
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(''),
  )
  expect(rows).toMatchObject([
    { model: 'Claude Haiku 4.5', type: 'usage', cacheWrite: 2000 },
    { model: 'Claude Haiku 4.5', type: 'usage', cached: 2000 },
    { model: 'Claude Haiku 4.5', type: 'correction' },
    { model: 'Claude Haiku 4.5', type: 'usage', output: 2000 },
  ])
})
