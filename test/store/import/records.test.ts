import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { summarise } from '../../../src/report/summary/summarise.ts'
import { importRecords, looksLikeRecords } from '../../../src/store/import/records.ts'
import { openStore, type Store } from '../../../src/store/open.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-records-'))
afterAll(() => rmSync(folder, { recursive: true }))
let store: Store
beforeAll(async () => {
  store = await openStore(':memory:')
})
afterAll(() => store.close())

let files = 0
async function importText(text: string, model: string | null = null) {
  const file = join(folder, `records-${files++}.json`)
  writeFileSync(file, text)
  const options = {
    file,
    tool: looksLikeRecords(file)!,
    model,
    rejectsFile: `${file}.rejects.jsonl`,
    assayVersion: '0.1.0',
  }
  return { ledger: await importRecords(store, options), again: () => importRecords(store, options) }
}

const aiperfLine = (at: number, change: object = {}, metadata: object = {}) =>
  JSON.stringify({
    metadata: {
      session_num: at,
      x_request_id: `id-${at}`,
      conversation_id: 'c',
      turn_index: 0,
      request_start_ns: 'START',
      request_ack_ns: 'ACK',
      request_end_ns: 'END',
      benchmark_phase: 'profiling',
      was_cancelled: false,
      cancellation_time_ns: null,
      ...metadata,
    },
    metrics: {
      input_sequence_length: { value: 550, unit: 'tokens' },
      time_to_first_token: { value: 50.25, unit: 'ms' },
      request_latency: { value: 240.5, unit: 'ms' },
      inter_chunk_latency: { value: [10, 20, 30], unit: 'ms' },
      output_sequence_length: { value: 20, unit: 'tokens' },
    },
    error: null,
    ...change,
  })
    .replace('"START"', `17598132075329${String(at).padStart(2, '0')}363`)
    .replace('"ACK"', `17598132075430${String(at).padStart(2, '0')}363`)
    .replace('"END"', `17598132077729${String(at).padStart(2, '0')}363`)

describe('AIPerf', () => {
  const failed = aiperfLine(2, {
    metrics: { error_isl: { value: 550, unit: 'tokens' } },
    error: { code: 429, type: 'HTTPError', message: 'slow down' },
  })
  const cancelled = aiperfLine(
    3,
    { metrics: {}, error: { code: 499, type: 'RequestCancellationError', message: 'x' } },
    { was_cancelled: true },
  )
  const text = [
    aiperfLine(0),
    aiperfLine(1),
    failed,
    cancelled,
    'not json',
    '{"metadata":{}}',
  ].join('\n')

  test('its records become a run whose figures are its own', async () => {
    const { ledger } = await importText(text, 'llama')
    expect(ledger).toMatchObject({ accepted: 4, duplicates: 0, rejected: 2 })
    expect(ledger.lacks.join(' ')).toMatch(/intended times.*credits and rate-limit headers/)
    const summary = await summarise(store, ledger.runId, defaultContract)
    expect(summary.run).toMatchObject({ kind: 'import', startedAt: '2025-10-07T05:00:07.532Z' })
    expect(summary.all.counts).toMatchObject({ ok: 2, httpError: 1, aborted: 1, attempts: 4 })
    expect(summary.all.metrics.ttft).toMatchObject({ n: 2, meanUs: 50_250 })
    expect(summary.all.metrics.service).toMatchObject({ n: 2, meanUs: 240_500 })
    expect(summary.all.metrics.tpot.meanUs).toBeCloseTo((240_500 - 50_250) / 19, 6)
    expect(summary.all.metrics.itl).toMatchObject({ n: 6 })
    expect(summary.all.metrics.itl.p50.us).toBeCloseTo(20_000, -2)
    expect(summary.credits.spent).toBeNull()
    expect(
      await store.rows('SELECT sent_us, headers_us FROM attempts WHERE run_id = $1 AND slot = 1', [
        ledger.runId,
      ]),
    ).toEqual([{ sent_us: 1, headers_us: 10_101 }])
    expect(readFileSync(ledger.rejectsFile!, 'utf8')).toContain('"line":5,"reason":"expected JSON"')
  })

  test('the same file again adds nothing', async () => {
    const { ledger, again } = await importText(`${text}\n`)
    const before = await store.rows('SELECT count(*) AS n FROM attempts')
    expect(await again()).toMatchObject({ runId: ledger.runId, accepted: 0, duplicates: 4 })
    expect(await store.rows('SELECT count(*) AS n FROM attempts')).toEqual(before)
  })
})

describe('vLLM', () => {
  const result = {
    date: '20261101-093010',
    backend: 'openai-chat',
    model_id: 'meta/llama',
    tokenizer_id: 'meta/llama',
    num_prompts: 3,
    request_rate: 10,
    burstiness: 1,
    max_concurrency: null,
    duration: 10,
    completed: 2,
    input_lens: [100, 200, 300],
    output_lens: [5, 3, 0],
    ttfts: [0.05, 0.06, 0],
    itls: [[0.01, 0.01, 0.01, 0.01], [0.02, 0.03], []],
    start_times: [812.5, 812.75, 813],
    generated_texts: ['a', 'b', ''],
    errors: ['', '', 'Traceback (most recent call last):\n  File "x"\nTimeoutError: slow'],
  }

  test('its detailed result becomes a run, latencies from TTFT and gaps where there are none', async () => {
    const { ledger } = await importText(JSON.stringify(result))
    expect(ledger).toMatchObject({ accepted: 3, rejected: 0 })
    expect(ledger.lacks.join(' ')).toMatch(/latencies.*statuses/)
    const summary = await summarise(store, ledger.runId, defaultContract)
    expect(summary.run.startedAt).toBe('2026-11-01T09:30:00.000Z')
    expect(summary.all.counts).toMatchObject({ ok: 2, timeout: 1 })
    expect(summary.all.metrics.ttft).toMatchObject({ n: 2, meanUs: 55_000 })
    expect(summary.all.metrics.service).toMatchObject({ minUs: 90_000, maxUs: 110_000 })
    expect(summary.all.metrics.itl).toMatchObject({ n: 6 })
    expect(
      await store.rows(
        'SELECT intended_us, model, completion_tokens, reason FROM attempts WHERE run_id = $1 ORDER BY slot',
        [ledger.runId],
      ),
    ).toEqual([
      { intended_us: 0, model: 'meta/llama', completion_tokens: 5, reason: null },
      { intended_us: 250_000, model: 'meta/llama', completion_tokens: 3, reason: null },
      {
        intended_us: 500_000,
        model: 'meta/llama',
        completion_tokens: null,
        reason: 'TimeoutError: slow',
      },
    ])
  })

  test('latencies and queue times of newer results are taken as they are', async () => {
    const { ledger } = await importText(
      JSON.stringify({ ...result, latencies: [0.2, 0.3, 0], queue_times: [0.1, 0.1, 0.1] }),
    )
    const { all } = await summarise(store, ledger.runId, defaultContract)
    expect(all.metrics.service).toMatchObject({ minUs: 200_000 })
    expect(all.metrics.response).toMatchObject({ minUs: 300_000 })
  })

  test('appended results are a run each, and one without details says what is missing', async () => {
    const other = { ...result, date: '20261101-103010' }
    const { ledger } = await importText(`${JSON.stringify(result)}\n${JSON.stringify(other)}\n`)
    expect(ledger.runId.split(', ')).toHaveLength(2)
    const { itls: _, ...plain } = result
    await expect(importText(JSON.stringify(plain))).rejects.toThrow(/--save-detailed; itls/)
  })
})

test('other files are not taken for records', () => {
  const file = join(folder, 'other.jsonl')
  writeFileSync(file, '{"id":1,"time":2}\n')
  expect(looksLikeRecords(file)).toBeNull()
})
