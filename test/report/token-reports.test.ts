import { afterAll, beforeAll, expect, test } from 'vitest'
import { flags } from '../../src/attempt/flags.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { prepareScope } from '../../src/report/scope.ts'
import { tokenNotes } from '../../src/report/summary/figures.ts'
import { markdownSummary } from '../../src/report/summary/markdown.ts'
import type { RunSummary } from '../../src/report/summary/shape.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { terminalSummary } from '../../src/report/summary/terminal.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { openStore, type Store } from '../store/opened.ts'
import { attempt, enterEndedRun } from './attempts.ts'
import { launchText } from './launch-text.ts'

const stream = {
  step: 'stream',
  streamed: 1,
  events: 22,
  contentEvents: 20,
  completionTokens: null,
  totalTokens: null,
}
let store: Store
let summary: RunSummary

beforeAll(async () => {
  store = await openStore(':memory:')
  await enterEndedRun(store)
  await appendAttempts(store, [
    ...Array.from({ length: 66 }, (_, slot) => attempt(slot)),
    ...Array.from({ length: 139 }, (_, at) => attempt(66 + at, stream)),
    // Neither a failure nor a list of models has tokens to report.
    attempt(205, { ...stream, outcome: 'broken' }),
    attempt(206, { step: 'models', endpoint: 'models', completionTokens: null }),
  ])
  summary = await summarise(store, 'a', defaultContract)
})
afterAll(() => store.close())

test('a summary counts the answers that report tokens, and estimates the others by content events', () => {
  expect(summary.all).toMatchObject({
    completionTokens: 1320,
    tokenReports: { answers: 205, reported: 66, estimated: 2780 },
  })
  const none = { inPart: 0, hidden: null, hiddenIn: 0 }
  const [chat, models, streams] = summary.steps
  expect(chat!.tokenReports).toEqual({ ...none, answers: 66, reported: 66, estimated: null })
  expect(models!.tokenReports).toEqual({ ...none, answers: 0, reported: 0, estimated: null })
  expect(streams!.tokenReports).toEqual({ ...none, answers: 139, reported: 0, estimated: 2780 })
})

test('tokens are shown by part, and a part that no answer reports is not 0', async () => {
  const [chat] = summary.steps
  expect(chat!.tokenParts).toEqual({
    ...{ inputUncached: 660, cacheRead: null, cacheWritten: null },
    ...{ outputVisible: 1320, reasoning: null },
  })
  const parted = await openStore(':memory:')
  await enterEndedRun(parted)
  await appendAttempts(parted, [
    attempt(0),
    attempt(1, {
      ...{
        promptTokens: 9000,
        cachedTokens: 6000,
        cacheWriteTokens: 2000,
        cacheWrite1hTokens: 500,
      },
      ...{ completionTokens: 700, reasoningTokens: 640 },
    }),
  ])
  const told = await summarise(parted, 'a', defaultContract)
  parted.close()
  expect(told.all.tokenParts).toEqual({
    ...{ inputUncached: 510, cacheRead: 6000, cacheWritten: 2500 },
    ...{ outputVisible: 80, reasoning: 640 },
  })
  expect(terminalSummary(told)).toContain(
    'tokens in   uncached 510   cache read 6,000   cache written 2,500\ntokens out  visible 80   reasoning 640\n',
  )
  const text = terminalSummary({ ...summary, all: chat! })
  expect(text).toContain('tokens in   uncached 660   cache read -   cache written -\n')
})

const words =
  '1,320 output tokens, reported by 66 of 205 answers. The streams among the others had 2,780 content events, an estimate of their tokens. Set include_usage: true in the step to request the counts.'

test('terminal and Markdown show this count with the remedy', () => {
  const terminal = terminalSummary(summary)
  expect(terminal.replace(/\s+/g, ' ')).toContain(words)
  expect(Math.max(...terminal.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  expect(markdownSummary(summary)).toContain(words)
})

test('answers without any token report have no token count', () => {
  const [, , streams] = summary.steps
  const told = terminalSummary({ ...summary, all: streams!, steps: [] }).replace(/\s+/g, ' ')
  expect(told).toContain('None of 139 answers reported its tokens. The streams among them had')
})

test('nothing is noted about token reports if every answer has one', () => {
  const [chat] = summary.steps
  expect(terminalSummary({ ...summary, all: chat!, steps: [] })).not.toContain('answers.')
})

test('the launch page notes token reports at its tokens', async () => {
  await prepareScope(store, { runIds: ['a'], timeZone: 'UTC' })
  const page = (await launchText(store)).replace(/\s+/g, ' ')
  expect(page).toContain('by 66 of 205 answers')
  expect(page).toContain('2,780 content events')
})

test('tokens that streams counted and did not hold are noted, with what TPOT makes of them', async () => {
  const store = await openStore(':memory:')
  await enterEndedRun(store)
  const times = { firstContentUs: 100_000, lastContentUs: 290_000, events: 22, contentEvents: 20 }
  const thinks = { ...stream, ...times, completionTokens: 200, reasoningTokens: 180 }
  await appendAttempts(store, [
    attempt(0, thinks),
    attempt(1, { ...thinks, flags: flags.textInPart }),
    attempt(2, { ...thinks, flags: flags.reasoning }),
  ])
  const { all } = await summarise(store, 'a', defaultContract)
  expect(all.tokenReports).toMatchObject({ hidden: 360, hiddenIn: 2, inPart: 1 })
  // 19 gaps of 20 tokens, and 199 of 200.
  expect(all.metrics.tpot).toMatchObject({ n: 2, minUs: 190_000 / 199, maxUs: 10_000 })
  expect(tokenNotes(all)).toEqual([
    '360 of the output tokens are reasoning that 2 streams counted and did not hold: TPOT leaves them out, and output tokens/s has them.',
    'TPOT of 1 stream is not known, because an unknown part of the counted tokens was streamed.',
  ])
  store.close()
})
