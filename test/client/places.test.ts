import { describe, expect, test } from 'vitest'
import { DocumentReader } from '../../src/client/document/document.ts'
import { done, event, stopped, stream } from './answers.ts'
import { send } from './asking.ts'
import { places } from './places.ts'

function read(reader: DocumentReader, document: object): void {
  const bytes = Buffer.from(JSON.stringify(document))
  expect(reader.read(bytes, 0, bytes.length)).toBe(true)
}

/** Parts in which other members than the text say what it is, or whose text is an object. */
const typedParts: typeof places = [
  [
    'a part whose type is last, after others',
    {
      content: [
        { type: 'text', text: 'Hi' },
        { text: 'hm', type: 'thinking' },
      ],
    },
    'reasoning',
  ],
  [
    'a part of a part',
    { content: [{ type: 'thinking', content: [{ type: 'text', text: 'hm' }], text: 'so' }] },
    'reasoning',
  ],
  [
    'a call whose arguments are an object',
    { message: { tool_calls: [{ function: { name: 'f', arguments: { a: 'long enough' } } }] } },
    'text',
  ],
]

test.each(places)(
  '%s is read as what it is, by a walk and by its shape',
  (_where, document, holds) => {
    const reader = new DocumentReader()
    for (let again = 0; again < 3; again++) {
      read(reader, document)
      expect([again, reader.hasText, reader.hasReasoning]).toEqual([
        again,
        holds !== 'nothing',
        holds === 'reasoning',
      ])
      expect([reader.isError, reader.isComplaint, reader.unknown.start]).toEqual([false, false, -1])
    }
  },
)

test.each([...places, ...typedParts])(
  '%s has as many bytes of text and of reasoning by a walk as by its shape',
  (_where, document, holds) => {
    const reader = new DocumentReader()
    const bytes = Array.from({ length: 4 }, () => {
      read(reader, document)
      return [reader.textBytes, reader.thoughtBytes]
    })
    const [first] = bytes
    expect(bytes).toEqual([first, first, first, first])
    expect(first![1]! > 0).toBe(holds === 'reasoning')
  },
)

test('documents of all places, read in turn by one reader, are not confused', () => {
  const reader = new DocumentReader()
  for (let round = 0; round < 4; round++) {
    for (const [where, document, holds] of places) {
      for (let again = 0; again < 2; again++) {
        read(reader, document)
        expect([where, reader.hasText]).toEqual([where, holds !== 'nothing'])
      }
    }
  }
})

const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, ...more }] })}\n\n`

describe('a member of a delta that no format has', () => {
  test('is counted and named, and is no text', async () => {
    const { origin } = await stream(
      chunk({ role: 'assistant', content: '' }),
      chunk({ musing: 'a' }),
      chunk({ musing: '' }),
      chunk({ musing: 'b', mood: ['c'] }),
      chunk({ content: 'd' }, stopped),
      done,
    )
    const { columns } = await send(origin, { stream: true })
    expect(columns).toMatchObject({
      outcome: 'ok',
      contentEvents: 1,
      unknownEvents: 2,
      unknownMember: 'musing',
    })
  })

  test.each([
    ['a part of a list', { content: [{ type: 'poem', verses: ['a'] }] }, 'verses'],
    ['an object', { drawing: { strokes: 3 } }, 'drawing'],
    ['an escaped name', { 'mu\u0001\n': 'a' }, 'mu\u0001\n'],
  ])('is also named in %s', async (_what, delta, name) => {
    const { origin } = await stream(chunk(delta), chunk({ content: 'd' }, stopped), done)
    const { columns } = await send(origin, { stream: true })
    expect([columns.unknownEvents, columns.unknownMember]).toEqual([1, name])
  })

  test.each([
    ['null', { musing: null }],
    ['empty', { musing: '', mood: [], state: {} }],
    ['a number', { score: 3 }],
    ['true', { final: true }],
  ])('that is %s says nothing', async (_what, delta) => {
    const { origin } = await stream(chunk(delta), chunk({ content: 'd' }, stopped), done)
    const { columns } = await send(origin, { stream: true })
    expect([columns.unknownEvents, columns.unknownMember]).toEqual([0, null])
  })

  test('in the messages format is named, too', async () => {
    const { origin } = await stream(
      event('content_block_delta', { index: 0, delta: { type: 'ode_delta', ode: 'x' } }),
      event('message_delta', { delta: { stop_reason: 'end_turn' } }),
      event('message_stop', {}),
    )
    const { columns } = await send(origin, { endpoint: 'messages', stream: true })
    expect(columns).toMatchObject({ outcome: 'ok', unknownEvents: 1, unknownMember: 'ode' })
  })
})

describe('an event of Responses that repeats the answer', () => {
  const delta = event('response.output_text.delta', { delta: 'Hi' })
  const whole = event('response.output_text.done', { text: 'Hi' })
  const completed = event('response.completed', {
    response: {
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }],
    },
  })

  test('is not a second text', async () => {
    const { origin } = await stream(delta, delta, whole, completed)
    const { columns } = await send(origin, { endpoint: 'responses', stream: true })
    expect(columns).toMatchObject({ outcome: 'ok', contentEvents: 2, finishReason: 'completed' })
  })

  test('is the text where nothing came before it', async () => {
    for (const events of [[whole, completed], [completed]]) {
      const { origin } = await stream(...events)
      const { columns } = await send(origin, { endpoint: 'responses', stream: true })
      expect(columns).toMatchObject({ outcome: 'ok', contentEvents: 1 })
      expect(columns.firstContentUs).not.toBe(null)
    }
  })
})
