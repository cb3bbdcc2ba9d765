import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { flags } from '../../src/attempt/flags.ts'
import { AttemptClient } from '../../src/client/call/client.ts'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { delta, done, event, stopped, stream } from './answers.ts'
import { ask, noDeadlines, now, send } from './asking.ts'
import { chunk, lastChunk, scriptedServer, streamHead } from './scripted-server.ts'

describe('a stream', () => {
  test('is stamped at its first text, not at its empty first delta', async () => {
    let read = Promise.withResolvers<void>()
    const { origin } = await scriptedServer(async (socket) => {
      // Each wait begins once the client has read the previous part, however late that is.
      for (const text of ['', 'a']) {
        read = Promise.withResolvers()
        socket.write((text === '' ? streamHead : '') + chunk(delta(text)))
        await read.promise
        await sleep(30)
      }
      socket.write(chunk(delta('b', stopped)) + chunk(done) + lastChunk)
    })
    const { columns, events } = await send(
      origin,
      { stream: true },
      { onEvent: () => read.resolve() },
    )
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
          ['a', 'b'].map((text) => chunk(delta(text))).join('') +
          chunk(delta('c', stopped)) +
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
  ])('with usage %s gets its token counts from there', async (_where, events) => {
    const { origin } = await stream(events, done)
    const { columns } = await send(origin, { stream: true })
    expect([columns.promptTokens, columns.completionTokens, columns.totalTokens]).toEqual([2, 5, 7])
  })

  test('takes cached tokens from an event that has nothing else', async () => {
    const cached = `data: {"choices":[],"usage":{"prompt_tokens_details":{"cached_tokens":4}}}\n\n`
    const { origin } = await stream(delta('a') + cached, done)
    const { columns } = await send(origin, { stream: true })
    expect(columns.cachedTokens).toBe(4)
  })

  test('takes its id and model from the first chunk in which they are not empty', async () => {
    const empty = `data: {"id":"","object":"","created":0,"model":"","choices":[]}\n\n`
    const named = `data: {"id":"c-7","model":"svc-k2","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n`
    const { origin } = await stream(empty, named, done)
    const { columns } = await send(origin, { stream: true })
    expect([columns.responseId, columns.responseModel]).toEqual(['c-7', 'svc-k2'])
  })

  test('without usage has null tokens, not zero', async () => {
    const { origin } = await stream(delta('a'), done)
    const { columns } = await send(origin, { stream: true })
    expect([columns.promptTokens, columns.totalTokens]).toEqual([null, null])
  })

  test.each([
    ['without [DONE]', [delta('a')], 'no-done', 0],
    ['with [done] in lower case', [delta('a'), 'data: [done]\n\n'], 'no-done', flags.notJson],
    [
      'with an error in it',
      [delta('a'), 'data: {"error":{"message":"m","type":"api_error","code":"x"}}\n\n', done],
      'error-in-stream',
      flags.errorInStream,
    ],
    [
      'with an event that is not JSON',
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

  test('is flagged if anything follows [DONE], and a second [DONE] is counted', async () => {
    const { origin } = await stream(delta('a', stopped), done, done)
    const { columns } = await send(origin, { stream: true })
    expect([columns.outcome, columns.doneMarks]).toEqual(['ok', 2])
    expect(columns.flags & flags.afterDone).toBe(flags.afterDone)
  })

  test('that is cut off is closed-early', async () => {
    const { origin } = await scriptedServer((socket) => socket.end(streamHead + chunk(delta('a'))))
    const { columns } = await send(origin, { stream: true })
    expect(columns).toMatchObject({
      outcome: 'broken',
      reason: 'closed-early',
      contentEvents: 1,
      doneUs: null,
    })
  })

  test('that was not requested is broken', async () => {
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

  test('reports each gap between its content events', async () => {
    const { origin } = await stream(delta('a'), delta('b'), delta(''), delta('c'), done)
    const transport = new Http1Transport({ origin, maxConnections: 1, connectTimeoutMs: 5000 })
    const client = new AttemptClient({
      transport,
      contract: defaultContract,
      now,
      deadlines: noDeadlines,
    })
    const gaps: number[] = []
    const span = await new Promise<number>((resolve) => {
      client.start(ask({ stream: true }), {
        onItl: (itlUs) => gaps.push(itlUs),
        onEnd: (ended) => resolve(ended.lastContentUs - ended.firstContentUs),
      })
    })
    await transport.close()
    expect(gaps).toHaveLength(2)
    expect(gaps[0]! + gaps[1]!).toBeCloseTo(span, 3)
  })
})

/** Text of a choice. */
const spoken = (index: number, content: string) => ({ index, delta: { content } })
const choices = (...all: readonly object[]) =>
  `data: ${JSON.stringify({ id: 'c-9', model: 'svc-k2', choices: all })}\n\n`

describe('a stream of several choices', () => {
  const ends = choices(...[0, 1, 2].map((index) => ({ index, delta: {}, finish_reason: 'stop' })))

  test.each([
    ['in events of their own', (text: string) => [0, 1, 2].map((at) => choices(spoken(at, text)))],
    ['in one event', (text: string) => [choices(...[0, 1, 2].map((at) => spoken(at, text)))]],
  ])('has a gap for each text of the same choice, with choices %s', async (_, say) => {
    const gaps: number[] = []
    const { origin } = await scriptedServer(async (socket) => {
      socket.write(streamHead)
      for (let at = 0; at < 6; at++) {
        if (at > 0) await sleep(20)
        socket.write(chunk(say(' word').join('')))
      }
      socket.write(chunk(ends) + chunk(done) + lastChunk)
    })
    const { columns } = await send(origin, { stream: true }, { onItl: (us) => gaps.push(us) })
    expect(columns).toMatchObject({ outcome: 'ok', choices: 3, contentReads: 6 })
    expect(gaps).toHaveLength(15)
    expect(Math.min(...gaps)).toBeGreaterThan(10_000)
    const spanUs = columns.lastContentUs! - columns.firstContentUs!
    expect(Math.abs(columns.textUs! - 3 * spanUs)).toBeLessThanOrEqual(3)
  })

  test('has the times of a choice that begins late and of one that ends early', async () => {
    const gaps: number[] = []
    const { origin } = await scriptedServer(async (socket) => {
      socket.write(streamHead)
      for (const at of [0, 0, 1, 1]) {
        socket.write(chunk(choices(spoken(at, ' word'))))
        await sleep(20)
      }
      socket.write(chunk(ends) + chunk(done) + lastChunk)
    })
    const { columns } = await send(origin, { stream: true }, { onItl: (us) => gaps.push(us) })
    expect(gaps).toHaveLength(2)
    expect(Math.abs(columns.textUs! - gaps[0]! - gaps[1]!)).toBeLessThanOrEqual(1)
  })

  test('of which one alone has text has no such times', async () => {
    const { origin } = await stream(delta('a'), delta('b', stopped), done)
    const { columns } = await send(origin, { stream: true })
    expect(columns.textUs).toBe(null)
  })
})

const usage = (completion: number, reasoning: number | null) =>
  `data: ${JSON.stringify({
    choices: [],
    usage: {
      prompt_tokens: 2,
      completion_tokens: completion,
      ...(reasoning === null ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
    },
  })}\n\n`
const thought = (text: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { reasoning_content: text } }] })}\n\n`
const messages = (block: object, more: readonly object[] = []) =>
  [
    event('message_start', {
      message: { id: 'm', model: 'm', usage: { input_tokens: 2, output_tokens: 1 } },
    }),
    event('content_block_start', { index: 0, content_block: block }),
    ...more.map((each) => event('content_block_delta', { index: 0, delta: each })),
    event('content_block_start', { index: 1, content_block: { type: 'text', text: '' } }),
    ...['Hello', ' world'].map((text) =>
      event('content_block_delta', { index: 1, delta: { type: 'text_delta', text } }),
    ),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 6 } }),
    event('message_stop', {}),
  ].join('')
const thinking = { type: 'thinking', thinking: '' }

describe('text in part', () => {
  test.each([
    [
      'all tokens are text',
      [delta('Hello'), delta(' world', stopped), usage(2, null), done],
      false,
    ],
    ['hidden reasoning has a count', [delta('Hello', stopped), usage(500, 498), done], false],
    ['hidden reasoning has no count', [delta('Hello', stopped), usage(500, null), done], true],
    [
      'the reasoning is a summary',
      [thought('I think.'), delta('Hi', stopped), usage(500, 498), done],
      true,
    ],
    [
      'the reasoning is whole',
      [thought('I think so, too.'), delta('Hi', stopped), usage(7, 5), done],
      false,
    ],
  ] as const)('is noted if %s: %#', async (_, events, isInPart) => {
    const { origin } = await stream(...events)
    const { columns } = await send(origin, { stream: true })
    expect((columns.flags & flags.textInPart) !== 0).toBe(isInPart)
  })

  test.each([
    [
      'a block of thinking without text',
      thinking,
      [{ type: 'signature_delta', signature: 'x' }],
      true,
    ],
    ['a redacted block', { type: 'redacted_thinking', data: 'x' }, [], true],
    [
      'thinking with its text',
      thinking,
      [{ type: 'thinking_delta', thinking: 'So be it.' }],
      false,
    ],
    ['no thinking', { type: 'text', text: '' }, [], false],
  ] as const)('is noted of messages with %s', async (_, block, more, isInPart) => {
    const { origin } = await stream(messages(block, more))
    for (let time = 0; time < 2; time++) {
      const { columns } = await send(origin, { endpoint: 'messages', stream: true })
      expect(columns.outcome).toBe('ok')
      expect((columns.flags & flags.textInPart) !== 0).toBe(isInPart)
    }
  })

  test.each([
    ['a summary by its name', [{ type: 'reasoning.summary', summary: 'I think it over.' }], true],
    ['a text by its name', [{ type: 'reasoning.text', text: 'I think it over.' }], false],
    ['nothing that can be read', [{ type: 'reasoning.encrypted', data: 'A'.repeat(64) }], false],
  ])('is noted if the details of reasoning are %s: %#', async (_, details, isInPart) => {
    const { origin } = await stream(
      ...Array.from(
        { length: 4 },
        () =>
          `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: '', reasoning_details: details } }] })}\n\n`,
      ),
      ...[delta('Hello', stopped), usage(30, 28), done],
    )
    const { columns } = await send(origin, { stream: true })
    expect((columns.flags & flags.textInPart) !== 0).toBe(isInPart)
  })

  test('is noted if the reasoning has fewer bytes than tokens, however long the answer is', async () => {
    const long = 'Hello world. '.repeat(60)
    const { origin } = await stream(
      thought('I think.'),
      delta(long, stopped),
      usage(600, 400),
      done,
    )
    const { columns } = await send(origin, { stream: true })
    expect((columns.flags & flags.textInPart) !== 0).toBe(true)
  })

  test('is not noted if the total says that reasoning is beside the completion, which counts as output', async () => {
    const { origin } = await stream(
      delta('Hello'),
      delta(' world', stopped),
      `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 192, completion_tokens_details: { reasoning_tokens: 180 } } })}\n\n`,
      done,
    )
    const { columns } = await send(origin, { stream: true })
    expect((columns.flags & flags.textInPart) !== 0).toBe(false)
    expect([columns.completionTokens, columns.reasoningTokens]).toEqual([182, 180])
  })

  test('is noted of each of two equal streams, whose reasoning is in parts that say so', async () => {
    const part = (text: string) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: [{ type: 'reasoning', text }] } }] })}\n\n`
    const { origin } = await stream(
      part('I think.'),
      delta('Hello world. '.repeat(60), stopped),
      usage(600, 400),
      done,
    )
    for (let time = 0; time < 2; time++) {
      const { columns } = await send(origin, { stream: true })
      expect((columns.flags & flags.textInPart) !== 0).toBe(true)
    }
  })

  test.each([
    ['more tokens than the text has bytes', 30, true],
    ['as many tokens as its text may have', 5, false],
  ])(
    'is noted by the text that came in pieces, not by its repetitions in Responses, of %s',
    async (_, tokens, isInPart) => {
      const said = { type: 'output_text', text: 'Hello' }
      const { origin } = await stream(
        event('response.output_text.delta', { delta: 'Hello' }),
        event('response.output_text.done', { text: 'Hello' }),
        event('response.content_part.done', { part: said }),
        event('response.completed', {
          response: {
            status: 'completed',
            output: [{ type: 'message', content: [said] }],
            usage: { input_tokens: 2, output_tokens: tokens },
          },
        }),
      )
      const { columns } = await send(origin, { endpoint: 'responses', stream: true })
      expect(columns).toMatchObject({ outcome: 'ok', contentEvents: 1, finishReason: 'completed' })
      expect((columns.flags & flags.textInPart) !== 0).toBe(isInPart)
    },
  )

  test('is not noted of Responses whose reasoning comes as text, and is repeated', async () => {
    const { origin } = await stream(
      event('response.reasoning_text.delta', { delta: 'I think, and think again.' }),
      event('response.reasoning_text.done', { text: 'I think, and think again.' }),
      event('response.output_text.delta', { delta: 'Hello' }),
      event('response.completed', {
        response: {
          status: 'completed',
          output: [{ type: 'reasoning', content: [{ type: 'reasoning_text', text: 'I think.' }] }],
          usage: {
            input_tokens: 2,
            output_tokens: 9,
            output_tokens_details: { reasoning_tokens: 8 },
          },
        },
      }),
    )
    const { columns } = await send(origin, { endpoint: 'responses', stream: true })
    expect((columns.flags & flags.textInPart) !== 0).toBe(false)
  })

  test('is noted of a summary of reasoning in Responses', async () => {
    const { origin } = await stream(
      event('response.reasoning_summary_text.delta', { delta: 'I think, and think again.' }),
      event('response.output_text.delta', { delta: 'Hello' }),
      event('response.completed', {
        response: {
          status: 'completed',
          usage: {
            input_tokens: 2,
            output_tokens: 9,
            output_tokens_details: { reasoning_tokens: 8 },
          },
        },
      }),
    )
    const { columns } = await send(origin, { endpoint: 'responses', stream: true })
    expect((columns.flags & flags.textInPart) !== 0).toBe(true)
  })
})
