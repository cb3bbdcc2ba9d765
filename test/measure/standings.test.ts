import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { flags } from '../../src/attempt/flags.ts'
import { streamedTokens, streams, textUs } from '../../src/measure/row-sql.ts'
import { standings } from '../../src/measure/standings.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../report/attempts.ts'
import { inEmptyStore } from '../store/opened.ts'

/** What SQL over `attempts` gives for each of these rows. */
function valuesOf(sql: string, changes: readonly Partial<AttemptRow>[]) {
  return inEmptyStore(async (store) => {
    await enterEndedRun(store)
    await appendAttempts(
      store,
      changes.map((change, slot) => attempt(slot, change)),
    )
    const rows = await store.rows<{ value: unknown }>(
      `SELECT ${sql} AS value FROM attempts ORDER BY slot`,
    )
    return rows.map(({ value }) => value)
  })
}

const stream = {
  ...{ streamed: 1, events: 9, contentEvents: 8, firstContentUs: 1_000, lastContentUs: 5_000 },
  completionTokens: 20,
} as const

test('a success of a chat is empty without any content of a stream, or with 0 tokens in a body', async () => {
  const bare = { firstContentUs: null }
  const rows = [
    { ...bare, events: 1 },
    { ...bare, events: 0, completionTokens: 0 },
    { ...bare, events: 0, completionTokens: 20 },
    { ...bare, events: 0, completionTokens: null },
    { ...stream, completionTokens: 0 },
    { ...bare, events: 1, endpoint: 'embeddings' },
    { ...bare, events: 1, outcome: 'timeout' },
  ] as const
  expect(await valuesOf(standings.empty.sql, rows)).toEqual([
    ...[true, true, false, false, false, false, false],
  ])
})

test('tokens of reasoning are hidden if a stream of content counts them and does not hold them', async () => {
  const hidden = { ...stream, reasoningTokens: 5 }
  const rows = [
    hidden,
    { ...hidden, flags: flags.reasoning },
    { ...hidden, streamed: 0 },
    { ...hidden, contentEvents: 0 },
    { ...hidden, reasoningTokens: 0 },
    { ...hidden, reasoningTokens: null },
    { ...hidden, outcome: 'timeout' },
  ] as const
  expect(await valuesOf(standings.hidden_tokens.sql, rows)).toEqual([
    ...[5, null, null, null, null, null, null],
  ])
})

test('content events estimate the tokens of a stream that reports none', async () => {
  const silent = { ...stream, completionTokens: null }
  const rows = [
    silent,
    stream,
    { ...silent, contentEvents: 0 },
    { ...silent, outcome: 'timeout' },
  ] as const
  expect(await valuesOf(standings.estimated_tokens.sql, rows)).toEqual([8, null, null, null])
  expect(await valuesOf(standings.unreported.sql, rows)).toEqual([true, false, true, false])
})

test('a stream whose streamed tokens are unknown has no TPOT', async () => {
  const silent = { ...stream, completionTokens: null }
  const choices = { ...stream, choices: 2, textUs: null }
  const rows = [
    silent,
    stream,
    choices,
    { ...choices, completionTokens: 2 },
    { ...choices, textUs: 7_000 },
    { ...silent, lastContentUs: 1_000 },
    { ...silent, firstContentUs: null },
    { ...silent, streamed: 0 },
    { ...silent, outcome: 'timeout' },
  ] as const
  expect(await valuesOf(standings.untimed.sql, rows)).toEqual([
    ...[true, false, true, false, false, false, false, false, false],
  ])
})

test('an attempt counts by how its scenario meant it to end', async () => {
  const rows = [
    {},
    { outcome: 'not_sent' },
    { outcome: 'aborted' },
    { outcome: 'http_error' },
    { outcome: 'http_error', expects: '429' },
    { outcome: 'ok', expects: '429' },
    { outcome: 'timeout' },
  ] as const
  const told = async (name: keyof typeof standings) => {
    const values = await valuesOf(standings[name].sql, rows)
    return values.map((value) => (value === true ? 1 : 0)).join('')
  }
  expect(await told('was_sent')).toBe('1011111')
  expect(await told('on_purpose')).toBe('0010100')
  expect(await told('succeeded')).toBe('1000000')
  expect(await told('judged')).toBe('1001001')
  expect(await told('failed')).toBe('0001011')
})

test('an answer is examined, correct or wrong only where its step says what it must hold', async () => {
  const rows = [
    { answer: 'correct' },
    { answer: 'unchecked' },
    { answer: 'no-json' },
    { answer: null },
    { answer: 'correct', outcome: 'timeout' },
  ] as readonly Partial<AttemptRow>[]
  expect(await valuesOf(standings.examined.sql, rows)).toEqual([true, true, true, false, false])
  expect((await valuesOf(standings.wrong.sql, rows)).map(Boolean)).toEqual([
    ...[false, false, true, false, false],
  ])
})

test('the tokens of a stream are those of its text: without hidden reasoning and without images', async () => {
  const rows = [
    stream,
    { ...stream, reasoningTokens: 5 },
    { ...stream, reasoningTokens: 5, flags: flags.reasoning },
    { ...stream, reasoningTokens: 5, contentEvents: 0 },
    { ...stream, reasoningTokens: 0, outputImageTokens: 3 },
    { ...stream, flags: flags.textInPart },
  ]
  expect(await valuesOf(streamedTokens, rows)).toEqual([20, 15, 20, null, 17, null])
})

test('several answers of a chat are streams of their own, and the blocks of messages are one', async () => {
  const rows = [
    { ...stream, choices: 3, textUs: 7_000 },
    { ...stream, choices: 1, textUs: 7_000 },
    { ...stream, choices: null },
    { ...stream, endpoint: 'messages', choices: 3, textUs: 7_000 },
  ] as const
  expect(await valuesOf(streams, rows)).toEqual([3, 1, 1, 1])
  expect(await valuesOf(textUs, rows)).toEqual([7_000, 4_000, 4_000, 4_000])
})
