import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { prepareScope } from '../../src/report/scope.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { terminalSummary } from '../../src/report/summary/terminal.ts'
import { checkThreshold } from '../../src/run/judge/thresholds/check.ts'
import { parseThreshold } from '../../src/scenario/threshold.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { openStore, type Store } from '../store/opened.ts'
import { attempt, enterEndedRun } from './attempts.ts'
import { launchText } from './launch-text.ts'

const stream = { step: 'stream', streamed: 1, events: 3 } as const
let store: Store

beforeAll(async () => {
  store = await openStore(':memory:')
  await enterEndedRun(store)
  await appendAttempts(store, [
    attempt(0),
    attempt(1, { ...stream, contentEvents: 2, firstContentUs: 1.1e6, lastContentUs: 1.2e6 }),
    // A tool call and a thought are text; a stream of role and usage alone is not.
    attempt(2, { ...stream, finishReason: 'tool_calls', contentEvents: 1, firstContentUs: 2.1e6 }),
    attempt(3, { ...stream, completionTokens: 0 }),
    attempt(4, { ...stream, completionTokens: 9 }),
    attempt(5, { completionTokens: 0 }),
    // What failed, what has no tokens by nature, and what does not say how many are no empty answers.
    attempt(6, { ...stream, outcome: 'broken', reason: 'no-done' }),
    attempt(7, { endpoint: 'models', step: 'models', completionTokens: null }),
    attempt(8, { completionTokens: null }),
  ])
})
afterAll(() => store.close())

test('an answer without text, reasoning and tool call is empty; it is no failure', {
  tags: 'whole',
}, async () => {
  const { all, steps } = await summarise(store, 'a', defaultContract)
  expect(all.counts).toMatchObject({ ok: 8, failed: 1, empty: 3 })
  expect(steps.map(({ step, counts }) => [step, counts.empty])).toEqual([
    ['chat', 1],
    ['models', 0],
    ['stream', 2],
  ])
})

test('the terminal and the page say how many answers are empty', { tags: 'whole' }, async () => {
  const made = await summarise(store, 'a', defaultContract)
  const words = '42.9 % empty answers: 3 of 7 have no text and no tool call'
  expect(terminalSummary(made)).toContain(words)
  await prepareScope(store, { runIds: ['a'], timeZone: 'UTC' })
  const page = (await launchText(store)).replace(/\s+/g, ' ')
  expect(page).toContain('3 of 7 have no text and no tool call')
})

test.each([
  ['empty.count < 3', 'missed', 3],
  ['empty.count <= 3', 'held', 3],
  ['empty < 50%', 'inconclusive', 3 / 7],
  ['stream.empty.count <= 2', 'held', 2],
] as const)('a threshold %s is %s', async (text, result, value) => {
  const threshold = parseThreshold(text)
  if (typeof threshold === 'string') throw new Error(threshold)
  const objectives = { ttftUs: null, tpotUs: null, serviceUs: null, responseUs: null }
  const scope = { runId: 'a', contract: defaultContract, objectives }
  expect(await checkThreshold(store, threshold, scope)).toMatchObject({
    result,
    value,
  })
})
