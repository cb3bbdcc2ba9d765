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
