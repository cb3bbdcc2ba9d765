import { expect, test } from 'vitest'
import { streamChanges } from '../../src/price/judge/changes/streams.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf, request } from './made-requests.ts'

const model = modelOf({ price: { input: 1, output: 10 } })
const change = streamChanges.find(({ summary }) => summary.startsWith('the counts of every event'))!
const context = { atMs: 0, serviceTier: null, choices: {}, outcome: 'success', counts: {} } as const
const usage = (output: number) =>
  readUsage({ input_tokens: 100, output_tokens: output }, 'anthropic')

test('the counts of the events of a stream are added up', () => {
  const streamed = request({ eventUsages: [usage(1), usage(40)] })
  expect(change.costOf(streamed, model, usage(40), context)).not.toBeNull()
})

test('the counts of events are of the whole answer, so they are no explanation of one with several passes', () => {
  const streamed = request({ eventUsages: [usage(1), usage(40)] })
  const pass = { model: null, usage: usage(20) }
  const passes = { ...usage(40), passes: [pass, pass] } as never
  expect(change.costOf(streamed, model, passes, context)).toBeNull()
})
