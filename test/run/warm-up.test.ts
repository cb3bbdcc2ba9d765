import { MessageChannel } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { run } from '../../src/run/run.ts'
import { wantsWarmUp, warmUp } from '../../src/run/start/warm-up.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { answerChat, key, query, startTarget, withStorePath } from './target.ts'

const scenarioOf = (phase: string, step = 'chat: { endpoint: chat }', more = '') =>
  parseScenario(
    `name: a\nquestion: b\nmodel: svc-k2\n${more}\nsteps:\n  ${step}\nphases:\n  - { name: steady, ${phase} }\n`,
    'a.yaml',
    defaultContract,
  )
const fast = 'load: constant, rate: 200/s, duration: 500ms'

test.each([
  [fast, '', null, true],
  ['load: constant, rate: { from: 1/s, to: 200/s }, duration: 1s', '', null, true],
  ['load: constant, rate: 99/s, duration: 1s', '', null, false],
  ['load: concurrency, users: 500, duration: 1s', '', null, false],
  [fast, 'transport: http2', null, false],
  [fast, '', 'http://proxy:3128', false],
])('a load of %s %s by the proxy %s is warmed up: %s', (phase, more, proxy, wanted) => {
  expect(wantsWarmUp(scenarioOf(phase, undefined, more), proxy)).toBe(wanted)
})

function dataOf(step: string) {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => {
    port1.close()
    port2.close()
  })
  const shared = new SharedArrayBuffer(64)
  return {
    ...{
      runId: 'r',
      shard: 0,
      shards: 1,
      zeroNs: 0n,
      startedMs: 0,
      timeScale: 1,
      seed: 1,
      baseUrl: 'http://127.0.0.1:1',
    },
    ...{
      contract: defaultContract,
      scenario: { ...scenarioOf(fast, step), threads: 1 },
      prompts: [['Hello']],
    },
    ...{ keys: [], secrets: [], tls: {}, proxy: null, shared, recorder: port1 },
  }
}

test('a warm-up sends a thousand requests of the steps to itself, of which a busy machine loses few', async () => {
  const now = () => performance.now() * 1000
  const successes = await warmUp(dataOf('chat: { endpoint: chat, stream: true }'), now)
  expect(successes).toBeGreaterThan(900)
  expect(successes).toBeLessThanOrEqual(1000)
  expect(await warmUp(dataOf('models: { endpoint: models }'), now)).toBe(0)
})

test.each([
  'endpoint: messages, max_tokens: 5',
  'endpoint: messages, max_tokens: 5, path: /own/messages',
  'endpoint: messages, max_tokens: 5, stream: true',
  'endpoint: responses',
  'endpoint: embeddings',
])('a warm-up of %s has answers in the format of its endpoint', async (step) => {
  const now = () => performance.now() * 1000
  expect(await warmUp(dataOf(`a: { ${step} }`), now)).toBeGreaterThan(900)
})

test('a run with a warm-up sends, counts and stores only its plan', { tags: 'whole' }, async () => {
  const target = await startTarget((_, response) => answerChat(response))
  await withStorePath(async (dbPath) => {
    const { counts } = await run(scenarioOf(fast), {
      ...{ baseUrl: target.baseUrl, dbPath, keys: { default: key } },
    })
    expect([counts.planned, counts.ok, target.requests]).toEqual([100, 100, 100])
    const [rows] = await query(
      dbPath,
      'SELECT count(*) AS n, count(DISTINCT key_fp) AS keys FROM attempts',
    )
    expect(rows).toEqual({ n: 100, keys: 1 })
  })
})
