import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { terminalSummary } from '../../src/report/summary/terminal.ts'
import { DeadlineCounter } from '../../src/run/count/token-deadlines.ts'
import { checkThreshold } from '../../src/run/judge/thresholds/check.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { parseThreshold } from '../../src/scenario/threshold.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { startRun } from '../../src/store/runs/runs.ts'
import { openStore } from '../../src/store/session/open.ts'
import { openStore as openSession } from '../store/opened.ts'
import { attempt, startOf } from './rows.ts'
import { key, startTarget, withStorePath } from './target.ts'

// Made by `get_request_level_deadline_miss_rate` of Etalon, with 100 for the first token and 10 for each next.
test.each([
  [[80], 0, 1],
  [[100], 0, 1],
  [[101], 1, 1],
  [[110], 2, 2],
  [[50, 60, 10], 0, 3],
  [[50, 61], 1, 2],
  [[500, 10, 20, 90], 52, 53],
  [[500, 5, 0, 90, 12, 10], 49, 52],
  [[80, 90, 90, 35, 10, 10, 10, 35], 22, 26],
  [[3, 5, 10, 0, 12, 0, 12, 90, 35, 35], 2, 11],
  [[250, 90, 10, 20, 5, 0, 10, 90, 10, 12, 35, 12], 39, 44],
])('waits of %j miss %d of %d deadlines', ([first, ...next], missed, all) => {
  const counter = new DeadlineCounter({ firstUs: 100, nextUs: 10 })
  // A counter is used again for the next stream.
  for (const _ of [1, 2]) {
    counter.first(first!)
    for (const wait of next) counter.next(wait)
    expect([counter.missed, counter.all]).toEqual([missed, all])
  }
})

const stream = {
  ...{ streamed: 1, intendedUs: 0, dispatchedUs: 0, sentUs: 0, doneUs: 9e5, closedUs: 9e5 },
  ...{ firstContentUs: 1000, lastContentUs: 8e5, events: 12, contentEvents: 10 },
  ...{ completionTokens: 10, deadlines: 10, missedDeadlines: 0 },
} as const

/** The figure of a threshold over streams, a second apart. */
async function check(text: string, rows: readonly Partial<AttemptRow>[]) {
  const store = await openSession(':memory:')
  await startRun(store, startOf('r'))
  await appendAttempts(
    store,
    rows.map((row, slot) => {
      const at = { intendedUs: slot * 1e6, dispatchedUs: slot * 1e6, sentUs: slot * 1e6 }
      return attempt({ ...stream, ...at, slot, ...row })
    }),
  )
  const threshold = parseThreshold(text)
  if (typeof threshold === 'string') throw new Error(threshold)
  const result = await checkThreshold(store, threshold, {
    runId: 'r',
    contract: defaultContract,
    objectives: { ttftUs: null, tpotUs: null, serviceUs: null, responseUs: null },
  })
  store.close()
  return result
}

/** One stream in fifty is not fluent, in an order without a pattern. */
const fewBad = Array.from({ length: 800 }, (_, at) => ({
  missedDeadlines: ((at + 1) ** 7 % 101) % 50 === 7 ? 4 : 0,
}))

test('a low percentile of fluidity is held or missed as a high one of the misses', {
  tags: 'whole',
}, async () => {
  const bad = fewBad.filter(({ missedDeadlines }) => missedDeadlines > 0).length
  expect(bad).toBeGreaterThan(10)
  expect(bad).toBeLessThan(30)
  const unit = { unit: 'share', samples: 800 }
  expect(await check('fluidity.p10 >= 90%', fewBad)).toMatchObject({
    ...{ ...unit, result: 'held', value: 1, interval: [1, 1] },
  })
  const p1 = await check('fluidity.p1 >= 90%', fewBad)
  expect(p1).toMatchObject({ ...unit, result: 'inconclusive', value: 0.6 })
  expect(await check('fluidity.min >= 50%', fewBad)).toMatchObject({ result: 'held', value: 0.6 })
  expect(await check('fluidity.min > 0.6', fewBad)).toMatchObject({ result: 'missed' })
  const allBad = fewBad.map(() => ({ missedDeadlines: 4 }))
  expect(await check('fluidity.p50 >= 90%', allBad)).toMatchObject({ result: 'missed', value: 0.6 })
  const mean = await check('fluidity.mean >= 99%', fewBad)
  expect(mean.value).toBeCloseTo(1 - (0.4 * bad) / 800, 10)
})

test.each([
  ['reports no tokens', { completionTokens: null }],
  ['holds two tokens in an event', { completionTokens: 11 }],
  ['has several choices', { choices: 2, textUs: 1 }],
  ['was streamed in part', { completionTokens: 11, reasoningTokens: 2 }],
  ['has no deadlines', { deadlines: null, missedDeadlines: null }],
  ['failed', { outcome: 'broken' as const }],
])('a stream that %s has no fluidity', async (_, change) => {
  const rows = fewBad.map((row) => ({ ...row, ...change }))
  expect(await check('fluidity.p50 >= 1%', rows)).toMatchObject({
    ...{ result: 'inconclusive', value: null, samples: 0 },
  })
})

test('reasoning that was counted and not streamed is no token of a stream', async () => {
  const rows = fewBad.map((row) => ({ ...row, completionTokens: 40, reasoningTokens: 30 }))
  expect(await check('fluidity.p50 >= 90%', rows)).toMatchObject({ result: 'held', samples: 800 })
})

const scenarioOf = (deadlines: string) => `
name: pace
question: Does it read well?
model: svc-k2
steps:
  chat: { endpoint: chat, stream: true, include_usage: true }
phases: [{ name: main, load: constant, rate: 20/s, max_requests: 12 }]
${deadlines}
thresholds: [fluidity.min >= 90%]
`

test('a run counts the deadlines of its streams, and says how many were kept', {
  tags: 'whole',
}, async () => {
  const chunk = (more: object) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'svc-k2', choices: [], ...more })}\n\n`
  const said = (content: string, finish: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })
  const target = await startTarget(async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const word of ['a', 'b', 'c']) {
      response.write(said(word))
      await setTimeout(100)
    }
    response.write(said('d', 'stop'))
    response.write(chunk({ usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 } }))
    response.end('data: [DONE]\n\n')
  })
  const ran = (deadlines: string) =>
    withStorePath(async (dbPath) => {
      const scenario = parseScenario(scenarioOf(deadlines), 'a.yaml', defaultContract)
      const to = { baseUrl: target.baseUrl, dbPath, keys: { default: key } }
      const { runId, thresholds } = await run(scenario, to)
      const store = await openStore(dbPath)
      try {
        const summary = await summarise(store, runId, defaultContract)
        return { threshold: thresholds[0], summary, text: terminalSummary(summary) }
      } finally {
        store.close()
      }
    })
  try {
    const slow = await ran('token_deadlines: { first: 20s, next: 10s }')
    expect(slow.threshold).toMatchObject({ result: 'held', value: 1, samples: 12 })
    expect(slow.summary.fluidity).toEqual([
      { step: 'chat', streams: 12, known: 12, deadlines: 48, missed: 0, fluent: 12 },
    ])
    expect(slow.text.replaceAll(/\s+/g, ' ')).toContain(
      'Streams of chat kept 100 % of 48 token deadlines; 12 of 12 kept 90 % or more.',
    )
    // Each gap of 100 ms misses about ten deadlines.
    const fast = await ran('token_deadlines: { first: 10ms, next: 10ms }')
    expect(fast.threshold).toMatchObject({ result: 'missed', samples: 12 })
    expect(fast.threshold!.value).toBeLessThan(0.2)
  } finally {
    target.close()
  }
})

test('a threshold on fluidity needs deadlines', () => {
  expect(() => parseScenario(scenarioOf(''), 'a.yaml', defaultContract)).toThrow(
    'fluidity is of the deadlines of tokens; name them, such as token_deadlines: { first: 1s, next: 50ms }.',
  )
  expect(() =>
    parseScenario(
      scenarioOf('token_deadlines: { first: 0ms, next: 5 }'),
      'a.yaml',
      defaultContract,
    ),
  ).toThrow(/first: expected a deadline above 0.*[\s\S]*next: expected/)
})
