import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditLog } from '../../../src/audit/log-alone/audit-log.ts'
import type { Verdict } from '../../../src/audit/verdict.ts'
import { parseContract } from '../../../src/contract/load.ts'

/**
 * A log by itself, whose rows say more than counts of tokens: each field that chooses a price has its effect, or leaves the cost open
 * by its name. No honest log fails.
 */

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-kept-usage-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const price = { input: 4, output: 20 }
const withCache = { ...price, cache_read: 0.4, cache_write: 5, cache_write_1h: 8 }
const contractOf = (model: object = {}, more: object = {}) =>
  parseContract(
    {
      ...{ name: 'gateway', extends: 'none', charged: { success: 'full', refused: 'none' } },
      models: [
        { id: 'large', price, ...model },
        { id: 'small', price: { input: 1, output: 5 } },
      ],
      ...more,
    },
    'gateway.yaml',
  )

let made = 0
async function judged(
  rows: readonly object[],
  contract = contractOf(),
): Promise<Readonly<Record<string, Verdict>>> {
  const file = join(folder, `log-${made++}.jsonl`)
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const { findings } = await auditLog({ file, contract, nowMs: Date.UTC(2026, 11, 1) })
  return Object.fromEntries(findings.map(({ rule, verdict }) => [rule, verdict]))
}

/** The same row, of LiteLLM with its usage in the metadata, or of a gateway's own log. */
const forms = {
  litellm: (usage: object, cost: number | string, nth: number, row: object) => ({
    ...{ request_id: `r${nth}`, call_type: 'acompletion', api_key: 'k', model: 'large' },
    ...{ spend: cost, prompt_tokens: 1000, completion_tokens: 100 },
    ...{ startTime: `2026-11-09T10:00:0${nth}.000Z`, endTime: `2026-11-09T10:00:0${nth}.900Z` },
    metadata: { usage_object: { prompt_tokens: 1000, completion_tokens: 100, ...usage } },
    ...row,
  }),
  own: (usage: object, cost: number | string, nth: number, row: object) => ({
    ...{ id: `r${nth}`, model: 'large', cost, at: `2026-11-09T10:00:0${nth}Z` },
    usage: { prompt_tokens: 1000, completion_tokens: 100, ...usage },
    ...row,
  }),
} as const
type Form = keyof typeof forms
const both = Object.keys(forms) as Form[]

/** 1,000 tokens of input at 4, and 100 of output at 20, so many times. */
const cost = (times = 1) => (6000 * times) / 1e6
const three = (form: Form, usage: object, amount: number, row: object = {}) =>
  [1, 2, 3].map((nth) => forms[form](usage, amount, nth, row))

test.each(both)(
  'a field of the usage in a row of %s chooses the price that is judged',
  async (form) => {
    const by = contractOf({
      by: { speed: { fast: { times: 2 } }, inference_geo: { us: { times: 1.1 } } },
    })
    const fast = { speed: 'fast', inference_geo: 'us' }
    expect((await judged(three(form, fast, cost(2.2)), by))['PRICE-04']!.verdict).toBe('pass')
    expect(
      (await judged(three(form, { speed: 'standard' }, cost()), by))['PRICE-04']!.verdict,
    ).toBe('pass')
    expect((await judged(three(form, fast, cost(1.1)), by))['PRICE-04']).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining('usage.speed ignored'),
    })
    // Nothing promises a price of it.
    for (const amount of [cost(), cost(2), cost(9)])
      expect((await judged(three(form, { speed: 'fast' }, amount)))['PRICE-04']).toMatchObject({
        verdict: 'inconclusive',
        why: expect.stringContaining('usage.speed fast'),
      })
  },
)

test('a name in a column of its own chooses the price, or leaves it open', async () => {
  const by = contractOf({ by: { speed: { fast: { times: 2 } } } })
  const rows = (amount: number, row: object) =>
    [1, 2, 3].map((nth) => ({
      ...{ id: `r${nth}`, model: 'large', cost: amount, at: `2026-11-09T10:00:0${nth}Z` },
      ...{ prompt_tokens: 1000, completion_tokens: 100, ...row },
    }))
  expect((await judged(rows(cost(2), { speed: 'fast' }), by))['PRICE-04']!.verdict).toBe('pass')
  expect((await judged(rows(cost(), { speed: 'fast' }), by))['PRICE-04']!.verdict).toBe('fail')
  expect((await judged(rows(cost(2), { speed: 'fast' })))['PRICE-04']!.verdict).toBe('inconclusive')
  // A row that does not say it may be of any speed.
  expect((await judged(rows(cost(2), {}), by))['PRICE-04']!.verdict).toBe('inconclusive')
  // A key of the customer's own costs what the contract does not say.
  expect((await judged(rows(cost(0.05), { is_byok: true })))['PRICE-04']).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('is_byok'),
  })
})

test.each(both)('passes and searches in a row of %s are part of its cost', async (form) => {
  const iterations = [
    { type: 'compaction', prompt_tokens: 5000, completion_tokens: 200 },
    { type: 'message', prompt_tokens: 1000, completion_tokens: 100 },
  ]
  const passes = 0.006 + 0.024
  expect((await judged(three(form, { iterations }, passes)))['PRICE-04']!.verdict).toBe('pass')
  expect((await judged(three(form, { iterations }, cost())))['PRICE-04']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('without those of its passes'),
  })
  const searched = { server_tool_use: { web_search_requests: 2 } }
  const priced = contractOf({ price: { ...price, search: 0.01 } })
  expect((await judged(three(form, searched, 0.026), priced))['PRICE-04']!.verdict).toBe('pass')
  expect((await judged(three(form, searched, 0.006), priced))['PRICE-04']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('search free'),
  })
  expect((await judged(three(form, searched, 0.026)))['PRICE-04']).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('a price of search'),
  })
})

test.each(both)(
  'a tier that a row of %s names does not say that it counts all calls',
  async (form) => {
    const of = contractOf({ price: { ...price, search: 0.01 }, service: { flex: { times: 0.5 } } })
    // Whatever keeps no usage of its own may leave searches out.
    const {
      metadata: _,
      usage: __,
      ...row
    } = forms[form]({}, 0.018, 1, {}) as Record<string, unknown>
    const bare = { ...row, prompt_tokens: 1000, completion_tokens: 100, service_tier: 'flex' }
    expect((await judged([bare], of))['PRICE-04']).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('the count of search'),
    })
    const tier = three(form, { service_tier: 'flex' }, cost(0.5))
    expect((await judged(tier, of))['PRICE-04']!.verdict).toBe('pass')
    expect(
      (await judged(three(form, { service_tier: 'flex' }, cost()), of))['PRICE-04'],
    ).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining('the service tier ignored'),
    })
    // Nothing promises a price of this tier.
    const priority = three(form, { service_tier: 'priority' }, cost(2))
    expect((await judged(priority, of))['PRICE-04']!.verdict).toBe('inconclusive')
  },
)

test('a usage in the dialect of Anthropic is read by its own names in a log', async () => {
  const usage = {
    ...{ input_tokens: 1000, output_tokens: 100, cache_read_input_tokens: 500 },
    ...{ cache_creation_input_tokens: 150 },
    cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 50 },
  }
  const rows = (amount: number) =>
    [1, 2, 3].map((nth) => ({
      ...{ id: `r${nth}`, model: 'large', cost: amount, at: `2026-11-09T10:00:0${nth}Z`, usage },
    }))
  // 4000 + 200 + 500 + 400 + 2000 millionths.
  const of = contractOf({ price: withCache })
  expect((await judged(rows(0.0071), of))['PRICE-04']!.verdict).toBe('pass')
  expect((await judged(rows(0.00695), of))['PRICE-04']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('cache_write_1h at the price of cache_write'),
  })
})

test("searches that OpenRouter's and new-api's rows count have their price, or leave the cost open", async () => {
  const generation = (total_cost: number) => ({
    ...{ id: 'gen-1', generation_id: 'gen-1', total_cost, created_at: '2026-11-09T10:00:00Z' },
    ...{ model: 'large', native_tokens_prompt: 1000, native_tokens_completion: 100 },
    num_search_results: 5,
  })
  const priced = contractOf({ price: { ...price, search: 0.004 } })
  expect((await judged([generation(0.026)], priced))['PRICE-04']!.verdict).toBe('pass')
  expect((await judged([generation(0.006)], priced))['PRICE-04']!.verdict).toBe('fail')
  expect((await judged([generation(0.026)]))['PRICE-04']!.verdict).toBe('inconclusive')
})

test('rows of another currency are converted by the contract, or are no cost of its own', async () => {
  const rows = (amount: number, currency: string) => three('own', {}, amount, { currency })
  const euro = contractOf({}, { is: { EUR: '1.25' } })
  expect((await judged(rows(0.0048, 'EUR'), euro))['PRICE-04']!.verdict).toBe('pass')
  expect((await judged(rows(0.006, 'EUR'), euro))['PRICE-04']!.verdict).toBe('fail')
  expect((await judged(rows(0.006, 'usd')))['PRICE-04']!.verdict).toBe('pass')
  expect((await judged(rows(0.0048, 'EUR')))['PRICE-04']).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('0.0048 EUR'),
  })
})

test('a rounding in another currency is told by a log alone', async () => {
  // One yuan is 0.14 USD: 0.006 USD is 0.0428… yuan, rounded up to 0.05.
  const found = await judged(three('own', {}, 0.007), contractOf({}, { is: { CNY: '0.14' } }))
  expect(found['PRICE-04']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('rounded to 2 decimals of CNY, up'),
  })
})
