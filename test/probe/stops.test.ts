import { expect, test } from 'vitest'
import { type Heard, probeFake } from './fake-api.ts'

const only = ['G-04', 'G-16'] as const
const isShort = ({ body }: Heard) => body.max_tokens === 1

test('served answers show the price of minimal answers and the reasons why answers end', async () => {
  const { answers } = await probeFake({ stoppedText: '' }, only)
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
      { stoppedText: '', status: (heard) => (isShort(heard) ? status : 200) },
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

test('without served messages, the reasons why they end are not askable', async () => {
  const { answers } = await probeFake(
    { status: ({ endpoint }) => (endpoint === 'messages' ? 404 : 200) },
    only,
  )
  expect(answers['G-04']).toEqual({
    status: 'not-askable',
    why: 'no message was served: statuses 404, 404, 404',
  })
})

test('a service that refuses whitespace stop sequences is asked without them', async () => {
  const isBlank = (stop: unknown) => typeof stop === 'string' && stop.trim() === ''
  const { answers } = await probeFake(
    { status: ({ body }) => ([body.stop_sequences].flat().some(isBlank) ? 400 : 200) },
    only,
  )
  expect(answers['G-04']).toMatchObject({ is: { 'stop sequence': 'stop_sequence' } })
})

test.each([
  ['H', 'excluded'],
  ['He', 'included'],
])('a text that ends in %j has its stop %s', async (stoppedText, stop) => {
  const { answers } = await probeFake({ stoppedText }, ['G-33'])
  expect(answers['G-33']).toMatchObject({ status: 'answered', is: { chat: stop, messages: stop } })
})

test('a service that ignores stop sequences leaves their questions open', async () => {
  const { answers } = await probeFake({ ignoresStops: true }, ['G-33'])
  const open = ['included', 'excluded']
  expect(answers['G-33']).toMatchObject({ is: {}, between: { chat: open, messages: open } })
  expect(answers['G-04']).toMatchObject({ is: { 'natural end': 'end_turn' } })
  expect(answers['G-04']).not.toHaveProperty(['is', 'stop sequence'])
})
