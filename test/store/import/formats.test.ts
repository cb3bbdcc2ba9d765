import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { storeEngine } from '../../../src/report/usage/engine/engine.ts'
import { readPeak } from '../../../src/report/usage/peak.ts'
import { openaiUsage } from '../../../src/store/import/formats/openai.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import type { FileImport } from '../../../src/store/import/import-options.ts'
import { pageGroups } from '../../../src/store/import/log-pages.ts'
import { usageOptions } from '../../report/usage-events.ts'
import { openStore } from '../opened.ts'
import { sumsOf } from './samples.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-formats-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0

/** Imports a text without a mapping, and sums it. */
async function totalsOf(
  name: string,
  text: string | object,
  options: Omit<FileImport, 'file'> = {},
  timezone = 'UTC',
) {
  const file = join(folder, `${files++}-${name}`)
  writeFileSync(file, typeof text === 'string' ? text : JSON.stringify(text))
  const store = await openStore(':memory:')
  try {
    const imported = await importFile(store, { file, ...options })
    if (imported.kind !== 'log') throw new Error('expected a log')
    const page = await sumsOf(store, usageOptions({ contract: null, timezone }))
    const { requests, tokens, money, unknownCost, ledger } = page.totals
    return {
      source: imported.source,
      notes: imported.notes,
      rejected: imported.rejected,
      requests: requests.value,
      tokens: [tokens.input, tokens.cached, tokens.cacheWrite, tokens.output, tokens.reasoning].map(
        ({ value }) => value,
      ),
      unknownTokens: tokens.input.unknown,
      unknownCost,
      cost: money.map(({ unit, used }) => `${used} ${unit}`).join(', '),
      ledger,
      days: page.days
        .filter((day) => day.requests !== 0 || Number(day.money[page.scope.unit] ?? 0) !== 0)
        .map(
          (day) => `${day.label} ${day.timezone}: ${day.requests} ${day.money[page.scope.unit]}`,
        ),
      peak: await readPeak(store, storeEngine, null),
    }
  } finally {
    store.close()
  }
}

const lines = (...rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const table = (...rows: readonly Readonly<Record<string, string | number>>[]) =>
  [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))]
    .map((cells) => `${cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join()}\n`)
    .join('')

const day = '2026-11-03'
const dayS = Date.UTC(2026, 10, 3) / 1000

const spend = (id: string, change: object = {}) => ({
  request_id: id,
  startTime: `${day}T10:00:00Z`,
  endTime: `${day}T10:00:01Z`,
  spend: 3.06e-5,
  prompt_tokens: 100,
  completion_tokens: 20,
  model: 'upstream/m',
  model_group: 'm',
  api_key: 'a'.repeat(64),
  metadata: {
    usage_object: {
      prompt_tokens_details: { cached_tokens: 60 },
      cache_creation_input_tokens: 10,
      completion_tokens_details: { reasoning_tokens: 5 },
    },
  },
  status: 'success',
  ...change,
})
const failure = {
  ...{ status: 'failure', spend: 0, prompt_tokens: 0, completion_tokens: 0 },
  metadata: { usage_object: null },
}
const metrics = (change: object = {}) => ({
  ...{ spend: 0.5, prompt_tokens: 100, completion_tokens: 20, cache_read_input_tokens: 60 },
  ...{ cache_creation_input_tokens: 10, api_requests: 3, successful_requests: 2 },
  ...{ failed_requests: 1, ...change },
})
const openaiResult = {
  object: 'organization.usage.completions.result',
  ...{ input_tokens: 100, output_tokens: 20, input_cached_tokens: 60, num_model_requests: 4 },
  ...{ project_id: 'p', api_key_id: 'k', model: 'm' },
}
const bucketOf = (...results: readonly object[]) => ({
  ...{ object: 'bucket', start_time: dayS, end_time: dayS + 86_400, results },
})
const pageOf = (...data: readonly object[]) => ({
  ...{ object: 'page', data, has_more: false, next_page: null },
})
const hour = { starting_at: `${day}T10:00:00Z`, ending_at: `${day}T11:00:00Z` }
const newApiRow = (change: object) => ({
  ...{ id: 17, created_at: dayS + 60, type: 2, quota: 5000, username: 'u', token_name: 'k' },
  ...{ model_name: 'm', prompt_tokens: 100, completion_tokens: 20, use_time: 2, other: '' },
  ...change,
})
const observation = (change: object) => ({
  ...{ id: 'o1', type: 'GENERATION', start_time: `${day} 10:00:00.000`, level: 'DEFAULT' },
  ...{ end_time: `${day} 10:00:01.000`, provided_model_name: 'm', total_cost: 0.25 },
  usage_details: {
    ...{ input: 30, input_cached_tokens: 60, input_cache_creation: 10 },
    ...{ output: 15, output_reasoning_tokens: 5, total: 120 },
  },
  ...change,
})
const metric = (name: string, total: number) => ({
  name: { value: name },
  timeseries: [
    {
      metadatavalues: [{ name: { value: 'modeldeploymentname' }, value: 'm' }],
      data: [{ timeStamp: `${day}T10:00:00Z`, total }, { timeStamp: `${day}T11:00:00Z` }],
    },
  ],
})
const attribute = (key: string, value: string | number) => ({
  key,
  value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
})
const span = (operation: string, spanId: string) => ({
  ...{ traceId: 't', spanId, status: {}, startTimeUnixNano: `${dayS + 60}000000000` },
  endTimeUnixNano: `${dayS + 61}000000000`,
  attributes: [
    attribute('gen_ai.operation.name', operation),
    attribute('gen_ai.request.model', 'm'),
    attribute('gen_ai.usage.input_tokens', 100),
    attribute('gen_ai.usage.cache_read.input_tokens', 60),
    attribute('gen_ai.usage.cache_creation.input_tokens', 10),
    attribute('gen_ai.usage.output_tokens', 20),
    attribute('gen_ai.usage.reasoning.output_tokens', 5),
  ],
})

/** Name, text, and what it is: source, requests, [input, cached, written, output, reasoning], cost. */
const known: readonly (readonly [
  string,
  string | object,
  string,
  number | null,
  readonly (number | null)[],
  string,
])[] = [
  [
    'LiteLLM.json',
    [spend('a'), spend('b', failure)],
    'litellm',
    2,
    [100, 60, 10, 20, 5],
    '0.0000306 USD',
  ],
  [
    'LiteLLM.csv',
    table({ ...spend('a'), metadata: JSON.stringify(spend('a').metadata), spend: '3.06e-05' }),
    'litellm',
    1,
    [100, 60, 10, 20, 5],
    '0.0000306 USD',
  ],
  [
    'LiteLLM-activity.json',
    {
      results: [
        {
          date: day,
          metrics: metrics(),
          breakdown: {
            models: { m: { metrics: metrics(), api_key_breakdown: { k: { metrics: metrics() } } } },
          },
        },
      ],
      metadata: { total_spend: 0.5, page: 1, total_pages: 1, has_more: false },
    },
    'litellm',
    3,
    [100, 60, 10, 20, null],
    '0.5 USD',
  ],
  ['OpenAI.json', pageOf(bucketOf(openaiResult)), 'openai', 4, [100, 60, null, 20, null], ''],
  [
    'OpenAI.csv',
    table({
      start_time: dayS,
      end_time: dayS + 86_400,
      num_model_requests: '4.0',
      input_tokens: '100.0',
      output_tokens: '20.0',
      input_cached_tokens: '60.0',
      model: 'm',
    }),
    'openai',
    4,
    [100, 60, null, 20, null],
    '',
  ],
  [
    'OpenAI-costs.json',
    pageOf(
      bucketOf({
        object: 'organization.costs.result',
        amount: { value: 0.06185145, currency: 'usd' },
        line_item: 'm',
      }),
    ),
    'openai',
    null,
    [null, null, null, null, null],
    '0.06185145 USD',
  ],
  [
    'Anthropic.json',
    {
      data: [
        {
          ...hour,
          results: [
            {
              uncached_input_tokens: 30,
              cache_read_input_tokens: 60,
              cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 6 },
              output_tokens: 20,
              model: 'm',
            },
          ],
        },
      ],
      has_more: false,
    },
    'anthropic',
    null,
    [100, 60, 10, 20, null],
    '',
  ],
  [
    'Anthropic-costs.json',
    {
      data: [
        {
          ...hour,
          results: [
            {
              amount: '123.456',
              currency: 'USD',
              cost_type: 'tokens',
              description: 'm',
              model: 'm',
            },
          ],
        },
      ],
      has_more: false,
    },
    'anthropic',
    null,
    [null, null, null, null, null],
    '1.23456 USD',
  ],
  [
    'Anthropic-analytics.json',
    {
      data: [
        {
          ...hour,
          group: { model: 'm' },
          usage: {
            total_tokens: 120,
            uncached_input_tokens: 30,
            cache_read_input_tokens: 60,
            cache_creation_input_tokens: 10,
            output_tokens: 20,
          },
        },
      ],
      has_more: false,
    },
    'anthropic',
    null,
    [100, 60, 10, 20, null],
    '',
  ],
  [
    'OpenRouter.csv',
    table({
      generation_id: 'g',
      created_at: `${day} 10:00:00.5`,
      cost_total: '0.0193',
      cost_cache: '-0.004995',
      tokens_prompt: 100,
      tokens_completion: 20,
      tokens_reasoning: 5,
      model_permaslug: 'm',
      cancelled: 'false',
      api_key_name: 'k',
    }),
    'openrouter',
    1,
    [100, null, null, 20, 5],
    '0.0193 USD',
  ],
  [
    'OpenRouter-activity.json',
    {
      data: [
        {
          date: day,
          model_permaslug: 'm',
          usage: 0.0258,
          requests: 2,
          prompt_tokens: 100,
          completion_tokens: 20,
          reasoning_tokens: 5,
        },
      ],
    },
    'openrouter',
    2,
    [100, null, null, 20, 5],
    '0.0258 USD',
  ],
  [
    'OpenRouter-generation.json',
    {
      data: {
        id: 'g',
        created_at: `${day}T10:00:00Z`,
        total_cost: 0.0193,
        model: 'm',
        tokens_prompt: 99,
        native_tokens_prompt: 100,
        native_tokens_cached: 60,
        native_tokens_completion: 20,
        native_tokens_reasoning: 5,
      },
    },
    'openrouter',
    1,
    [100, 60, null, 20, 5],
    '0.0193 USD',
  ],
  [
    'one-api.json',
    {
      data: [
        {
          id: 1,
          created_at: dayS,
          type: 2,
          quota: 5000,
          elapsed_time: 2000,
          model_name: 'm',
          prompt_tokens: 100,
          completion_tokens: 20,
        },
      ],
    },
    'one-api',
    1,
    [100, null, null, 20, null],
    '0.01 USD',
  ],
  [
    'new-api.json',
    {
      data: {
        page: 1,
        total: 4,
        items: [
          newApiRow({ other: '{"cache_tokens":60}' }),
          // The same id again, as users see it; and tokens beside the cached ones.
          newApiRow({
            created_at: dayS + 90,
            prompt_tokens: 30,
            other: '{"claude":true,"cache_tokens":60,"cache_creation_tokens":10}',
          }),
          newApiRow({
            id: 18,
            created_at: dayS + 100,
            type: 6,
            quota: 4000,
            prompt_tokens: 0,
            completion_tokens: 0,
          }),
          newApiRow({
            id: 19,
            created_at: dayS + 100,
            type: 1,
            quota: 500_000,
            prompt_tokens: 0,
            completion_tokens: 0,
          }),
        ],
      },
    },
    'new-api',
    2,
    [200, 120, 10, 40, null],
    '0.012 USD',
  ],
  [
    'Langfuse.jsonl',
    lines(observation({}), observation({ id: 's', type: 'SPAN' })),
    'langfuse',
    1,
    [100, 60, 10, 20, 5],
    '0.25 USD',
  ],
  [
    'Helicone.jsonl',
    lines({
      request_id: 'h',
      request_created_at: `${day}T10:00:00Z`,
      response_status: 200,
      request_model: 'm',
      prompt_tokens: 30,
      prompt_cache_read_tokens: 60,
      prompt_cache_write_tokens: 10,
      completion_tokens: 20,
      reasoning_tokens: 5,
      cost: 959_100,
    }),
    'helicone',
    1,
    [100, 60, 10, 20, 5],
    '0.0009591 USD',
  ],
  [
    'Azure.json',
    {
      cost: 0,
      timespan: 't',
      interval: 'PT1H',
      namespace: 'Microsoft.CognitiveServices/accounts',
      value: [
        metric('AzureOpenAIRequests', 3),
        metric('ProcessedPromptTokens', 100),
        metric('GeneratedTokens', 20),
      ],
    },
    'azure',
    3,
    [100, null, null, 20, null],
    '',
  ],
  [
    'Azure-costs.csv',
    table(
      {
        date: '11/03/2026',
        meterName: 'gpt 4o Inp glbl Tokens',
        costInBillingCurrency: '1.25',
        billingCurrency: 'EUR',
        quantity: '0.1',
        unitOfMeasure: '1K',
        chargeType: 'Usage',
      },
      {
        date: '11/03/2026',
        meterName: 'gpt 4o Outp glbl Tokens',
        costInBillingCurrency: '2',
        billingCurrency: 'EUR',
        quantity: '0.02',
        unitOfMeasure: '1K',
        chargeType: 'Usage',
      },
    ),
    'azure',
    null,
    [100, null, null, 20, null],
    '3.25 EUR',
  ],
  [
    'Bedrock.jsonl',
    lines({
      schemaType: 'ModelInvocationLog',
      timestamp: `${day}T10:00:00Z`,
      requestId: 'b',
      modelId: 'm',
      identity: { arn: 'arn:x/key-1' },
      input: { inputTokenCount: 30, cacheReadInputTokenCount: 60, cacheWriteInputTokenCount: 10 },
      output: { outputTokenCount: 20 },
    }),
    'bedrock',
    1,
    [100, 60, 10, 20, null],
    '',
  ],
  [
    'Vercel.json',
    {
      results: [
        {
          day,
          model: 'm',
          total_cost: 0.0206,
          market_cost: 0.03,
          request_count: 2,
          input_tokens: 100,
          cached_input_tokens: 60,
          cache_creation_input_tokens: 10,
          output_tokens: 20,
          reasoning_tokens: 5,
        },
      ],
    },
    'vercel',
    2,
    [100, 60, 10, 20, 5],
    '0.0206 USD',
  ],
  [
    'Cloudflare.json',
    {
      result: [
        {
          id: 'c',
          created_at: `${day}T10:00:00Z`,
          model: 'm',
          status_code: 200,
          cached: false,
          tokens_in: 100,
          tokens_out: 20,
          cost: 0.0009447,
        },
      ],
      result_info: { total_count: 1 },
    },
    'cloudflare',
    1,
    [100, null, null, 20, null],
    '0.0009447 USD',
  ],
  [
    'Logpush.jsonl',
    lines(
      ...[1, 2].map(() => ({
        Timestamp: `${day}T10:00:00Z`,
        Model: 'm',
        RequestedModel: 'm',
        StatusCode: 200,
        RateLimited: false,
        Metrics: { cost: 0.5 },
      })),
    ),
    'cloudflare',
    2,
    [null, null, null, null, null],
    '1 USD',
  ],
  [
    'OTLP.json',
    {
      resourceSpans: [{ scopeSpans: [{ spans: [span('invoke_agent', 'a'), span('chat', 'b')] }] }],
    },
    'otlp',
    1,
    [100, 60, 10, 20, 5],
    '',
  ],
]

test.each(known)(
  '%s is recognised, with the tokens of its dialect and its cost',
  { tags: 'whole', timeout: 60_000 },
  async (...of) => {
    const [name, text, source, requests, tokens, cost] = of
    const got = await totalsOf(name, text)
    expect(got).toMatchObject({ source, requests, tokens, cost, rejected: 0 })
  },
)

test('a page without its others is refused, and pages of one list are one statement', {
  tags: 'whole',
}, async () => {
  const first = { ...pageOf(bucketOf(openaiResult)), has_more: true, next_page: 'x' }
  await expect(totalsOf('p1.json', first)).rejects.toThrow(
    /p1\.json is page 1: its next page is missing\. Import all files of one list together, its last page last, or add --partial\.$/,
  )
  const second = join(folder, 'p2.json')
  const later = { ...bucketOf(openaiResult), start_time: dayS + 86_400, end_time: dayS + 172_800 }
  writeFileSync(second, JSON.stringify(pageOf(later)))
  expect(await totalsOf('p1.json', first, { pages: [second] })).toMatchObject({ requests: 8 })
  expect(await totalsOf('p1.json', first, { partial: true })).toMatchObject({ requests: 4 })
  const some = { data: { page: 1, total: 812, items: [newApiRow({})] } }
  await expect(totalsOf('some.json', some)).rejects.toThrow(/has 1 of 812 rows/)
  const short = {
    results: [{ date: day, metrics: metrics(), breakdown: {} }],
    metadata: { total_spend: 0.75, total_pages: 1 },
  }
  await expect(totalsOf('short.json', short)).rejects.toThrow(/cost 0\.5, and it says 0\.75/)
})

test('sums by tag are refused, since a request may have several tags', {
  tags: 'whole',
}, async () => {
  const byTag = (tag: string) => ({
    ...{ day, model: 'm', tag, total_cost: 0.1, market_cost: 0.1, request_count: 1 },
    ...{ input_tokens: 10, output_tokens: 1 },
  })
  await expect(totalsOf('tags.json', { results: [byTag('a'), byTag('b')] })).rejects.toThrow(
    /its rows are by tag, and a request may be in several of them, so they do not add up\. Export it without tag/,
  )
  expect(await totalsOf('tag.json', { results: [byTag('a')] })).toMatchObject({ requests: 1 })
})

test('a page of Langfuse with a cursor is one of several', { tags: 'whole' }, async () => {
  const page = (cursor: string | null) => ({
    data: [{ ...observation({}), usageDetails: {}, traceId: 't', startTime: `${day}T10:00:00Z` }],
    meta: { cursor },
  })
  await expect(totalsOf('cursor.json', page('x'))).rejects.toThrow(/its next page is missing/)
  expect(await totalsOf('last.json', page(null))).toMatchObject({ requests: 1 })
})

test('pages that are compressed belong together like others', { tags: 'whole' }, async () => {
  const first = { ...pageOf(bucketOf(openaiResult)), has_more: true, next_page: 'x' }
  const later = { ...bucketOf(openaiResult), start_time: dayS + 86_400, end_time: dayS + 172_800 }
  const files = [first, pageOf(later)].map((page, at) => {
    const file = join(folder, `packed-${at}.json.gz`)
    writeFileSync(file, gzipSync(JSON.stringify(page)))
    return file
  })
  expect(await pageGroups(files)).toEqual([files])
  const store = await openStore(':memory:')
  expect(await importFile(store, { file: files[0]!, pages: [files[1]!] })).toMatchObject({
    accepted: 2,
  })
  // The last page comes first, and the first one is cut.
  const cut = join(folder, 'packed-cut.json.gz')
  writeFileSync(cut, readFileSync(files[0]!).subarray(0, -40))
  await expect(importFile(store, { file: files[1]!, pages: [cut] })).rejects.toThrow(
    `${cut} ends in the middle`,
  )
  store.close()
})

describe('pages of one list with a cursor', () => {
  let written = 0
  const write = (name: string, nextPage: string | null) => {
    const file = join(folder, `${name}.json`)
    const startS = dayS + 86_400 * written++
    const days = { start_time: startS, end_time: startS + 86_400 }
    const page = pageOf({ ...bucketOf(openaiResult), ...days })
    writeFileSync(
      file,
      JSON.stringify({ ...page, has_more: nextPage !== null, next_page: nextPage }),
    )
    return file
  }
  const [one, two, end] = [write('page-1', 'x'), write('page-2', 'y'), write('page-10', null)]
  const other = [write('other-1', 'x'), write('other-2', null)]

  test.each([
    ['in order', [one, two, end], [[one, two, end]]],
    ['as a shell sorts their names', [one, end, two], [[one, end, two]]],
    ['from the last to the first', [end, two, one], [[end, two, one]]],
    ['and those of another', [one, two, end, ...other], [[one, two, end], other]],
  ])('are one group when they are given %s', async (_, files, groups) => {
    expect(await pageGroups(files)).toEqual(groups)
  })

  test('are imported in any order, and two lists out of order are refused with what to do', {
    tags: 'whole',
  }, async () => {
    const store = await openStore(':memory:')
    expect(await importFile(store, { file: end, pages: [one, two] })).toMatchObject({ accepted: 3 })
    const mixed = [end, one, other[1]!, other[0]!]
    const groups = await pageGroups(mixed)
    expect(groups).toEqual([[end], [one, other[1]], [other[0]]])
    await expect(importFile(store, { file: groups[2]![0]! })).rejects.toThrow(
      'its next page is missing. Import all files of one list together, its last page last, or add --partial.',
    )
    store.close()
  })
})

test.each([
  [
    'Cursor.csv',
    'Date,Model,Input (w/ Cache Write),Input (w/o Cache Write),Cache Read,Output Tokens,Cost,Kind\n' +
      ['10', '"1,234"', 'many']
        .map((tokens) => `${day}T10:00:00Z,m,0,${tokens},0,5,0.1,Included\n`)
        .join(''),
  ],
  [
    'Fireworks.csv',
    'start_time,base_model_name,email,prompt_tokens,completion_tokens,accelerator_seconds\n' +
      ['10', '"1,234"', 'many'].map((tokens) => `${day}T10:00:00Z,m,a,${tokens},5,\n`).join(''),
  ],
  [
    'gemini.jsonl',
    [10, '1,234', 'many']
      .map((input, at) =>
        JSON.stringify({
          ...{ type: 'gemini', id: `m${at}`, timestamp: `${day}T10:00:0${at}Z`, model: 'm' },
          tokens: { input, output: 5, cached: 0, thoughts: 0, tool: 0, total: 15 },
        }),
      )
      .join('\n'),
  ],
])('tokens of %s that are no number refuse their line', { tags: 'whole' }, async (name, text) => {
  const { requests, tokens, rejected } = await totalsOf(name, text)
  expect([requests, tokens[0], rejected]).toEqual([1, 10, 2])
})

test('a log whose first request is longer than a MiB is recognised', {
  tags: 'whole',
}, async () => {
  const text = JSON.stringify([{ messages: 'x'.repeat(1_200_000), ...spend('a') }, spend('b')])
  expect(await totalsOf('long.json', text)).toMatchObject({ source: 'litellm', requests: 2 })
})

test('a JSON file that is damaged in the middle is refused in one sentence', async () => {
  const text = `[${JSON.stringify(spend('a'))}, {"request_id": ]\n[]\n`
  await expect(totalsOf('damaged.json', text)).rejects.toThrow(
    /damaged\.json is not JSON from its start to its end\. Nothing was imported\.$/,
  )
})

test('more cached tokens than input stop an import, and --cached separate adds them', {
  tags: 'whole',
}, async () => {
  const rows = table({ id: 'a', time: `${day}T10:00:00Z`, promptTokens: 30, cachedTokens: 60 })
  await expect(totalsOf('cached.csv', rows)).rejects.toThrow(
    /^cached exceeds prompt_tokens on 1 line: are they counted separately\? Add --cached separate\.$/,
  )
  const separate = await totalsOf('cached.csv', rows, { cached: 'separate' })
  expect(separate.tokens).toEqual([90, 60, null, null, null])
})

test('daily sums keep their UTC days in another zone, and have no busiest minute', {
  tags: 'whole',
}, async () => {
  const text = pageOf(bucketOf(openaiResult))
  for (const timezone of ['America/New_York', 'Asia/Kathmandu', 'Europe/Berlin']) {
    expect(await totalsOf('days.json', text, {}, timezone)).toMatchObject({
      requests: 4,
      days: [`${day} UTC: 4 undefined`],
      peak: { minute: null, hour: null, unknown: 'busiest minute: not known (daily sums)' },
    })
  }
})

const csv = (...rows: readonly string[]) =>
  `id;time;credits\n${rows.map((row) => `${row}\n`).join('')}`

test('a German spreadsheet is read by all of its cells', { tags: 'whole' }, async () => {
  const text = `\uFEFF${csv('r1;24.10.2026 23:30;1.234,50', 'r2;25.10.2026 02:30;0,125', 'r3;26.10.2026 00:05;1.000.000,01')}`
  const got = await totalsOf('de.csv', text, { timezone: 'Europe/Berlin' }, 'Europe/Berlin')
  expect(got).toMatchObject({
    requests: 3,
    cost: '1001234.635 credits',
    days: [
      '2026-10-24 Europe/Berlin: 1 1234.5',
      '2026-10-25 Europe/Berlin: 1 0.125',
      '2026-10-26 Europe/Berlin: 1 1000000.01',
    ],
    notes: ['1 line is ambiguous: the time occurs twice in Europe/Berlin; the first time counts'],
  })
})

test('a number or a date with two readings is refused, unless an option decides', {
  tags: 'whole',
}, async () => {
  const one = csv('a;2026-11-03 10:00;1.234')
  await expect(totalsOf('two.csv', one)).rejects.toThrow(
    /credits: 1\.234 is 1234 or 1\.234; add --decimal , or --decimal \.$/,
  )
  expect((await totalsOf('two.csv', one, { decimal: ',' })).cost).toBe('1234 credits')
  expect((await totalsOf('two.csv', one, { decimal: '.' })).cost).toBe('1.234 credits')
  const date = csv('a;03/11/2026;1')
  await expect(totalsOf('date.csv', date)).rejects.toThrow(/--date-order dmy or --date-order mdy/)
  expect((await totalsOf('date.csv', date, { dateOrder: 'mdy' })).days[0]).toMatch(/^2026-03-11/)
  expect((await totalsOf('date.csv', csv('a;03/11/2026;1', 'b;13/11/2026;1'))).days).toHaveLength(2)
})

test('an hour that occurs twice is placed by the order of lines, and a skipped one does not exist', {
  tags: 'whole',
}, async () => {
  const zone = { timezone: 'Europe/Berlin' }
  const twice = csv(
    'a;25.10.2026 01:00;1',
    'b;25.10.2026 02:50;1',
    'c;25.10.2026 02:10;1',
    'd;25.10.2026 03:10;1',
  )
  expect((await totalsOf('twice.csv', twice, zone)).notes).toEqual([
    '2 lines are ambiguous: the time occurs twice in Europe/Berlin; the order of the lines decides',
  ])
  const spring = csv('a;2026-03-29 02:30;1', 'b;2026-03-29 03:30;1')
  expect(await totalsOf('spring.csv', spring, zone)).toMatchObject({ rejected: 1, requests: 1 })
})

test('entries of a ledger have the sign of their type, and only usage is a request', {
  tags: 'whole',
}, async () => {
  const rows = [
    ['1', 'usage', 5],
    ['2', 'usage', 3],
    ['3', 'refund', 2.5],
    ['4', 'grant', 100],
    ['5', 'expiry', 10],
    ['6', 'adjustment', -1],
  ] as const
  const text = lines(
    ...rows.map(([id, type, credits]) => ({ id, time: `${day}T10:00:00Z`, type, credits })),
  )
  expect(await totalsOf('ledger.jsonl', text)).toMatchObject({
    requests: 2,
    cost: '5.5 credits',
    unknownTokens: 2,
    ledger: [
      { type: 'adjustment', unit: 'credits', entries: 1, amount: '-1' },
      { type: 'expiry', unit: 'credits', entries: 1, amount: '-10' },
      { type: 'grant', unit: 'credits', entries: 1, amount: '100' },
    ],
  })
  const mixed = lines(
    { id: '1', time: `${day}T10:00:00Z`, credits: '0.1', unit: 'EUR' },
    { id: '2', time: `${day}T10:00:00Z`, credits: '0.2', unit: 'USD' },
  )
  const two = await totalsOf('units.jsonl', mixed)
  expect(two.cost).toBe('0.1 EUR, 0.2 USD')
  expect(two.notes).toEqual(['2 units: EUR, USD; they are not added up'])
})

test('names that look like money or tokens and are not read are told', {
  tags: 'whole',
}, async () => {
  const { notes, requests } = await totalsOf(
    'own.jsonl',
    lines({ id: 'a', time: '2026-11-03T10:00:00Z', model: 'm', input_tokens: 10, cost: 0.5 }),
  )
  expect(requests).toBe(1)
  expect(notes).toEqual(['not read: input_tokens, cost; a --map says which fields they are'])
})

test('reordered columns, a byte-order mark, CRLF and a quoted line break change nothing', {
  tags: 'whole',
}, async () => {
  const text =
    '\ufeffcost_total,created_at,generation_id,model_permaslug,tokens_completion,tokens_prompt,tokens_reasoning,provider_name,app_name,cost_cache,cancelled,api_key_name\r\n' +
    '0.00123,2026-11-03 23:59:59.123,gen-1,openai/gpt-5,50,100,20,OpenAI,"My\r\nApp",-0.0001,False,k1\r\n' +
    '4.5e-05,2026-11-04 00:00:00.5,gen-2,openai/gpt-5,5,10,0,OpenAI,"a ""quoted"", app",0,True,k1\r\n'
  const found = await totalsOf('activity.csv', text)
  expect(found).toMatchObject({ source: 'openrouter', rejected: 0, cost: '0.001275 USD' })
  expect(found.tokens).toEqual([110, null, null, 55, 20])
  expect(found.days).toEqual(['2026-11-03 UTC: 1 0.00123', '2026-11-04 UTC: 1 0.000045'])
})

test('epochs in seconds, with a fraction, in ms, us and ns are one moment', {
  tags: 'whole',
}, async () => {
  const times = [1793700000, 1793700000.5, 1793700000000, 1793700000000000, '1793700000000000000']
  const found = await totalsOf(
    'epochs.jsonl',
    lines(...times.map((time, at) => ({ id: `e${at}`, time, credits: 1 }))),
  )
  expect(found).toMatchObject({ rejected: 0, requests: 5, cost: '5 credits' })
  expect(found.days).toEqual(['2026-11-03 UTC: 5 5'])
})

test("LiteLLM's times without an offset are UTC, and an offset counts", {
  tags: 'whole',
}, async () => {
  const row = (request_id: string, startTime: string, spend: unknown) => ({
    ...{ request_id, call_type: 'acompletion', api_key: 'h', spend, status: 'success' },
    ...{ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30, model: 'a', metadata: {} },
    ...{ startTime, endTime: startTime, model_group: 'gpt-4o' },
  })
  const found = await totalsOf('spend.json', [
    row('a', '2026-11-03 23:30:00.250000', 3.06e-5),
    row('b', '2026-11-04T00:30:00+02:00', '0.5'),
    row('c', '2026-11-04T00:30:00', '0.25'),
  ])
  expect(found.cost).toBe('0.7500306 USD')
  expect(found.days).toEqual(['2026-11-03 UTC: 2 0.5000306', '2026-11-04 UTC: 1 0.25'])
})

const saved = (cost: string, tokens = '1.100') =>
  '\ufeffrequest_id;startTime;endTime;spend;model;model_group;total_tokens;prompt_tokens;completion_tokens;api_key;status\r\n' +
  `r1;03.11.2026 9:00:00;03.11.2026 9:00:02;${cost};gpt-4o-2024;gpt-4o;1.150;${tokens};50;h;success\r\n` +
  'r2;04.11.2026 10:01:00;04.11.2026 10:01:02;1.234,5;gpt-4o-2024;gpt-4o;150;100;50;h;success\r\n'

test('a known log that a spreadsheet saved with decimal commas is read as it was', {
  tags: 'whole',
}, async () => {
  const found = await totalsOf('spend.csv', saved('0,00125'))
  expect(found).toMatchObject({ source: 'litellm', rejected: 0, cost: '1234.50125 USD' })
  expect(found.tokens).toEqual([1200, null, null, 100, null])
  expect(found.days).toEqual(['2026-11-03 UTC: 1 0.00125', '2026-11-04 UTC: 1 1234.5'])
})

test('cells of a file with both decimal marks are rejected, not guessed', {
  tags: 'whole',
}, async () => {
  const text = saved('0.5', '100')
    .replaceAll('03.11.2026 9', '2026-11-03 09')
    .replace('1.150', '150')
  const found = await totalsOf('spend.csv', text)
  expect(found).toMatchObject({ rejected: 1, requests: 1, cost: '0.5 USD' })
})

test("each object of OpenAI's usage has its endpoint, and moderations are no chat", () => {
  const endpointOf = (object?: string) =>
    [...openaiUsage.rows({ start_time: dayS, num_model_requests: 1, object })].map(
      ({ endpoint }) => endpoint,
    )
  expect(endpointOf('organization.usage.completions.result')).toEqual(['chat'])
  expect(endpointOf('organization.usage.embeddings.result')).toEqual(['embeddings'])
  expect(endpointOf('organization.usage.moderations.result')).toEqual(['moderations'])
  expect(endpointOf()).toEqual(['chat'])
})
