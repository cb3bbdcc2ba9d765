import { expect, test } from 'vitest'
import { nullAnswers } from '../../src/run/self-test/null-answers.ts'
import { answer, stream } from '../client/answers.ts'
import { send } from '../client/asking.ts'

const answers = nullAnswers(16)

test.each([
  ['chat', 2],
  ['messages', 2],
  ['responses', 2],
  ['embeddings', null],
] as const)('a whole null answer of %s is a success with its usage', async (endpoint, written) => {
  const { origin } = await answer(200, answers[endpoint].whole)
  const { columns } = await send(origin, { endpoint })
  expect(columns).toMatchObject({
    ...{ outcome: 'ok', promptTokens: 5, completionTokens: written },
  })
})

test.each([
  ['chat', 16],
  ['messages', 16],
  ['responses', 16],
] as const)(
  'a null stream of %s is a success with its events of text',
  async (endpoint, events) => {
    const { origin } = await stream(answers[endpoint].stream)
    const { columns } = await send(origin, { endpoint, stream: true })
    expect(columns).toMatchObject({ outcome: 'ok', contentEvents: events })
  },
)
