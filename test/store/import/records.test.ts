import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { summarise } from '../../../src/report/summary/summarise.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import { importRecords, looksLikeRecords } from '../../../src/store/import/records.ts'
import { randomOf } from '../../../src/user/random.ts'
import { openStore, type Store } from '../opened.ts'

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
    read: file,
    tool: looksLikeRecords(file)!,
    ...{ model, check: false, isPartial: false },
    rejectsFile: `${file}.rejects.jsonl`,
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
    {
      // Its gaps are not those of a stream that succeeded.
      metrics: { inter_chunk_latency: { value: [400, 400], unit: 'ms' } },
      error: { code: 499, type: 'RequestCancellationError', message: 'x' },
    },
    { was_cancelled: true },
  )
  const text = [
    aiperfLine(0),
    aiperfLine(1),
    failed,
    cancelled,
    'not json',
    '{"metadata":{}}',
    'null',
  ].join('\n')

  test('its records become a run with its figures', { tags: 'whole' }, async () => {
    const { ledger } = await importText(text, 'llama')
    expect(ledger).toMatchObject({ accepted: 4, duplicates: 0, rejected: 3 })
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

  test('importing the same file again adds nothing', async () => {
    const { ledger, again } = await importText(`${text}\n`)
    const before = await store.rows('SELECT count(*) AS n FROM attempts')
    expect(await again()).toMatchObject({ runId: ledger.runId, accepted: 0, duplicates: 4 })
    expect(await store.rows('SELECT count(*) AS n FROM attempts')).toEqual(before)
  })
})

describe('a file of records', () => {
  const text = Array.from({ length: 8 }, (_, at) =>
    aiperfLine(at, {}, { conversation_id: `${at * 7919}` }),
  ).join('\n')
  const fileOf = (name: string, bytes: Uint8Array | string) => {
    const file = join(folder, `${files++}-${name}`)
    writeFileSync(file, bytes)
    return file
  }
  const runsOf = async (runId: string) =>
    (await store.rows('SELECT run_id FROM runs WHERE run_id = $1', [runId])).length

  test('is only checked if that was asked', async () => {
    const file = fileOf('check.jsonl', `${text}\nnot json\n${aiperfLine(8)}\n`)
    const checked = await importFile(store, { file, check: true })
    if (checked.kind !== 'records') throw new Error('expected records')
    expect(checked).toMatchObject({ accepted: 9, duplicates: 0, rejected: 1, rejectsFile: null })
    expect(existsSync(`${file}.rejects.jsonl`)).toBe(false)
    expect(await runsOf(checked.runId)).toBe(0)
    const entered = { runId: checked.runId, accepted: 9, duplicates: 0 }
    expect(await importFile(store, { file })).toMatchObject(entered)
    expect(await importFile(store, { file, check: true })).toMatchObject({ duplicates: 9 })
  })

  const zipped = gzipSync(text)
  test.each([
    ['cut.jsonl', Buffer.from(text.slice(0, -200))],
    ['cut.jsonl.gz', zipped.subarray(0, zipped.length - 60)],
  ])(
    'that ends in the middle is refused, unless its whole lines are asked for: %s',
    async (name, bytes) => {
      const file = fileOf(name, bytes)
      const refused = await importFile(store, { file }).catch(String)
      const [, lines] = /\((\d) whole lines\)\. Nothing was imported\. Add --partial/.exec(
        refused as string,
      )!
      expect(await importFile(store, { file, partial: true })).toMatchObject({
        ...{ accepted: Number(lines), rejected: 0 },
        lacks: expect.arrayContaining(['the end of its file: requests are missing']),
      })
    },
  )

  test.each([
    [{ pages: ['other.jsonl'] }, 'pages'],
    [{ source: 'svc', bucket: '1d' }, 'source, bucket'],
  ])('refuses the options of a usage log: %j', async (more, names) => {
    const file = fileOf('options.jsonl', text)
    await expect(importFile(store, { file, ...more })).rejects.toThrow(
      `${file} has records of aiperf, and these options are for usage logs: ${names}. Import it without them.`,
    )
  })
})

test('a usage log refuses the model of records, because its lines name theirs', async () => {
  const file = join(folder, 'usage.jsonl')
  writeFileSync(file, '{"time":"2026-01-01T00:00:00Z","model":"a"}\n')
  await expect(importFile(store, { file, model: 'llama' })).rejects.toThrow(
    /a model is named for records of another tool/,
  )
})

/** numpy's percentile(values, 100 * p, method='linear'), reimplemented. */
function linear(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * p
  const low = sorted[Math.floor(at)]!
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at))
}

/** All percentiles of a measure of an imported run, to half a microsecond. */
async function expectLinear(
  runId: string,
  name: 'ttft' | 'service' | 'itl',
  us: readonly number[],
): Promise<void> {
  const { all } = await summarise(store, runId, defaultContract)
  const distribution = all.metrics[name]
  expect(distribution.n).toBe(us.length)
  for (const [key, p] of [
    ['p50', 0.5],
    ['p90', 0.9],
    ['p95', 0.95],
    ['p99', 0.99],
  ] as const) {
    expect(Math.abs(distribution[key].us! - linear(us, p))).toBeLessThanOrEqual(0.5)
  }
}

describe('percentiles of records equal those of numpy', () => {
  const random = randomOf(5)
  const of = <T>(count: number, make: () => T) => Array.from({ length: count }, make)
  // A third of them are of one token, and have no gap.
  const seen = of(700, () => ({
    ttftS: 0.02 + random() ** 4 * 2,
    gapsS: of(random() < 0.3 ? 0 : 1 + Math.floor(random() * 20), () => random() ** 3 * 0.2),
  })).map(({ ttftS, gapsS }) => ({
    ttftS,
    gapsS,
    latencyS: ttftS + gapsS.reduce((sum, gap) => sum + gap, 0) + 0.000_123_4,
  }))
  const ttftUs = seen.map(({ ttftS }) => ttftS * 1e6)
  const latencyUs = seen.map(({ latencyS }) => latencyS * 1e6)
  const itlUs = seen.flatMap(({ gapsS }) => gapsS.map((gap) => gap * 1e6))

  // python3 -c "import numpy as np; print(np.percentile(us, [50, 90, 95, 99], method='linear'))" of numpy 2.4.6.
  test.each([
    ['TTFT', ttftUs, [131_876.762, 1_207_096.804, 1_672_994.277, 1_988_509.595]],
    ['latency', latencyUs, [678_980.401, 1_689_468.408, 2_025_966.961, 2_530_625.061]],
    ['ITL', itlUs, [25_314.803, 147_450.895, 172_825.616, 194_675.912]],
  ])('the percentiles of %s in this test are those that numpy prints', (_, us, printed) => {
    for (const [at, p] of [0.5, 0.9, 0.95, 0.99].entries()) {
      expect(linear(us, p)).toBeCloseTo(printed[at]!, 2)
    }
  })

  test('of AIPerf, with the names of older records', { tags: 'whole' }, async () => {
    const lines = seen.map(({ ttftS, gapsS, latencyS }, at) => {
      const value = (ms: number) => ({ value: ms, unit: 'ms' })
      return JSON.stringify({
        metadata: {
          x_request_id: `id-${at}`,
          turn_index: 0,
          timestamp_ns: 'AT',
          worker_id: 'worker_aec1f387',
          record_processor_id: 'record_processor_5cdb3e92',
          credit_phase: 'profiling',
        },
        metrics: {
          input_sequence_length: { value: 550, unit: 'tokens' },
          ttft: value(ttftS * 1000),
          request_latency: value(latencyS * 1000),
          output_token_count: { value: gapsS.length + 1, unit: 'tokens' },
          ...(gapsS.length === 0
            ? {}
            : { inter_chunk_latency: { value: gapsS.map((gap) => gap * 1000), unit: 'ms' } }),
        },
        error: null,
      }).replace('"AT"', `17595224${String(19_158_355 + at * 1_000)}424`)
    })
    const { ledger } = await importText(`${lines.join('\n')}\n`)
    expect(ledger).toMatchObject({ accepted: 700, rejected: 0 })
    await expectLinear(ledger.runId, 'ttft', ttftUs)
    await expectLinear(ledger.runId, 'service', latencyUs)
    await expectLinear(ledger.runId, 'itl', itlUs)
    const { run } = await summarise(store, ledger.runId, defaultContract)
    expect(run.startedAt).toBe('2025-10-03T20:13:39.158Z')
  })

  test('of vLLM, with requests of one token', { tags: 'whole' }, async () => {
    const { ledger } = await importText(
      JSON.stringify({
        date: '20261101-093010',
        backend: 'openai-chat',
        model_id: 'm',
        input_lens: seen.map(() => 100),
        output_lens: seen.map(({ gapsS }) => gapsS.length + 1),
        ttfts: seen.map(({ ttftS }) => ttftS),
        itls: seen.map(({ gapsS }) => gapsS),
        latencies: seen.map(({ latencyS }) => latencyS),
        start_times: seen.map((_, at) => 1_000 + at * 0.033_3),
        errors: seen.map(() => ''),
      }),
    )
    await expectLinear(ledger.runId, 'ttft', ttftUs)
    await expectLinear(ledger.runId, 'service', latencyUs)
    await expectLinear(ledger.runId, 'itl', itlUs)
  })

  const startS = 1_793_522_400.25
  const timings = seen.map(({ ttftS, gapsS, latencyS }, at) => {
    const request_start = startS + at * 0.05
    return {
      targeted_start: request_start - 0.002,
      queued: startS,
      request_start,
      first_token_iteration: request_start + ttftS,
      last_token_iteration: request_start + latencyS - 0.000_123_4,
      token_iterations: gapsS.length + 1,
      request_end: request_start + latencyS,
      resolve_end: request_start + latencyS + 0.001,
    }
  })

  // Unix seconds as doubles are a quarter of a microsecond apart: the file holds these.
  const stampedTtftUs = timings.map((at) => (at.first_token_iteration - at.request_start) * 1e6)
  const stampedLatencyUs = timings.map((at) => (at.request_end - at.request_start) * 1e6)

  test('of GuideLLM, a run for each of its benchmarks', { tags: 'whole' }, async () => {
    const request = (at: number, change: object = {}) => ({
      type_: 'generative_request_stats',
      request_id: `r${at}`,
      info: { status: 'completed', timings: timings[at]!, error: null, ...change },
      input_metrics: { text_tokens: 12 },
      output_metrics: { text_tokens: timings[at]!.token_iterations },
    })
    const benchmark = (requests: object) => ({
      type_: 'generative_benchmark',
      config: {},
      requests,
    })
    const report = {
      metadata: { version: 1, guidellm_version: '0.4.0' },
      args: {},
      benchmarks: [
        benchmark({ successful: seen.map((_, at) => request(at)), incomplete: [], errored: [] }),
        benchmark({
          successful: [request(0)],
          incomplete: [request(1, { status: 'cancelled' })],
          errored: [request(2, { status: 'errored', error: 'Traceback\nReadTimeout' })],
        }),
      ],
    }
    const { ledger } = await importText(JSON.stringify(report), 'm')
    const [first, second] = ledger.runId.split(', ')
    await expectLinear(first!, 'ttft', stampedTtftUs)
    await expectLinear(first!, 'service', stampedLatencyUs)
    const { all, run } = await summarise(store, second!, defaultContract)
    expect(all.counts).toMatchObject({ ok: 1, aborted: 1, timeout: 1 })
    expect(run.startedAt).toBe(new Date((startS - 0.002) * 1000).toISOString())
    expect(
      await store.rows(
        'SELECT prompt_tokens, completion_tokens, dispatched_us - intended_us AS lag_us FROM attempts WHERE run_id = $1 AND slot = 0',
        [second!],
      ),
    ).toEqual([
      { prompt_tokens: 12, completion_tokens: timings[0]!.token_iterations, lag_us: 2_000 },
    ])
  })

  test('of reports before GuideLLM 0.4', { tags: 'whole' }, async () => {
    const successful = timings.map((times, at) => ({
      type_: 'generative_text_response',
      request_id: `r${at}`,
      request_type: 'chat_completions',
      prompt: 'p',
      output: 'o',
      prompt_tokens: 12,
      output_tokens: times.token_iterations,
      start_time: times.request_start,
      end_time: times.request_end,
      first_token_time: times.first_token_iteration,
      last_token_time: times.last_token_iteration,
    }))
    const requests = { successful, incomplete: [], errored: [], total: null }
    const { ledger } = await importText(
      JSON.stringify({ benchmarks: [{ type_: 'generative_benchmark', args: {}, requests }] }),
    )
    await expectLinear(ledger.runId, 'ttft', stampedTtftUs)
    await expectLinear(ledger.runId, 'service', stampedLatencyUs)
  })
})

test('a request that failed before its first token was streamed if others of its run were', async () => {
  const requests = {
    successful: [
      { start_time: 1000, first_token_time: 1000.5, last_token_time: 1001, end_time: 1001 },
    ],
    errored: [{ start_time: 1002, end_time: 1003, error: 'ConnectError' }],
  }
  const of = (args: unknown) =>
    importText(
      JSON.stringify({ benchmarks: [{ type_: 'generative_benchmark', args, requests }] }),
      'm',
    )
  const { ledger } = await of({ rate: 1 })
  const rows = await store.rows<{ streamed: number; outcome: string; first: number | null }>(
    'SELECT streamed::INTEGER AS streamed, outcome, first_content_us AS first FROM attempts WHERE run_id = $1 ORDER BY slot',
    [ledger.runId],
  )
  expect(rows).toEqual([
    { streamed: 1, outcome: 'ok', first: 500_000 },
    { streamed: 1, outcome: 'broken', first: null },
  ])
  const odd = await of('not settings')
  const [run] = await store.rows<{ text: string }>(
    'SELECT scenario_json AS text FROM runs WHERE run_id = $1',
    [odd.ledger.runId],
  )
  expect(JSON.parse(run!.text).settings).toEqual({})
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

  test('its detailed result becomes a run, with latencies from TTFT and gaps if it has none', {
    tags: 'whole',
  }, async () => {
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

  test('latencies and queue times of newer results are used directly', async () => {
    const { ledger } = await importText(
      JSON.stringify({ ...result, latencies: [0.2, 0.3, 0], queue_times: [0.1, 0.1, 0.1] }),
    )
    const { all } = await summarise(store, ledger.runId, defaultContract)
    expect(all.metrics.service).toMatchObject({ minUs: 200_000 })
    expect(all.metrics.response).toMatchObject({ minUs: 300_000 })
  })

  test.each([null, 0])('a start that is not known, %s, moves no other request', async (unknown) => {
    const { ledger } = await importText(
      JSON.stringify({ ...result, start_times: [unknown, 812.75, 813] }),
    )
    expect(
      await store.rows('SELECT intended_us FROM attempts WHERE run_id = $1 ORDER BY slot', [
        ledger.runId,
      ]),
    ).toEqual([{ intended_us: 0 }, { intended_us: 0 }, { intended_us: 250_000 }])
  })

  test('a chat is one by either name of its endpoint', async () => {
    const { ledger } = await importText(
      JSON.stringify({ ...result, backend: 'vllm', endpoint_type: 'openai-chat' }),
    )
    expect(
      await store.rows('SELECT DISTINCT endpoint FROM attempts WHERE run_id = $1', [ledger.runId]),
    ).toEqual([{ endpoint: 'chat' }])
  })

  test('appended results are a run each, and one without details is refused with the missing fields', async () => {
    const other = { ...result, date: '20261101-103010' }
    const { ledger } = await importText(`${JSON.stringify(result)}\n${JSON.stringify(other)}\n`)
    expect(ledger.runId.split(', ')).toHaveLength(2)
    const { itls: _, ...plain } = result
    await expect(importText(JSON.stringify(plain))).rejects.toThrow(/--save-detailed; itls/)
  })
})

test('other files are not recognised as records', () => {
  const file = join(folder, 'other.jsonl')
  writeFileSync(file, '{"id":1,"time":2}\n')
  expect(looksLikeRecords(file)).toBeNull()
})
