import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { flags } from '../../src/attempt/flags.ts'
import { AttemptClient } from '../../src/client/call/client.ts'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { answer, completion, delta, done, json, stream } from './answers.ts'
import { ask, noDeadlines, now, send } from './asking.ts'
import { response, scriptedServer } from './scripted-server.ts'

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
    expect(closedUs!).toBeGreaterThanOrEqual(doneUs!)
  })

  test('of the messages format is read by the names of that format', async () => {
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

  test('that arrives in pieces is read the same', async () => {
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

  test('after a byte order mark is read as by the official client, whole or in pieces', async () => {
    const marked = `\ufeff${completion}`
    const { origin } = await answer(200, marked)
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'any', maxRetries: 0 })
    const read = await client.chat.completions.create({ model: 'svc-k2', messages: [] })
    expect(read.choices[0]!.message.content).toBe('Hi')
    const pieces = await scriptedServer(async (socket) => {
      const whole = Buffer.from(response(200, json, marked))
      // The second piece begins within the mark.
      const mark = whole.indexOf('\r\n\r\n') + 5
      for (const piece of [whole.subarray(0, mark), whole.subarray(mark)]) {
        socket.write(piece)
        await sleep(5)
      }
    })
    for (const each of [origin, pieces.origin]) {
      const { columns } = await send(each)
      expect(columns).toMatchObject({ outcome: 'ok', choices: 2, totalTokens: 9 })
    }
  })

  test.each([
    ['half a document', completion.slice(0, -5), flags.notJson],
    ['HTML', '<html></html>', flags.notJson],
    ['nothing', '', flags.notJson],
    ['only a byte order mark', '\ufeff', flags.notJson],
    ['two byte order marks', `\ufeff\ufeff${completion}`, flags.notJson],
    ['text after the document', `${completion}x`, flags.notJson],
    ['a document that is not a completion', '{"ok":true}', 0],
  ])('with status 200 and %s is not a success', async (_what, body, flag) => {
    const { origin } = await answer(200, body)
    const { columns } = await send(origin)
    expect([columns.outcome, columns.reason]).toEqual(['broken', 'malformed-body'])
    expect(columns.flags & ~(flags.captured | flags.jsonType)).toBe(flag)
  })

  const nested = `${'['.repeat(300)}${']'.repeat(300)}`

  test('nested too deeply has its own reason', async () => {
    const { origin } = await answer(200, completion.replace('"Hi"', nested))
    const { columns } = await send(origin)
    expect([columns.outcome, columns.reason]).toEqual(['broken', 'too-deep'])
    expect(columns.flags & flags.notJson).toBe(0)
  })

  test('is broken for the same reason if an event is nested too deeply', async () => {
    const deep = delta('Hi').replace('"Hi"', nested)
    const { origin } = await stream(delta('Hi'), deep, done)
    const { columns } = await send(origin, { stream: true })
    expect([columns.outcome, columns.reason, columns.events]).toEqual(['broken', 'too-deep', 3])
    expect(columns.flags & flags.notJson).toBe(0)
  })

  test.each([
    ['gzip', 'application/json', 'content-encoding-gzip'],
    ['X-GZIP', 'text/event-stream', 'content-encoding-gzip'],
    ['br', 'application/json', 'content-encoding-br'],
    ['gzip, br', 'application/json', 'content-encoding-other'],
  ])('compressed with %s as %s names its encoding', async (coding, type, reason) => {
    const { origin, requests } = await answer(200, '\x1f\x8b', {
      'Content-Type': type,
      'Content-Encoding': coding,
    })
    const { columns } = await send(origin, { stream: type !== 'application/json' })
    expect([columns.outcome, columns.reason]).toEqual(['broken', reason])
    expect(requests[0]).toContain('accept-encoding: identity\r\n')
  })

  test('with the coding identity is accepted', async () => {
    const { origin } = await answer(200, completion, { ...json, 'Content-Encoding': 'identity' })
    expect((await send(origin)).columns.outcome).toBe('ok')
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

  test('instead of a stream is broken in the chat format, and allowed in messages', async () => {
    const chat = await send((await answer(200, completion)).origin, { stream: true })
    expect([chat.columns.outcome, chat.columns.reason]).toEqual([
      'broken',
      'unexpected-content-type',
    ])
    const message = '{"type":"message","content":[],"stop_reason":"end_turn"}'
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
  ])('with %s as its body has another shape', async (_what, body, shape) => {
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

  test('with the type of an event stream is still read as an error', async () => {
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

  test('is captured if only errors are captured, and a success is not', async () => {
    const { origin } = await scriptedServer((socket, _request, index) =>
      socket.write(response(index === 0 ? 200 : 500, json, index === 0 ? completion : '{}')),
    )
    const transport = new Http1Transport({ origin, maxConnections: 1, connectTimeoutMs: 5000 })
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
        client.start(ask(), { onItl: () => {}, onEnd }, 'errors')
      })
    }
    await transport.close()
    expect(captured).toEqual([null, '{}'])
  })

  test('is never a success, whatever its body', async () => {
    for (const status of [201, 301, 400, 404, 429, 500, 503]) {
      const { columns } = await send((await answer(status, completion)).origin)
      expect([status, columns.outcome]).toEqual([status, status === 201 ? 'ok' : 'http_error'])
    }
  })
})
