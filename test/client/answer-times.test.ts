import { describe, expect, test } from 'vitest'
import { answer, completion, delta, done, stopped, stream } from './answers.ts'
import { send } from './asking.ts'

const body = JSON.parse(completion) as { readonly usage: object }

/** What an answer says of its times, as its makers document it, and the columns. */
const cases: readonly (readonly [string, object, readonly (number | null)[]])[] = [
  [
    'vLLM',
    {
      metrics: {
        time_to_first_token_ms: 85.2,
        generation_time_ms: 1240.5,
        queue_time_ms: 12.3,
        mean_itl_ms: 9.1,
        tokens_per_second: 103.2,
      },
    },
    [12_300, 85_200, 1_240_500],
  ],
  [
    'vLLM without a queue, which is not one that is unknown',
    { metrics: { time_to_first_token_ms: 1, generation_time_ms: null, queue_time_ms: 0 } },
    [0, 1000, null],
  ],
  [
    'llama.cpp',
    {
      timings: {
        cache_n: 236,
        prompt_n: 1,
        prompt_ms: 30.958,
        prompt_per_token_ms: 30.958,
        prompt_per_second: 32.3,
        predicted_n: 35,
        predicted_ms: 661.064,
        predicted_per_token_ms: 18.88,
        predicted_per_second: 52.9,
      },
    },
    [null, 30_958, 661_064],
  ],
  [
    'Groq',
    { usage: { prompt_tokens: 7, queue_time: 0.25, prompt_time: 0.0015, completion_time: 1 } },
    [250_000, 1500, 1_000_000],
  ],
  ['a service without any', {}, [null, null, null]],
  [
    'times that cannot be',
    { metrics: { queue_time_ms: -1, time_to_first_token_ms: 1e300, generation_time_ms: 'long' } },
    [null, null, null],
  ],
  ['another object of this name', { metrics: [1, 2], timings: 'good' }, [null, null, null]],
]

describe.each(cases)('the times that an answer of %s states', (_, fields, expected) => {
  test('are read from a plain body', async () => {
    const { origin } = await answer(200, JSON.stringify({ ...body, ...fields }))
    const { columns } = await send(origin)
    expect([columns.queueUs, columns.prefillUs, columns.decodeUs]).toEqual(expected)
    expect(columns.promptTokens).toBe(7)
  })

  test('are read from the last chunk of a stream', async () => {
    const { origin } = await stream(
      delta('a'),
      delta('b', stopped),
      `data: ${JSON.stringify({ choices: [], ...fields })}\n\n`,
      done,
    )
    const { columns } = await send(origin, { stream: true })
    expect([columns.queueUs, columns.prefillUs, columns.decodeUs]).toEqual(expected)
    expect([columns.contentEvents, columns.outcome]).toEqual([2, 'ok'])
  })
})

test('of times that each chunk repeats, the last count', async () => {
  const chunk = (predicted_ms: number) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' } }], timings: { prompt_ms: 5, predicted_ms } })}\n\n`
  const { origin } = await stream(chunk(0), chunk(12), chunk(24.5), delta('', stopped), done)
  const { columns } = await send(origin, { stream: true })
  expect([columns.prefillUs, columns.decodeUs]).toEqual([5000, 24_500])
})
