import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import type { Attempt } from '../../../src/client/row/attempt.ts'
import { StepCounters } from '../../../src/run/count/attempt-counts.ts'
import { Examiner, type Standing } from '../../../src/run/expect/examiner.ts'
import { type AnswerVerdict, correct, unchecked } from '../../../src/run/expect/judge.ts'
import type { OpenRow, RowWriter } from '../../../src/run/record/row-writer.ts'
import type { Flight } from '../../../src/run/send/flight.ts'

/** The counts after one success of this standing is judged so, and whether its trial was told that it misses. */
async function settled(standing: Standing, verdict: AnswerVerdict) {
  const { port1, port2 } = new MessageChannel()
  const counters = new StepCounters()
  if (standing !== 'missed') counters[standing]++
  const missed: number[] = []
  const phase = {
    countersOf: () => counters,
    trial: { disappointed: (slot: number) => missed.push(slot) },
  }
  const plan = { index: 0, step: { endpoint: 'chat' } }
  await new Promise<void>((resolve) => {
    const examiner = new Examiner(port1, 'a', { judge() {} } as unknown as RowWriter, resolve)
    const attempt = { captured: null, rawBody: null, completionTokens: 1 } as unknown as Attempt
    const flight = { phase, plan, slot: 7, retry: 0 } as unknown as Flight
    examiner.examine(flight, attempt, {} as OpenRow, standing)
    port2.once('message', () => port2.postMessage([{ id: 0, verdict, shown: '' }]))
  })
  port1.close()
  const { good, maybeGood } = counters
  return { good, maybeGood, missed }
}

const wrong: AnswerVerdict = { answer: 'contains', why: 'no 42' }

test.each([
  ['good', correct, { good: 1, maybeGood: 0, missed: [] }],
  ['good', wrong, { good: 0, maybeGood: 0, missed: [7] }],
  ['good', unchecked('too long'), { good: 0, maybeGood: 1, missed: [7] }],
  ['maybeGood', correct, { good: 0, maybeGood: 1, missed: [] }],
  ['maybeGood', wrong, { good: 0, maybeGood: 0, missed: [7] }],
  ['maybeGood', unchecked('too long'), { good: 0, maybeGood: 1, missed: [] }],
  ['missed', wrong, { good: 0, maybeGood: 0, missed: [] }],
] as const)(
  'a request that counts as %s, with the verdict %o',
  async (standing, verdict, counts) => {
    expect(await settled(standing, verdict)).toEqual(counts)
  },
)
