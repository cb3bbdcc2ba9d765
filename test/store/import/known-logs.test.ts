import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fingerprintOf } from '../../../src/attempt/fingerprint.ts'
import { importAction } from '../../../src/cli/usage/import.ts'
import { openStore } from '../../../src/store/session/open.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-known-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** The import of a file without a mapping, as a user does it. */
async function importedOf(name: string, text: string): Promise<readonly object[]> {
  const file = join(folder, name)
  const db = join(folder, 'a.duckdb')
  writeFileSync(file, text)
  await importAction([file], { db, json: true, tag: [], maxRejects: '0.01' })
  await importAction([file], { db, json: true, tag: [], maxRejects: '0.01' })
  const store = await openStore(db)
  try {
    return await store.rows(
      `SELECT source, at_us, model, endpoint, key_fp, account, outcome, credits::VARCHAR AS credits,
         prompt_tokens, cached_tokens, completion_tokens, requests, ttft_us, latency_us
       FROM usage_events
       UNION ALL
       SELECT source, start_us, model, endpoint, key_fp, account, outcome, credits::VARCHAR,
         prompt_tokens, cached_tokens, completion_tokens, requests, NULL, NULL
       FROM usage_buckets ORDER BY at_us, model`,
    )
  } finally {
    store.close()
  }
}

const atUs = Date.UTC(2026, 10, 1, 9, 30, 0, 250) * 1000
const spend = {
  request_id: 'chatcmpl-1',
  call_type: 'acompletion',
  api_key: 'a'.repeat(64),
  spend: 0.000001516,
  total_tokens: 30,
  prompt_tokens: 10,
  completion_tokens: 20,
  startTime: '2026-11-01T09:30:00.250Z',
  endTime: '2026-11-01T09:30:01.500Z',
  completionStartTime: '2026-11-01T09:30:00.500Z',
  model: 'gpt-4o-mini',
  user: '',
  metadata: { status: 'success' },
  team_id: 'team',
  status: 'success',
}
const imported = {
  source: 'litellm',
  at_us: atUs,
  model: 'gpt-4o-mini',
  endpoint: 'chat',
  key_fp: 'aaaaaaaaaaaa',
  account: 'team',
  outcome: 'ok',
  credits: '0.000001516000000000',
  prompt_tokens: 10,
  cached_tokens: null,
  completion_tokens: 20,
  requests: 1,
  ttft_us: 250_000,
  latency_us: 1_250_000,
}

test.each([
  ['a list', JSON.stringify([spend])],
  ['a page', JSON.stringify({ data: [spend], total: 1, page: 1 })],
  ['lines', `${JSON.stringify(spend)}\n`],
])("LiteLLM's spend log is recognised, as %s", async (_, text) => {
  expect(await importedOf('spend.json', text)).toEqual([imported])
})

test("LiteLLM's spend log is recognised as CSV, with a plain key and a failure", {
  tags: 'whole',
}, async () => {
  const names = ['request_id', 'call_type', 'api_key', 'spend', 'startTime', 'model', 'status']
  const row = ['r1', 'acompletion', 'sk-secret', '0', '2026-11-01 09:30:00.25', 'm', 'failure']
  expect(await importedOf('spend.csv', `${names.join()}\n${row.join()}\n`)).toMatchObject([
    { at_us: atUs, key_fp: fingerprintOf('sk-secret'), outcome: 'http_error', ttft_us: null },
  ])
})

test("OpenAI's usage is recognised: a bucket counts as its requests", {
  tags: 'whole',
}, async () => {
  const result = (model: string, change: object = {}) => ({
    object: 'organization.usage.completions.result',
    input_tokens: 1_000,
    output_tokens: 500,
    input_cached_tokens: 800,
    num_model_requests: 5,
    project_id: 'proj_1',
    user_id: null,
    api_key_id: 'key_1',
    model,
    batch: null,
    ...change,
  })
  const start_time = Date.UTC(2026, 10, 1) / 1000
  const page = {
    object: 'page',
    data: [
      {
        object: 'bucket',
        start_time,
        end_time: start_time + 86_400,
        results: [
          result('a'),
          result('b'),
          result('b', { input_tokens: 7, input_cached_tokens: 0 }),
        ],
      },
      { object: 'bucket', start_time: start_time + 86_400, end_time: 0, results: [] },
    ],
    has_more: false,
    next_page: null,
  }
  const rows = await importedOf('usage.json', JSON.stringify(page))
  expect(rows).toHaveLength(2)
  // Rows of one interval and the same dimensions add up.
  expect(rows[1]).toMatchObject({
    model: 'b',
    requests: 10,
    prompt_tokens: 1007,
    cached_tokens: 800,
  })
  expect(rows[0]).toEqual({
    ...imported,
    source: 'openai',
    at_us: start_time * 1e6,
    model: 'a',
    key_fp: 'key_1',
    account: 'proj_1',
    credits: null,
    prompt_tokens: 1_000,
    cached_tokens: 800,
    completion_tokens: 500,
    requests: 5,
    ttft_us: null,
    latency_us: null,
  })
})

test("OpenAI's older usage, with n_requests, is recognised", { tags: 'whole' }, async () => {
  const text = JSON.stringify({
    object: 'list',
    data: [
      {
        organization_id: 'org',
        aggregation_timestamp: 1_793_500_200,
        n_requests: 3,
        operation: 'completion',
        snapshot_id: 'gpt-3.5-turbo-0613',
        n_context_tokens_total: 30,
        n_cached_context_tokens_total: 20,
        n_generated_tokens_total: 60,
      },
    ],
  })
  expect(await importedOf('usage.json', text)).toMatchObject([
    {
      model: 'gpt-3.5-turbo-0613',
      requests: 3,
      prompt_tokens: 30,
      cached_tokens: 20,
      completion_tokens: 60,
    },
  ])
})
