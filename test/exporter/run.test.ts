import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { serviceLines } from '../../src/report/summary/service-metrics.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { run } from '../../src/run/run.ts'
import { openStore } from '../../src/store/session/open.ts'
import { answerChat, chatScenario, key, query, startTarget, withStorePath } from '../run/target.ts'
import { answerMetrics, type Exposed, expositionOf } from './fake-exporter.ts'

const keys = { default: key }
const phase = '  - { name: steady, load: constant, rate: 40/s, duration: 2s }'

// Each run mostly waits, so they run at the same time, each with a store and a service of its own. The test that expects no
// gap between looks runs alone.

/** Runs 80 requests against a service that exposes what `exposed` says after so many answers. */
async function runBeside(
  exposed: (answered: number, looks: number) => Exposed | string,
  more = 'metrics: {}',
  { lookTakesMs = 0 } = {},
) {
  let [answered, looks] = [0, 0]
  const target = await startTarget(async (request, response) => {
    if (request.url === '/metrics') {
      if (lookTakesMs > 0) await sleep(lookTakesMs)
      const told = exposed(answered, looks++)
      const labels = 'engine="0",model_name="m"'
      answerMetrics(response, typeof told === 'string' ? told : expositionOf(told, labels))
    } else {
      answered++
      answerChat(response)
    }
  })
  const ended = withStorePath(async (dbPath) => {
    const { runId } = await run(chatScenario(phase, more), {
      baseUrl: target.baseUrl,
      dbPath,
      keys,
    })
    const store = await openStore(dbPath)
    try {
      const { service } = await summarise(store, runId, defaultContract)
      return { service: service!, runId, baseUrl: target.baseUrl, rows: await rowsOf(dbPath) }
    } finally {
      store.close()
    }
  })
  return ended.finally(() => target.close())
}

const rowsOf = (dbPath: string) =>
  query<{ n: number }>(dbPath, 'SELECT count(*)::INTEGER AS n FROM metric_points')

const vllm = (n: number): Exposed => ({
  counters: {
    'vllm:request_success_total': 1000 + n,
    'vllm:prompt_tokens_total': 50_000 + 8 * n,
    'vllm:generation_tokens_total': 700 + 2 * n,
    'vllm:num_preemptions_total': 0,
  },
  gauges: { 'vllm:num_requests_running': 3, 'vllm:num_requests_waiting': 0 },
})

test('counts of the client and of the service stand side by side, with the cause of a difference', {
  tags: 'whole',
}, async () => {
  const { service, baseUrl } = await runBeside(vllm)
  expect(service.sources).toMatchObject([
    { url: `${baseUrl}/metrics`, kind: 'vLLM', everyUs: 1e6, gaps: 0, answersInTurns: false },
  ])
  expect(service.reconciliation).toEqual([
    { what: 'requests that succeeded', client: 80, service: 80, verdict: 'equal', cause: null },
    {
      what: 'prompt tokens',
      client: 400,
      service: 640,
      verdict: 'differs',
      cause: '3 for each request: a chat template, probably',
    },
    { what: 'output tokens', client: 160, service: 160, verdict: 'equal', cause: null },
  ])
  expect(service.gauges).toEqual({
    running: { least: 3, most: 3 },
    waiting: { least: 0, most: 0 },
  })
  expect(serviceLines(service)).toContain('requests that succeeded: client 80, service 80')
})

test.concurrent('requests of other clients are the cause of all differences', {
  tags: 'whole',
}, async () => {
  const { service } = await runBeside((n) => vllm(2 * n))
  expect(service.reconciliation[0]).toMatchObject({ client: 80, service: 160, verdict: 'differs' })
  expect(service.reconciliation.map(({ cause }) => cause)).toEqual(
    Array.from({ length: 3 }, () => expect.stringMatching(/^other clients/)),
  )
})

test.concurrent('a service that restarts in the middle is said to, and its new counts are added', {
  tags: 'whole',
}, async () => {
  let [restartedAt, looksThen] = [0, 0]
  const { service } = await runBeside((n, looks) => {
    if (n >= 40 && restartedAt === 0) [restartedAt, looksThen] = [n, looks]
    return vllm(restartedAt === 0 || looks < looksThen ? n : n - restartedAt - 1000)
  })
  expect(service.sources[0]!.restartsUs.length).toBe(1)
  expect(service.sources[0]!.answersInTurns).toBe(false)
  expect(serviceLines(service)).toContain('The service restarted once during the run.')
})

test.concurrent('replicas that answer in turns are told from a restart, and give no count', {
  tags: 'whole',
}, async () => {
  const { service } = await runBeside((n, looks) => vllm(looks % 2 === 0 ? n : n - 900))
  expect(service.sources[0]!.answersInTurns).toBe(true)
  expect(service.reconciliation).toEqual([])
})

test.concurrent('a counter that appears with the first request was 0 before', {
  tags: 'whole',
}, async () => {
  const { service } = await runBeside((n) => ({
    counters: {
      ...(n === 0 ? {} : { 'vllm:request_success_total': n }),
      'vllm:prompt_tokens_total': 5 * n,
    },
  }))
  expect(service.reconciliation.map(({ what, service: there }) => [what, there])).toEqual([
    ['requests that succeeded', 80],
    ['prompt tokens', 400],
  ])
})

test.concurrent('no request is sent before the service has told its counts at the start', {
  tags: 'whole',
}, async () => {
  const { service } = await runBeside(vllm, 'metrics: {}', { lookTakesMs: 200 })
  expect(service.reconciliation[0]).toMatchObject({ client: 80, service: 80, verdict: 'equal' })
})

test.concurrent.each([
  ['SGLang', { 'sglang:num_requests_total': 1, 'sglang:prompt_tokens_total': 5 }],
  ['TensorRT-LLM', { trtllm_request_success_total: 1 }],
  ['TensorRT-LLM', { 'trtllm:request_success_total': 1, 'trtllm:prompt_tokens_total': 5 }],
  ['Triton', { nv_inference_request_success: 1 }],
  ['Dynamo', { dynamo_frontend_requests_total: 1, dynamo_frontend_output_tokens_total: 2 }],
  ['llama.cpp', { 'llamacpp:prompt_tokens_total': 5, 'llamacpp:tokens_predicted_total': 2 }],
  ['TGI', { tgi_request_success: 1 }],
  ['LiteLLM', { litellm_input_tokens_metric_total: 5, litellm_output_tokens_metric_total: 2 }],
])('%s is known by its families, and its counts agree', { tags: 'whole' }, async (kind, each) => {
  const { service } = await runBeside((n) => ({
    counters: Object.fromEntries(Object.entries(each).map(([name, by]) => [name, 7 + by * n])),
  }))
  expect(service.sources[0]!.kind).toBe(kind)
  expect(service.reconciliation.length).toBe(Object.keys(each).length)
  expect(service.reconciliation.filter(({ verdict }) => verdict !== 'equal')).toEqual([])
})

test.concurrent('a family whose newer versions also sum themselves is not counted twice', {
  tags: 'whole',
}, async () => {
  const { service } = await runBeside((n) =>
    [
      '# TYPE sglang:num_requests_total counter',
      `sglang:num_requests_total{model_name="m"} ${n}`,
      '# TYPE sglang:cached_tokens_total counter',
      `sglang:cached_tokens_total{cache_source="device"} ${2 * n}`,
      `sglang:cached_tokens_total{cache_source="host"} ${n}`,
      `sglang:cached_tokens_total{cache_source="total"} ${3 * n}`,
      '# TYPE sglang:num_running_reqs gauge',
      'sglang:num_running_reqs{priority=""} 5',
      'sglang:num_running_reqs{priority="1"} 2',
      'sglang:num_running_reqs{priority="2"} 3',
      // Those that are retracted now are no count of what was retracted.
      '# TYPE sglang:num_retracted_reqs gauge',
      `sglang:num_retracted_reqs ${n % 3}`,
      '',
    ].join('\n'),
  )
  expect(service.reconciliation.map(({ what, service: there }) => [what, there])).toEqual([
    ['requests that succeeded', 80],
    ['prompt tokens from the cache', 240],
  ])
  expect(service.gauges.running).toEqual({ least: 5, most: 5 })
  expect(service.limit).toBe(null)
})

test.concurrent.each([
  [
    'vLLM',
    (n: number) => `vllm:request_success_total{finished_reason="stop"} ${n}
vllm:request_success_total{finished_reason="error"} ${2 * n}`,
  ],
  [
    'TensorRT-LLM',
    (n: number) => `trtllm_request_success_total{finished_reason="stop"} ${n}
trtllm_request_success_total{finished_reason="timeout"} ${2 * n}`,
  ],
  [
    'Dynamo',
    (n: number) => `dynamo_frontend_requests_total{status="success"} ${n}
dynamo_frontend_requests_total{status="error",error_type="internal"} ${2 * n}`,
  ],
])(
  'requests that %s counts as ended with an error are no successes',
  { tags: 'whole' },
  async (kind, samples) => {
    const { service } = await runBeside((n) => {
      const family = samples(0).split('{')[0]
      return `# TYPE ${family} counter\n${samples(n)}\n`
    })
    expect(service.sources[0]!.kind).toBe(kind)
    expect(service.reconciliation).toEqual([
      { what: 'requests that succeeded', client: 80, service: 80, verdict: 'equal', cause: null },
    ])
  },
)

test.concurrent('two replicas with addresses of their own add up, and a GPU exporter gives power and energy', {
  tags: 'whole',
}, async ({ onTestFinished }) => {
  let answered = 0
  const exposing = async (text: () => string) => {
    const target = await startTarget((_, response) => answerMetrics(response, text()))
    onTestFinished(() => target.close())
    return `${target.baseUrl}/metrics`
  }
  const target = await startTarget((_, response) => {
    answered++
    answerChat(response)
  })
  onTestFinished(() => target.close())
  const replica = (share: () => number, cache: number) => () =>
    expositionOf({
      // The series of a replica appear with its first request.
      counters: share() === 0 ? {} : { 'vllm:request_success_total': share() },
      gauges: { 'vllm:num_requests_running': 2, 'vllm:kv_cache_usage_perc': cache },
    })
  const from = await Promise.all([
    exposing(replica(() => Math.ceil(answered / 2), 0.25)),
    exposing(replica(() => Math.floor(answered / 2), 0.75)),
    exposing(() =>
      [
        '# TYPE DCGM_FI_DEV_GPU_UTIL gauge',
        'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a"} 40',
        'DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b"} 90',
        '# TYPE DCGM_FI_DEV_POWER_USAGE gauge',
        'DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a"} 300.5',
        'DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-b"} 399.5',
        '# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter',
        `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-a"} ${9e9 + 4000 * answered}`,
        `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="1",UUID="GPU-b"} ${7e9 + 1000 * answered}`,
        '',
      ].join('\n'),
    ),
  ])
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(phase, `metrics: { from: ${JSON.stringify(from)} }`)
    const { runId } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    const store = await openStore(dbPath)
    const { service } = await summarise(store, runId, defaultContract)
    store.close()
    expect(service!.sources.map(({ kind, restartsUs }) => [kind, restartsUs])).toEqual([
      ['vLLM', []],
      ['vLLM', []],
      ['DCGM', []],
    ])
    expect(service!.reconciliation).toEqual([
      { what: 'requests that succeeded', client: 80, service: 80, verdict: 'equal', cause: null },
    ])
    expect(service!.gauges).toEqual({
      running: { least: 4, most: 4 },
      cacheUse: { least: 0.25, most: 0.75 },
      gpuUse: { least: 0.4, most: 0.9 },
      gpuPower: { least: 700, most: 700 },
    })
    expect([service!.gpuEnergyJ, service!.gpuEnergyPerTokenJ]).toEqual([400, 2.5])
    expect(serviceLines(service)).toContain(
      'energy of the GPUs over the whole run 0.4 kJ, 2.5 J for each output token',
    )
  })
})

test.concurrent('a scenario without metrics reads none', { tags: 'whole' }, async () => {
  const { service, rows } = await runBeside(vllm, '')
  expect([service, rows]).toEqual([null, [{ n: 0 }]])
})

test.concurrent('the mean TTFT is explained by its parts, and the queue by the limit that is met', {
  tags: 'whole',
}, async ({ onTestFinished }) => {
  const values = (seconds: number, n: number) => Array.from({ length: n }, () => seconds)
  let answered = 0
  const target = await startTarget((request, response) => {
    if (request.url === '/metrics') {
      answerMetrics(
        response,
        expositionOf({
          gauges: { 'vllm:num_requests_waiting': 4, 'vllm:kv_cache_usage_perc': 0.95 },
          histograms: {
            'vllm:time_to_first_token_seconds': values(0.05, answered),
            'vllm:request_queue_time_seconds': values(0.03, answered),
            'vllm:request_prefill_time_seconds': values(0.02, answered),
          },
        }),
      )
      return
    }
    answered++
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    setTimeout(() => {
      const choice = { index: 0, delta: { content: 'a' }, finish_reason: 'stop' }
      response.write(`data: ${JSON.stringify({ id: 'c', choices: [choice] })}\n\n`)
      response.end('data: [DONE]\n\n')
    }, 60)
  })
  onTestFinished(() => target.close())
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(phase, 'metrics: { every: 200ms }', ', stream: true')
    const { runId } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    const store = await openStore(dbPath)
    const { service } = await summarise(store, runId, defaultContract)
    store.close()
    expect(service!.ttft).toMatch(
      /^TTFT mean \d+ ms: 30 ms in the queue, 20 ms prefill, \d+ ms outside the service\.$/,
    )
    expect(service!.limit).toBe(
      'Up to 4 requests waited in the service, and its KV cache was 95 % full: the cache is the limit.',
    )
    expect(service!.times.queueTime).toMatchObject({ p95: { from: 0, to: 300_000 } })
  })
})

/** A run of streams, each of which states these times in its last chunk. */
async function runOfStreams(statedOf: (n: number) => object) {
  let n = 0
  const target = await startTarget((_request, response) => {
    const last = { id: 'c', choices: [], ...statedOf(n++) }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    setTimeout(() => {
      const choice = { index: 0, delta: { content: 'a' }, finish_reason: 'stop' }
      response.write(`data: ${JSON.stringify({ id: 'c', choices: [choice] })}\n\n`)
      response.end(`data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`)
    }, 60)
  })
  try {
    return await withStorePath(async (dbPath) => {
      const scenario = chatScenario(phase, '', ', stream: true')
      const { runId } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
      const store = await openStore(dbPath)
      const { service } = await summarise(store, runId, defaultContract)
      store.close()
      return service
    })
  } finally {
    target.close()
  }
}

test.concurrent('answers that state their times explain TTFT where no metrics are exposed', {
  tags: 'whole',
}, async () => {
  const service = await runOfStreams((n) =>
    n % 4 === 3
      ? {}
      : { metrics: { queue_time_ms: 20, time_to_first_token_ms: 30, generation_time_ms: 0 } },
  )
  expect(service).toMatchObject({
    sources: [],
    reconciliation: [],
    answers: { answers: 60, of: 80, queueUs: 20_000, prefillUs: 30_000, decodeUs: 0 },
  })
  expect(serviceLines(service)).toEqual([
    expect.stringMatching(
      /^TTFT mean \d+ ms: 20 ms in the queue, 30 ms prefill, [\d.]+ ms outside the service \(60 of 80 answers state it\)\.$/,
    ),
  ])
})

test.concurrent('a queue that answers do not state is not said to be empty', {
  tags: 'whole',
}, async () => {
  const service = await runOfStreams(() => ({ timings: { prompt_ms: 30, predicted_ms: 1 } }))
  expect(service!.answers).toMatchObject({ answers: 80, of: 80, queueUs: null })
  expect(service!.ttft).toMatch(
    /^TTFT mean \d+ ms: 30 ms prefill, [\d.]+ ms in a queue or outside the service \(answers state it\)\.$/,
  )
})

test.concurrent('parts that are more than the client measured explain nothing', {
  tags: 'whole',
}, async () => {
  const service = await runOfStreams(() => ({
    metrics: { queue_time_ms: 9000, time_to_first_token_ms: 30 },
  }))
  expect([service!.answers?.queueUs, service!.ttft]).toEqual([9_000_000, null])
})

test.concurrent('an address without metrics is named, the run goes on, and the key stays with its host', {
  tags: 'whole',
}, async ({ onTestFinished }) => {
  const asked: (string | undefined)[] = []
  const other = await startTarget((request, response) => {
    asked.push(request.headers.authorization)
    response.writeHead(401).end()
  })
  const target = await startTarget((request, response) => {
    if (request.url === '/metrics') {
      asked.push(request.headers.authorization)
      if (request.headers.authorization === undefined) response.writeHead(401).end()
      else answerMetrics(response, expositionOf(vllm(0)))
    } else answerChat(response)
  })
  onTestFinished(() => {
    other.close()
    target.close()
  })
  await withStorePath(async (dbPath) => {
    let found: unknown = null
    const more = `metrics: { from: ['${other.baseUrl}/metrics', auto] }`
    await run(chatScenario(phase, more), {
      baseUrl: target.baseUrl,
      dbPath,
      keys,
      onMetrics: (all) => {
        found = all
      },
    })
    expect(found).toMatchObject({
      sources: [{ kind: 'vLLM', foundBy: 'auto', needsKey: true }],
      missing: [{ url: `${other.baseUrl}/metrics`, reason: 'status 401' }],
    })
    expect(asked.slice(0, 3)).toEqual([undefined, undefined, `Bearer ${key}`])
  })
})
