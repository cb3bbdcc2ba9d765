import { expect, test } from 'vitest'
import { type Heard, probeFake } from './fake-api.ts'

const only = ['G-04', 'G-16'] as const
const isShort = ({ body }: Heard) => body.max_tokens === 1

test('what next to nothing costs, and why answers end, is told by served answers', async () => {
  const { answers } = await probeFake({}, only)
  expect(answers['G-04']).toMatchObject({
    is: {
      'natural end': 'end_turn',
      'token limit': 'max_tokens',
      'stop sequence': 'stop_sequence',
    },
  })
  expect(answers['G-16']).toMatchObject({ is: { 'one token': 'charged', 'no token': 'charged' } })
})

test.each([400, 503])(
  'an answer of one token that is refused by %i is not free',
  async (status) => {
    const { answers } = await probeFake(
      { status: (heard) => (isShort(heard) ? status : 200) },
      only,
    )
    expect(answers['G-16']).toMatchObject({
      status: 'ambiguous',
      is: { 'no token': 'charged' },
      between: { 'one token': ['charged', 'free'] },
    })
    expect(answers['G-04']).toMatchObject({
      status: 'answered',
      is: { 'natural end': 'end_turn', 'stop sequence': 'stop_sequence' },
    })
    expect(answers['G-04']).not.toHaveProperty(['is', 'token limit'])
  },
)

test('where messages are not served, nothing is known of why they end', async () => {
  const { answers } = await probeFake(
    { status: ({ endpoint }) => (endpoint === 'messages' ? 404 : 200) },
    only,
  )
  expect(answers['G-04']).toEqual({
    status: 'not-askable',
    why: 'no message was served: statuses 404, 404, 404',
  })
})

test('a service that refuses stop sequences of whitespace is asked with none', async () => {
  const isBlank = (stop: unknown) => typeof stop === 'string' && stop.trim() === ''
  const { answers } = await probeFake(
    { status: ({ body }) => ([body.stop_sequences].flat().some(isBlank) ? 400 : 200) },
    only,
  )
  expect(answers['G-04']).toMatchObject({ is: { 'stop sequence': 'stop_sequence' } })
})
