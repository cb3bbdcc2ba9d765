import { describe, expect, test } from 'vitest'
import { flags } from '../../src/attempt/flags.ts'
import type { Endpoint } from '../../src/contract/request.ts'
import { answer, delta, done, event, stopped, stream } from './answers.ts'
import { key, send } from './asking.ts'
import { response, scriptedServer } from './scripted-server.ts'

const data = (document: unknown) => `data: ${JSON.stringify(document)}\n\n`
const ended = (reason: unknown, index = 0) =>
  data({ choices: [{ index, delta: {}, finish_reason: reason }] })

async function streamed(events: readonly string[], endpoint: Endpoint = 'chat') {
  const { origin } = await stream(...events)
  return (await send(origin, { endpoint, stream: true })).columns
}

async function plain(body: object, endpoint: Endpoint = 'chat') {
  const { origin } = await answer(200, JSON.stringify(body))
  return (await send(origin, { endpoint })).columns
}

describe('an error in a stream', () => {
  test.each([
    ['as an object', data({ error: { message: 'm', type: 't', code: 'c' } }), 't', 'c'],
    ['with a code that is a number', data({ error: { message: 'm', code: 502 } }), null, '502'],
    ['as a sentence', data({ error: 'out of memory' }), null, null],
    ['as true', data({ error: true, message: 'm' }), null, null],
    [
      'without a member error',
      data({ object: 'error', message: 'm', type: 'T', code: 500 }),
      'T',
      '500',
    ],
    ['of a web framework', data({ detail: 'Internal Server Error' }), null, null],
    ['with a code and a message', data({ code: 'Throttled', message: 'm' }), null, 'Throttled'],
    ['in a list', data([{ error: { code: 503, status: 'UNAVAILABLE' } }]), 'UNAVAILABLE', '503'],
    [
      'in a choice',
      data({ choices: [{ index: 0, error: { code: 502 }, delta: {} }] }),
      null,
      '502',
    ],
    [
      'next to a choice',
      data({
        error: { code: 'server_error' },
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      }),
      null,
      'server_error',
    ],
    ['that its event names', 'event: error\ndata: {"message":"m","code":"x"}\n\n', null, 'x'],
    ['that its event names, as text', 'event: error\ndata: overloaded\n\n', null, null],
    ['that its event names, without data', 'event: error\n\n', null, null],
    [
      'as a field',
      'error: {"code":500,"message":"m","type":"server_error"}\n\n',
      'server_error',
      '500',
    ],
    [
      'as a comment',
      ': {"error":{"type":"overloaded_error","message":"m"}}\n\n',
      'overloaded_error',
      null,
    ],
    [
      'as a line without a field',
      '{"error":{"type":"api_error","code":"x"}}\n\n',
      'api_error',
      'x',
    ],
  ])(
    '%s is not a success, even before a proper end',
    { tags: 'whole' },
    async (_how, error, type, code) => {
      const events = [delta('a'), error, ended('stop'), done]
      for (const pieces of [events, [...events.join('')]]) {
        const columns = await streamed(pieces)
        expect(columns).toMatchObject({
          outcome: 'broken',
          reason: 'error-in-stream',
          errorType: type,
          errorCode: code,
        })
        expect(columns.flags & flags.errorInStream).toBe(flags.errorInStream)
      }
    },
  )

  test.each([
    ['error: null', data({ error: null, choices: [] })],
    ['an empty error', data({ error: {}, choices: [] })],
    ['an error of empty fields', data({ error: { message: '', code: null }, choices: [] })],
    ['error: ""', data({ error: '', choices: [] })],
    ['error: false', data({ error: false, choices: [] })],
    ['a comment', ': OPENROUTER PROCESSING\n\n'],
    ['a comment about an error', ': error-free so far\n\n'],
    ['a ping', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['an event of a name that begins like error', 'event: errors\ndata: {"type":"ping"}\n\n'],
    ['a notice', data({ type: 'notice', message: 'm' })],
  ])('is not %s', async (_what, event) => {
    const columns = await streamed([delta('a'), event, ended('stop'), done])
    expect([columns.outcome, columns.errorShape]).toEqual(['ok', null])
  })
})

describe('the end of a stream', () => {
  test.each([
    ['without a reason', [delta('a'), done], 'no-finish-reason'],
    ['with null for a reason', [delta('a'), ended(null), done], 'no-finish-reason'],
    [
      'with an empty reason',
      [delta('a', { finish_reason: '' }), ended(''), done],
      'no-finish-reason',
    ],
    ['with the word null', [ended('null'), done], 'no-finish-reason'],
    ['without a choice', [data({ choices: [] }), done], 'no-finish-reason'],
    ['alone', [done], 'no-finish-reason'],
    [
      'with one choice open',
      [ended('stop'), data({ choices: [{ index: 1, delta: { content: 'b' } }] }), done],
      'no-finish-reason',
    ],
    ['with error', [delta('a'), ended('error'), done], 'generation-failed'],
    ['with abort', [ended('abort'), done], 'generation-failed'],
    ['with a network error', [ended('network_error'), done], 'generation-failed'],
    ['without resources', [ended('insufficient_system_resource'), done], 'generation-failed'],
    [
      'with an error in another choice',
      [ended('stop'), ended('error', 1), done],
      'generation-failed',
    ],
    ['without [DONE]', [ended('stop')], 'no-done'],
  ])('%s is not a success', async (_how, events, reason) => {
    const columns = await streamed(events)
    expect([columns.outcome, columns.reason]).toEqual(['broken', reason])
  })

  test.each([
    ['stop', [ended('stop'), done], 'stop'],
    ['length', [ended('length'), done], 'length'],
    ['content_filter', [ended('content_filter'), done], 'content_filter'],
    ['a word in capitals', [ended('MAX_TOKENS'), done], 'MAX_TOKENS'],
    ['a word that is not known', [ended('eos_token'), done], 'eos_token'],
    [
      'a reason before the index',
      [`data: {"choices":[{"delta":{},"finish_reason":"stop","index":0}]}\n\n`, done],
      'stop',
    ],
    ['a reason before an empty one', [ended('stop'), ended(''), done], 'stop'],
    ['two choices that end apart', [ended('length', 1), ended('stop'), done], 'stop'],
    [
      'two choices that end together',
      [
        data({
          choices: [
            { index: 1, finish_reason: 'length' },
            { index: 0, finish_reason: 'stop' },
          ],
        }),
        done,
      ],
      'stop',
    ],
    [
      'usage after it',
      [ended('stop'), data({ choices: [], usage: { prompt_tokens: 1 } }), done],
      'stop',
    ],
    ['[DONE] without a blank line', [ended('stop'), 'data: [DONE]'], 'stop'],
    ['[DONE] with one line feed', [ended('stop'), 'data: [DONE]\n'], 'stop'],
  ])('with %s is a success', async (_how, events, finishReason) => {
    const columns = await streamed(events)
    expect([columns.outcome, columns.reason, columns.finishReason]).toEqual([
      'ok',
      null,
      finishReason,
    ])
  })

  test.each([
    [
      'stop_reason',
      [event('message_delta', { delta: { stop_reason: 'end_turn' } }), event('message_stop', {})],
      null,
    ],
    [
      'no stop_reason',
      [event('message_delta', { delta: { stop_reason: null } }), event('message_stop', {})],
      'no-finish-reason',
    ],
    [
      'no message_stop',
      [event('message_delta', { delta: { stop_reason: 'end_turn' } })],
      'no-done',
    ],
    [
      'an error',
      [event('error', { error: { type: 'overloaded_error', message: 'm' } })],
      'error-in-stream',
    ],
  ])('in messages with %s', async (_how, events, reason) => {
    expect((await streamed(events, 'messages')).reason).toBe(reason)
  })

  test.each([
    ['completed', { status: 'completed' }, null, 'completed'],
    ['completed', {}, null, 'completed'],
    [
      'incomplete',
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      null,
      'max_output_tokens',
    ],
    [
      'failed',
      { status: 'failed', error: { code: 'server_error', message: 'm' } },
      'error-in-stream',
      null,
    ],
    ['failed', { status: 'failed', error: null }, 'error-in-stream', null],
    ['cancelled', { status: 'cancelled' }, 'error-in-stream', null],
  ])('in Responses of response.%s', async (type, fields, reason, finishReason) => {
    const columns = await streamed(
      [
        event('response.created', { response: { status: 'in_progress', error: null } }),
        event('response.output_text.delta', { delta: 'Hi' }),
        event(`response.${type}`, { response: fields }),
      ],
      'responses',
    )
    expect([columns.outcome, columns.reason]).toEqual([reason === null ? 'ok' : 'broken', reason])
    if (finishReason !== null) expect(columns.finishReason).toBe(finishReason)
  })
})

describe('a whole answer with status 200', () => {
  const choice = (finish_reason: unknown, index = 0) => ({
    index,
    message: { content: 'a' },
    finish_reason,
  })

  test.each([
    ['an error', { error: { message: 'm', type: 't', code: 'c' } }, 'error-in-body'],
    ['an error as text', { error: 'overloaded' }, 'error-in-body'],
    [
      'an error without a member error',
      { object: 'error', message: 'm', code: 500 },
      'error-in-body',
    ],
    ['an error of a web framework', { detail: 'Not Found' }, 'error-in-body'],
    [
      'an error next to an answer',
      { error: { code: 502 }, choices: [choice('stop')] },
      'error-in-body',
    ],
    [
      'an error in a choice',
      { choices: [{ ...choice('error'), error: { code: 502, message: 'm' } }] },
      'error-in-body',
    ],
    ['null choices', { choices: null, base_resp: { status_code: 1004 } }, 'malformed-body'],
    ['no choice', { choices: [] }, 'no-finish-reason'],
    ['no reason', { choices: [choice(null)] }, 'no-finish-reason'],
    ['one choice open', { choices: [choice('stop'), choice(null, 1)] }, 'no-finish-reason'],
    ['the reason error', { choices: [choice('error')] }, 'generation-failed'],
    [
      'the reason error for another choice',
      { choices: [choice('stop'), choice('error', 1), choice('stop', 2)] },
      'generation-failed',
    ],
  ])('and %s is not a success', async (_what, body, reason) => {
    for (const columns of [await plain(body), await plain(body)]) {
      expect([columns.outcome, columns.reason]).toEqual(['broken', reason])
    }
  })

  test.each<[Endpoint, object, string | null]>([
    ['messages', { type: 'message', content: [], stop_reason: 'end_turn' }, null],
    ['messages', { type: 'message', content: [], stop_reason: null }, 'no-finish-reason'],
    ['messages', { type: 'error', error: { type: 'api_error' } }, 'error-in-body'],
    ['responses', { status: 'completed', output: [], error: null }, null],
    [
      'responses',
      { status: 'incomplete', output: [], incomplete_details: { reason: 'max_output_tokens' } },
      null,
    ],
    [
      'responses',
      { status: 'failed', output: [], error: { code: 'server_error' } },
      'error-in-body',
    ],
    ['responses', { status: 'failed', output: [], error: null }, 'generation-failed'],
    ['responses', { status: 'in_progress', output: [] }, 'no-finish-reason'],
    ['embeddings', { data: [{ embedding: [0] }] }, null],
  ])('of %s: %j', async (endpoint, body, reason) => {
    const columns = await plain(body, endpoint)
    expect([columns.outcome, columns.reason]).toEqual([reason === null ? 'ok' : 'broken', reason])
  })

  test.each([
    ['have any sentence', { code: 0, message: 'success' }, 'ok'],
    ['be no error', { error: { message: 'm' } }, 'broken'],
  ])('of an endpoint without a format may %s', async (_what, body, outcome) => {
    const { origin } = await answer(200, JSON.stringify(body))
    const { columns } = await send(origin, { endpoint: 'other', path: '/health' })
    expect(columns.outcome).toBe(outcome)
  })
})

test('a read of a known shape finds the same ends and errors as the first read', async () => {
  const bodies = ['stop', '', 'error', 'stop', 'null', 'length'].map((finish_reason) =>
    JSON.stringify({ choices: [{ index: 0, message: { content: 'a' }, finish_reason }] }),
  )
  const { origin } = await scriptedServer((socket, _request, index) =>
    socket.write(response(200, { 'Content-Type': 'application/json' }, bodies[index % 6]!)),
  )
  const ends: (string | null)[] = []
  for (let at = 0; at < 12; at++) ends.push((await send(origin)).columns.reason)
  const round = [null, 'no-finish-reason', 'generation-failed', null, 'no-finish-reason', null]
  expect(ends).toEqual([...round, ...round])
})

test('what the service said about an error is kept, without the key', async () => {
  const said = async (body: object, status = 200) => {
    const { origin } = await answer(status, JSON.stringify(body))
    return (await send(origin)).columns.errorMessage
  }
  expect(await said({ error: { message: 'too many', code: 'x' } }, 429)).toBe('too many')
  expect(await said({ error: 'no route' }, 500)).toBe('no route')
  expect(await said({ object: 'error', message: 'engine died' })).toBe('engine died')
  expect(await said({ detail: 'Not Found' }, 404)).toBe('Not Found')
  expect(await said({ error: { message: `bad key ${key}` } }, 401)).toBe('bad key [key]')
  expect(await said({ choices: [], message: 'a greeting' }, 400)).toBe('a greeting')
  const columns = await streamed([delta('a'), data({ error: { message: 'timed out' } }), done])
  expect(columns.errorMessage).toBe('timed out')
})

test('the first chunk of a proper stream ends nothing', async () => {
  const columns = await streamed([delta('a'), delta('b', stopped), done])
  expect(columns).toMatchObject({ outcome: 'ok', contentEvents: 2, finishReason: 'stop' })
})
