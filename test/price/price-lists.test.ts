import { expect, test } from 'vitest'
import { decimalText } from '../../src/money/rational.ts'
import { calculate } from '../../src/price/calculate.ts'
import { priceLists } from '../../src/price/first/price-lists.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf } from './made-requests.ts'

/** What a request of a LiteLLM model costs in a tier, by the contract that its list gives. */
function costIn(tier: string | null, info: Readonly<Record<string, number>>): string {
  const body = { data: [{ model_name: 'm', model_info: info }] }
  const { id: _, ...fields } = priceLists.litellm.read(body).models[0]!
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 }
  const { cost } = calculate(modelOf(fields), readUsage(usage, 'litellm'), {
    ...{ atMs: 0, serviceTier: tier, choices: {}, outcome: 'success', counts: {} },
  })
  return cost === null ? 'unknown' : decimalText(cost)
}

test('LiteLLM bills a tier without a price of its own at the usual one, whether or not another tier has one', () => {
  const usual = { input_cost_per_token: 0.000002, output_cost_per_token: 0.00001 }
  const flex = { ...usual, input_cost_per_token_flex: 0.000001 }
  expect([null, 'flex', 'priority'].map((tier) => costIn(tier, usual))).toEqual(['2', '2', '2'])
  expect([null, 'flex', 'priority'].map((tier) => costIn(tier, flex))).toEqual(['2', '1', '2'])
})

test('a row of new-api without a price that a contract takes is left out, and said', () => {
  const data = [
    { model_name: 'call', quota_type: 1, model_price: 0.01 },
    { model_name: 'below', quota_type: 1, model_price: -1 },
    { model_name: 'none', quota_type: 1 },
    { model_name: 'ratio', quota_type: 0, model_ratio: 2 },
    { model_name: 'ratio', quota_type: 0, model_ratio: 3 },
    { model_name: 'no-ratio', quota_type: 0 },
    { model_name: 'below-ratio', quota_type: 0, model_ratio: -2 },
  ]
  const { models, notes } = priceLists['new-api'].read({ data })
  expect(models).toEqual([
    { id: 'call', price: { request: 5000 } },
    { id: 'ratio', usage: 'new-api', ratios: { model: 2 } },
  ])
  expect(notes).toEqual([
    'below: request: -1 is no price',
    'below: no price in the list',
    'none: no price in the list',
    'no-ratio: no price in the list',
    'below-ratio: model: -2 is no price',
    'below-ratio: no price in the list',
    'ratio: stands twice; the price is that of the first',
  ])
})

test('a model that OpenRouter lists twice is taken once', () => {
  const row = (prompt: string) => ({ id: 'm', pricing: { prompt } })
  expect(priceLists.openrouter.read({ data: [row('0.000002'), row('0.000003')] })).toMatchObject({
    models: [{ id: 'm', price: { input: 2 } }],
    notes: ['m: stands twice; the price is that of the first'],
  })
})

test('a price of LiteLLM that no field of a contract has is said to be left out', () => {
  const info = {
    input_cost_per_token: 1e-6,
    input_cost_per_token_above_200k_tokens: 2e-6,
    input_cost_per_token_above_200k_tokens_priority: 4e-6,
    output_cost_per_image: 0.04,
    output_cost_per_second: 0,
  }
  const { notes } = priceLists.litellm.read({ data: [{ model_name: 'm', model_info: info }] })
  expect(notes).toEqual([
    'm: no field of a contract for input_cost_per_token_above_200k_tokens_priority and output_cost_per_image; these are left out',
  ])
})
