import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Batch, Words } from '../../src/attempt/batch.ts'
import { flags } from '../../src/attempt/flags.ts'
import { AttemptClient } from '../../src/client/client.ts'
import { responseColumns } from '../../src/client/columns.ts'
import { openTransport } from '../../src/client/open-transport.ts'
import { defaultContract } from '../../src/contract/default.ts'
import type { AbortPoint } from '../../src/contract/request.ts'
import { ask, key, noDeadlines, now, send } from './asking.ts'
import { chunk, lastChunk, response, scriptedServer, streamHead } from './scripted-server.ts'

const json = { 'Content-Type': 'application/json' }

const completion = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'svc-k2',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'length' },
    { index: 1, message: { role: 'assistant', content: 'Ho' }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
})

const answer = (status: number, body: string, headers: Readonly<Record<string, string>> = json) =>
  scriptedServer((socket) => socket.write(response(status, headers, body)))

/** A stream of the given events, each in a write of its own. */
const stream = (...events: readonly string[]) =>
  scriptedServer(async (socket) => {
    socket.write(streamHead)
    for (const event of events) {
      await sleep(2)
      socket.write(chunk(event))
    }
    socket.write(lastChunk)
  })

const delta = (content: string, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c-9', model: 'svc-k2', choices: [{ index: 0, delta: { content }, ...more }] })}\n\n`
const done = 'data: [DONE]\n\n'
const event = (type: string, fields: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

describe('a plain body', () => {
  test('fills the row from its headers and its JSON', async () => {
    const { origin } = await answer(200, completion, {
      ...json,
      Date: 'Fri, 20 Nov 2026 11:00:00 GMT',
      'X-Credits-Remaining': '41',
      'X-RateLimit-Limit': '20',
      'X-RateLimit-Remaining': '19',
      'X-RateLimit-Reset': '12.5',
      'Access-Control-Allow-Origin': '*',
    })
    const { columns } = await send(origin)
    expect(columns).toMatchObject({
      outcome: 'ok',
      reason: null,
      status: 200,
      creditsRemaining: 41,
      rateLimit: 20,
      rateRemaining: 19,
      rateReset: 12.5,
      retryAfter: null,
      dateS: 1795172400,
      responseId: 'chatcmpl-1',
      responseModel: 'svc-k2',
      finishReason: 'length',
      choices: 2,
      promptTokens: 7,
      completionTokens: 2,
      totalTokens: 9,
      events: 0,
      bytesIn: completion.length,
      flags: flags.jsonType | flags.allowOrigin | flags.captured,
    })
    const { dispatchedUs, sentUs, headersUs, doneUs, closedUs } = columns
    expect(sentUs!).toBeGreaterThanOrEqual(dispatchedUs!)
    expect(headersUs!).toBeGreaterThan(sentUs!)
    expect(doneUs!).toBeGreaterThanOrEqual(headersUs!)
    expect(doneUs).toBe(closedUs)
  })

  test('of the messages format is read by its own names', async () => {
    const { origin } = await answer(
      200,
      JSON.stringify({
        id: 'msg-1',
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'Hi' },
        ],
        model: 'svc-k2-thinking',
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 3, output_tokens: 4 },
      }),
    )
    const { columns } = await send(origin, { endpoint: 'messages' })
    expect(columns).toMatchObject({
      outcome: 'ok',
      responseId: 'msg-1',
      responseModel: 'svc-k2-thinking',
      finishReason: 'end_turn',
      choices: 2,
      promptTokens: 3,
      completionTokens: 4,
      totalTokens: null,
    })
    expect(columns.flags & flags.reasoning).toBe(flags.reasoning)
  })

  test('that comes in pieces is the same', async () => {
    const { origin } = await scriptedServer(async (socket) => {
      const whole = response(200, json, completion)
      for (let at = 0; at < whole.length; at += 40) {
        socket.write(whole.slice(at, at + 40))
        await sleep(1)
      }
    })
    const { columns } = await send(origin)
    expect(columns).toMatchObject({ outcome: 'ok', choices: 2, totalTokens: 9 })
  })

  test.each([
    ['half a document', completion.slice(0, -5), flags.notJson],
    ['HTML', '<html></html>', flags.notJson],
    ['nothing', '', flags.notJson],
    ['something behind the document', `${completion}x`, flags.notJson],
    ['a document that is no completion', '{"ok":true}', 0],
    ['an error', '{"error":{"message":"m","type":"t","code":"c"}}', flags.bodyContradictsStatus],
  ])('with status 200 and %s is not a success', async (_what, body, flag) => {
    const { origin } = await answer(200, body)
    const { columns } = await send(origin)
    expect([columns.outcome, columns.reason]).toEqual(['broken', 'malformed-body'])
    expect(columns.flags & ~(flags.captured | flags.jsonType)).toBe(flag)
  })

  test('in Latin-1 is not a success', async () => {
    const { origin } = await scriptedServer((socket) => {
      const body = '{"choices":[{"message":{"content":"\xe9"}}]}'
      socket.write(
        Buffer.from(
          `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
          'latin1',
        ),
      )
    })
    const { columns } = await send(origin)
    expect([columns.outcome, columns.reason]).toEqual(['broken', 'malformed-body'])
    expect(columns.flags & flags.notUtf8).toBe(flags.notUtf8)
  })

  test('where a stream was asked for is broken in the chat format, and may be in messages', async () => {
    const chat = await send((await answer(200, completion)).origin, { stream: true })
    expect([chat.columns.outcome, chat.columns.reason]).toEqual([
      'broken',
      'unexpected-content-type',
    ])
    const message = '{"type":"message","content":[],"usage":{"input_tokens":1,"output_tokens":0}}'
    const messages = await send((await answer(200, message)).origin, {
      endpoint: 'messages',
      stream: true,
    })
    expect(messages.columns.outcome).toBe('ok')
  })
})

describe('an error', () => {
  test('in the chat shape gives its code and type', async () => {
    const { origin } = await answer(
      429,
      '{"error":{"message":"slow","type":"rate_limit_error","code":"rate_limit_exceeded"}}',
      { ...json, 'Retry-After': '3' },
    )
    const { columns } = await send(origin)
    expect(columns).toMatchObject({
      outcome: 'http_error',
      reason: null,
      status: 429,
      errorShape: 'chat',
      errorCode: 'rate_limit_exceeded',
      errorType: 'rate_limit_error',
      retryAfter: 3,
    })
  })

  test('in the messages shape has no code', async () => {
    const { origin } = await answer(
      401,
      '{"type":"error","error":{"type":"authentication_error","message":"no"}}',
    )
    const { columns } = await send(origin, { endpoint: 'messages' })
    expect(columns).toMatchObject({
      status: 401,
      errorShape: 'messages',
      errorCode: null,
      errorType: 'authentication_error',
    })
  })

  test.each([
    ['HTML', '<html>', 'other'],
    ['nothing', '', 'other'],
    ['another shape', '{"detail":"x"}', 'other'],
    ['a bare sentence', '{"error":"x"}', 'other'],
  ])('with %s in its body has another shape', async (_what, body, shape) => {
    const { origin } = await answer(503, body)
    const { columns } = await send(origin)
    expect([columns.outcome, columns.errorShape]).toEqual(['http_error', shape])
  })

  test('that carries a completion contradicts itself', async () => {
    const { origin } = await answer(500, completion)
    const { columns } = await send(origin)
    expect(columns.outcome).toBe('http_error')
    expect(columns.flags & flags.bodyContradictsStatus).toBe(flags.bodyContradictsStatus)
  })

  test('dressed as an event stream is read as the error that it is', async () => {
    const { origin } = await answer(
      429,
      '{"error":{"message":"m","type":"rate_limit_error","code":"rate_limit_exceeded"}}',
      { 'Content-Type': 'text/event-stream' },
    )
    const { columns } = await send(origin, { stream: true })
    expect(columns).toMatchObject({
      outcome: 'http_error',
      errorCode: 'rate_limit_exceeded',
      events: 0,
    })
  })

  test('is captured where only errors are, and a success is not', async () => {
    const { origin } = await scriptedServer((socket, _request, index) =>
      socket.write(response(index === 0 ? 200 : 500, json, index === 0 ? completion : '{}')),
    )
    const transport = openTransport({ origin, maxConnections: 1, connectTimeoutMs: 5000 })
    const client = new AttemptClient({
      transport,
      contract: defaultContract,
      now,
      deadlines: noDeadlines,
    })
    const captured: (string | null)[] = []
    for (let at = 0; at < 2; at++) {
      await new Promise<void>((resolve) => {
        const onEnd = (ended: { captured: { body: string } | null }) => {
          captured.push(ended.captured?.body ?? null)
          resolve()
        }
        client.start(ask(), { onGap: () => {}, onEnd }, 'errors')
      })
    }
    await transport.close()
    expect(captured).toEqual([null, '{}'])
  })

  test('never counts as a success, whatever its status', async () => {
    for (const status of [201, 301, 400, 404, 429, 500, 503]) {
      const { columns } = await send((await answer(status, completion)).origin)
      expect([status, columns.outcome]).toEqual([status, status === 201 ? 'ok' : 'http_error'])
    }
  })
})

describe('a stream', () => {
  test('is stamped at its first text, and its empty first delta does not count', async () => {
    const { origin } = await scriptedServer(async (socket) => {
      socket.write(streamHead + chunk(delta('')))
      await sleep(30)
      socket.write(chunk(delta('a')))
      await sleep(30)
      socket.write(chunk(delta('b')) + chunk(done) + lastChunk)
    })
    const { columns, events } = await send(origin, { stream: true })
    expect(columns).toMatchObject({
      outcome: 'ok',
      events: 4,
      contentEvents: 2,
      contentReads: 2,
      doneMarks: 1,
      choices: 1,
      responseId: 'c-9',
    })
    expect(columns.firstContentUs! - columns.firstEventUs!).toBeGreaterThan(25_000)
    expect(columns.itlMaxUs).toBe(columns.lastContentUs! - columns.firstContentUs!)
    expect(columns.itlMaxUs!).toBeGreaterThan(25_000)
    expect(events.at(-1)?.data).toBe('[DONE]')
  })

  test('that arrives in one read has one arrival time, however its chunks are cut', async () => {
    const { origin } = await scriptedServer((socket) =>
      socket.write(
        streamHead +
          ['a', 'b', 'c'].map((text) => chunk(delta(text))).join('') +
          chunk(done) +
          lastChunk,
      ),
    )
    const { columns } = await send(origin, { stream: true })
    expect(columns).toMatchObject({ outcome: 'ok', contentEvents: 3, contentReads: 1, itlMaxUs: 0 })
  })

  test.each([
    [
      'at the end',
      delta('a') +
        `data: {"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":5,"total_tokens":7}}\n\n`,
    ],
    [
      'inside a choice',
      delta('a', { usage: { prompt_tokens: 2, completion_tokens: 5, total_tokens: 7 } }),
    ],
    [
      'growing',
      delta('a', { usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 } }) +
        delta('b', { usage: { prompt_tokens: 2, completion_tokens: 5, total_tokens: 7 } }),
    ],
  ])('with usage %s counts its last word', async (_where, events) => {
    const { origin } = await stream(events, done)
    const { columns } = await send(origin, { stream: true })
    expect([columns.promptTokens, columns.completionTokens, columns.totalTokens]).toEqual([2, 5, 7])
  })

  test('without usage has none, and not zero', async () => {
    const { origin } = await stream(delta('a'), done)
    const { columns } = await send(origin, { stream: true })
    expect([columns.promptTokens, columns.totalTokens]).toEqual([null, null])
  })

  test.each([
    ['without [DONE]', [delta('a')], 'no-done', 0],
    ['with [done] in small letters', [delta('a'), 'data: [done]\n\n'], 'no-done', flags.notJson],
    [
      'with an error in it',
      [delta('a'), 'data: {"error":{"message":"m","type":"api_error","code":"x"}}\n\n', done],
      'error-in-stream',
      flags.errorInStream,
    ],
    [
      'with an event that is no JSON',
      [delta('a'), 'data: {"choices"\n\n', done],
      'malformed-body',
      flags.notJson,
    ],
  ])('%s is not a success', async (_what, events, reason, flag) => {
    const { origin } = await stream(...events)
    const { columns } = await send(origin, { stream: true })
    expect([columns.outcome, columns.reason]).toEqual(['broken', reason])
    expect(columns.flags & (flags.notJson | flags.errorInStream)).toBe(flag)
  })

  test('with something after [DONE] is flagged, and a second [DONE] counted', async () => {
    const { origin } = await stream(delta('a'), done, done)
    const { columns } = await send(origin, { stream: true })
    expect([columns.outcome, columns.doneMarks]).toEqual(['ok', 2])
    expect(columns.flags & flags.afterDone).toBe(flags.afterDone)
  })

  test('cut off in the middle is closed-early', async () => {
    const { origin } = await scriptedServer((socket) => socket.end(streamHead + chunk(delta('a'))))
    const { columns } = await send(origin, { stream: true })
    expect(columns).toMatchObject({
      outcome: 'broken',
      reason: 'closed-early',
      contentEvents: 1,
      doneUs: null,
    })
  })

  test('where none was asked for is broken', async () => {
    const { origin } = await stream(delta('a'), done)
    const { columns } = await send(origin)
    expect([columns.outcome, columns.reason]).toEqual(['broken', 'unexpected-content-type'])
  })

  test('of the messages format ends with message_stop', async () => {
    const { origin } = await stream(
      event('message_start', {
        message: {
          id: 'm-1',
          model: 'svc-k2',
          content: [],
          usage: { input_tokens: 9, output_tokens: 1 },
        },
      }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('ping', {}),
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'a' } }),
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'b' } }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
      event('message_stop', {}),
    )
    const { columns } = await send(origin, { endpoint: 'messages', stream: true })
    expect(columns).toMatchObject({
      outcome: 'ok',
      events: 8,
      contentEvents: 2,
      doneMarks: 1,
      choices: 1,
      responseId: 'm-1',
      responseModel: 'svc-k2',
      finishReason: 'end_turn',
      promptTokens: 9,
      completionTokens: 2,
      totalTokens: null,
    })
  })

  test('of the messages format with an error event is not a success', async () => {
    const { origin } = await stream(
      event('error', { error: { type: 'api_error', message: 'm' } }),
      event('message_stop', {}),
    )
    const { columns } = await send(origin, { endpoint: 'messages', stream: true })
    expect(columns).toMatchObject({
      outcome: 'broken',
      reason: 'error-in-stream',
      errorShape: 'messages',
      errorType: 'api_error',
    })
  })

  test('tells each gap between its content events', async () => {
    const { origin } = await stream(delta('a'), delta('b'), delta(''), delta('c'), done)
    const transport = openTransport({ origin, maxConnections: 1, connectTimeoutMs: 5000 })
    const client = new AttemptClient({
      transport,
      contract: defaultContract,
      now,
      deadlines: noDeadlines,
    })
    const gaps: number[] = []
    const span = await new Promise<number>((resolve) => {
      client.start(ask({ stream: true }), {
        onGap: (gapUs) => gaps.push(gapUs),
        onEnd: (ended) => resolve(ended.lastContentUs - ended.firstContentUs),
      })
    })
    await transport.close()
    expect(gaps).toHaveLength(2)
    expect(gaps[0]! + gaps[1]!).toBeCloseTo(span, 3)
  })
})

describe('a client that leaves on purpose', () => {
  const points: readonly (readonly [AbortPoint, string, object])[] = [
    [{ at: 'before-headers' }, 'before-headers', { status: null, events: 0 }],
    [{ at: 'after-headers' }, 'after-headers', { status: 200, events: 0 }],
    [{ at: 'first-event' }, 'first-event', { status: 200, events: 1 }],
    [{ at: 'after-events', events: 2 }, 'after-events', { status: 200, events: 2 }],
    [{ at: 'before-done' }, 'before-done', { events: 3, doneMarks: 0, finishReason: 'stop' }],
    [{ at: 'after-us', us: 60_000 }, 'after-us', { doneMarks: 0 }],
  ]
  test.each(points)('%o', async (abort, reason, row) => {
    const left = Promise.withResolvers<void>()
    const { origin } = await scriptedServer(async (socket) => {
      await sleep(20)
      socket.write(streamHead)
      for (const text of ['a', 'b']) {
        await sleep(15)
        socket.write(chunk(delta(text)))
      }
      await sleep(30)
      // The end is far off for the client that leaves after a time, however slow this machine is.
      if (abort.at === 'after-us') await left.promise
      socket.write(chunk(delta('', { finish_reason: 'stop' })))
      await left.promise
      socket.write(chunk(done) + lastChunk)
    })
    const { columns } = await send(origin, { stream: true, abort })
    left.resolve()
    expect(columns).toMatchObject({ outcome: 'aborted', reason, ...row })
    expect(columns.sentUs).not.toBe(null)
    if (abort.at === 'after-us') {
      expect(columns.closedUs! - columns.sentUs!).toBeGreaterThanOrEqual(60_000)
    }
  })

  test('finds the client ready for the next attempt', async () => {
    const { origin } = await scriptedServer((socket) =>
      socket.write(streamHead + chunk(delta('a')) + chunk(done) + lastChunk),
    )
    const transport = openTransport({ origin, maxConnections: 1, connectTimeoutMs: 5000 })
    const client = new AttemptClient({
      transport,
      contract: defaultContract,
      now,
      deadlines: noDeadlines,
    })
    const outcomes: string[] = []
    // Each attempt is started inside the end of the one before, as a closed loop does.
    await new Promise<void>((resolve) => {
      const next = (left: number) => {
        const abort: AbortPoint | null = left % 2 === 0 ? { at: 'first-event' } : null
        client.start(ask({ stream: true, abort }), {
          onGap: () => {},
          onEnd: (ended) => {
            outcomes.push(`${ended.outcome}:${ended.events}`)
            if (left === 0) resolve()
            else next(left - 1)
          },
        })
      }
      next(5)
    })
    await transport.close()
    expect(outcomes).toEqual(['ok:2', 'aborted:1', 'ok:2', 'aborted:1', 'ok:2', 'aborted:1'])
  })
})

describe('a deadline that passes is a row, censored at the deadline', () => {
  const inUs = (name: keyof typeof noDeadlines) => ({ ...noDeadlines, [name]: 50_000 })

  test('connect', async () => {
    const silent = await scriptedServer(() => {})
    const { columns } = await send(
      silent.origin.replace('http:', 'https:'),
      {},
      { deadlines: inUs('connectUs') },
    )
    expect(columns).toMatchObject({
      outcome: 'timeout',
      reason: 'connect',
      sentUs: null,
      status: null,
    })
    const waited = columns.closedUs! - columns.dispatchedUs!
    expect(waited).toBeGreaterThanOrEqual(50_000)
  })

  test('first byte', async () => {
    const { origin } = await scriptedServer(() => {})
    const { columns } = await send(origin, {}, { deadlines: inUs('firstByteUs') })
    expect(columns).toMatchObject({ outcome: 'timeout', reason: 'first-byte', status: null })
    expect(columns.closedUs! - columns.sentUs!).toBeGreaterThanOrEqual(50_000)
  })

  test('idle, armed anew by each read', async () => {
    const { origin } = await scriptedServer(async (socket) => {
      socket.write(streamHead)
      for (let at = 0; at < 6; at++) {
        await sleep(60)
        socket.write(chunk(delta('a')))
      }
    })
    // Shorter than the whole stream, longer than any gap of a machine under load.
    const deadlines = { ...noDeadlines, idleUs: 300_000 }
    const { columns } = await send(origin, { stream: true }, { deadlines })
    expect(columns).toMatchObject({
      outcome: 'timeout',
      reason: 'idle',
      contentEvents: 6,
      doneUs: null,
    })
    expect(columns.closedUs! - columns.lastContentUs!).toBeGreaterThanOrEqual(300_000)
  })

  test('total, whatever still comes', async () => {
    const { origin } = await scriptedServer(async (socket) => {
      socket.write(streamHead)
      while (!socket.destroyed) {
        await sleep(10)
        socket.write(chunk(delta('a')))
      }
    })
    const { columns } = await send(origin, { stream: true }, { deadlines: inUs('totalUs') })
    expect(columns).toMatchObject({ outcome: 'timeout', reason: 'total' })
    expect(columns.closedUs! - columns.dispatchedUs!).toBeGreaterThanOrEqual(50_000)
  })
})

describe('a failure before the response', () => {
  test('of the connection is broken and was never sent', async () => {
    const { columns } = await send('http://127.0.0.1:1')
    expect(columns).toMatchObject({ outcome: 'broken', reason: 'connect-refused', sentUs: null })
    expect(columns.closedUs).not.toBe(null)
  })

  test('of the protocol was sent', async () => {
    const { origin } = await scriptedServer((socket) => socket.write('what?\r\n'))
    const { columns } = await send(origin)
    expect(columns).toMatchObject({ outcome: 'broken', reason: 'protocol', status: null })
    expect(columns.sentUs).not.toBe(null)
  })
})

describe('the key', () => {
  test('that a service echoes reaches no column and no captured body', async () => {
    const { origin } = await scriptedServer((socket) =>
      socket.write(
        response(
          401,
          { ...json, 'X-Echo': key },
          JSON.stringify({
            id: key,
            model: `m ${key}`,
            error: { message: `bad ${key}`, type: `t-${key}`, code: key },
          }),
        ),
      ),
    )
    const { columns, captured } = await send(origin)
    expect(JSON.stringify([columns, captured])).not.toContain(key)
    expect(columns.errorCode).toBe('[key]')
    expect(captured!.body).toContain('bad [key]')
    expect(captured!.headers).toContain('X-Echo: [key]')
  })

  test('cut in two by the bound of a capture does not show its beginning', async () => {
    const { origin } = await answer(400, `${'x'.repeat(90)}${key}${'y'.repeat(100)}`)
    const { captured } = await send(origin, {}, { captureBytes: 98 })
    expect(captured).toMatchObject({ body: `${'x'.repeat(90)}[key]yyy`, truncated: true })
  })
})

test('the columnar row and the object hold the same', async () => {
  const { origin } = await answer(200, completion, { ...json, 'X-Credits-Remaining': '41' })
  const transport = openTransport({ origin, maxConnections: 1, connectTimeoutMs: 5000 })
  const client = new AttemptClient({
    transport,
    contract: defaultContract,
    now,
    deadlines: noDeadlines,
  })
  const [batch, words] = [new Batch(), new Words()]
  batch.rows = 1
  const object = await new Promise<ReturnType<(typeof batch)['push']> | object>((resolve) => {
    client.start(
      ask(),
      {
        onGap: () => {},
        onEnd: (ended) => {
          ended.writeTo(batch, words)
          resolve(ended.toColumns())
        },
      },
      'never',
    )
  })
  await transport.close()
  const twin = new Batch()
  const twinWords = new Words()
  // The words of the writer first, so that both count them alike.
  for (const word of words.takeNew()) twinWords.codeOf(word)
  twin.rows = 1
  twin.push({ ...filler, ...(object as object) } as never, twinWords)
  for (const name of responseColumns) {
    const width = name === 'responseId' ? 2 : 1
    expect([name, ...batch.columns[name].slice(width, 2 * width)]).toEqual([
      name,
      ...twin.columns[name].slice(width, 2 * width),
    ])
  }
})

/** The request half, which the client does not write. */
const filler = {
  runId: 'r',
  slot: 0,
  retry: 0,
  shard: 0,
  phase: 'p',
  part: 'steady',
  step: 's',
  session: null,
  turn: null,
  template: null,
  keyFp: null,
  account: null,
  endpoint: 'chat',
  streamed: 0,
  model: null,
  expects: 'ok',
  intendedUs: 0,
}
