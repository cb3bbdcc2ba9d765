import { describe, expect, test } from 'vitest'
import { flags } from '../../src/attempt/flags.ts'
import { attempt } from '../report/attempts.ts'
import { type Answered, verdictOf } from './answered.ts'
import { verdictOver } from './verdict-over.ts'

function plain(content: string, finishReason = 'stop'): string {
  return JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finishReason }],
  })
}

function streamed(...deltas: readonly string[]): string {
  return deltas
    .map((content) => ({ id: 'c', error: null, choices: [{ index: 0, delta: { content } }] }))
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join('')
}

const hello = (temperature?: number) => ({
  messages: [{ role: 'user', content: 'Hello.' }],
  ...(temperature === undefined ? {} : { temperature }),
})
const assist = 'Hello! How can I assist you today?'
const help = 'Hello! How can I help you today?'

test.each([
  [
    'the default temperature is no evidence about the text of a stream',
    undefined,
    [assist, assist],
    [help],
    'not-observed',
  ],
  ['a stream that differs once is not a failure', 0, [assist, assist], [help, assist], 'pass'],
  [
    'streams that always differ from plain answers fail',
    0,
    [assist, assist],
    [help, help, help],
    'fail',
  ],
  [
    'a stream that lost a piece fails',
    0,
    [assist, assist],
    ['Hello! How can assist you today?'],
    'fail',
  ],
  [
    'a stream that repeats a piece fails',
    0,
    [assist, assist],
    ['Hello! How can can I assist you today?'],
    'fail',
  ],
  [
    'a stream of broken characters fails',
    0,
    ['ein café hier', 'ein café hier'],
    ['two caf\ufffd here'],
    'fail',
  ],
] as const)('%s (SSE-05)', async (_, temperature, plains, streams, expected) => {
  const asked = hello(temperature)
  const verdict = await verdictOf('SSE-05', [
    ...plains.map((text) => ({ asked, body: plain(text) })),
    ...streams.map((text) => ({ asked: { ...asked, stream: true }, body: streamed(text) })),
  ])
  expect(verdict.verdict).toBe(expected)
})

test('chunks without an error are judged even if an error key is present (SSE-03)', async () => {
  const body = streamed('a').replace('"index":0,', '')
  expect(await verdictOf('SSE-03', [{ asked: hello(), body }])).toMatchObject({
    verdict: 'fail',
    observed: 'index is missing',
  })
})

test('chunks of one stream have one id, and the first may have none (SSE-03)', {
  tags: 'whole',
}, async () => {
  const chunk = (id: string) =>
    `data: ${JSON.stringify({ id, choices: [{ index: 0, delta: { content: 'a' } }] })}\n\n`
  const of = (...ids: string[]) =>
    verdictOf('SSE-03', [{ asked: hello(), body: `${ids.map(chunk).join('')}data: [DONE]\n\n` }])
  expect(await of('', 'x', 'x')).toEqual({ verdict: 'pass', observations: 1 })
  for (const ids of [
    ['x', 'y'],
    ['x', ''],
    ['x', '', 'x'],
    ['', 'x', ''],
  ])
    expect(await of(...ids)).toMatchObject({
      verdict: 'fail',
      observed: 'another id than the first chunk',
    })
  expect(await of('', '', 'x')).toMatchObject({
    verdict: 'pass',
    note: '1 of 1: several chunks before the first with an id',
  })
  expect(await of('', '', '')).toMatchObject({
    verdict: 'pass',
    note: '1 of 1: no chunk has an id, other than an empty one',
  })
})

test.each([
  ['a line end alone', '\n'],
  ['nothing', ''],
  ['a comment after a line end', '\n: bye\n'],
])('a last event that ends with %s has no blank line (SSE-02)', async (_, end) => {
  const body = `${streamed('a')}data: [DONE]${end}`
  expect(await verdictOf('SSE-02', [{ asked: hello(), body }])).toMatchObject({
    verdict: 'fail',
    observed: 'no blank line after the last event',
  })
})

test.each([
  ['line feeds', '\n\n'],
  ['carriage returns', '\r\r'],
  ['both', '\r\n\r\n'],
  ['a comment after a blank line', '\n\n: bye\n'],
  ['many line ends', '\n\n\n\n'],
])('a last event that ends with %s is whole (SSE-02)', async (_, end) => {
  const body = `${streamed('a')}: keep-alive\n\ndata: [DONE]${end}`
  expect(await verdictOf('SSE-02', [{ asked: hello(), body }])).toEqual({
    verdict: 'pass',
    observations: 1,
  })
})

test.each([
  ['a list', '[1]', 'a chunk that is an array'],
  ['a text', '"x"', 'a chunk that is a string'],
  ['null', 'null', 'a chunk that is null'],
  ['a choice of number -1', '{"id":"c","choices":[{"index":-1,"delta":{}}]}', 'index is -1'],
])('%s in place of a chunk fails (SSE-03)', async (_, data, observed) => {
  const body = `${streamed('a')}data: ${data}\n\ndata: [DONE]\n\n`
  expect(await verdictOf('SSE-03', [{ asked: hello(), body }])).toMatchObject({
    verdict: 'fail',
    observed,
  })
})

test.each([
  ['SSE-03', 'its end alone', 'data: [DONE]\n\n'],
  ['SSE-03', 'an error alone', 'data: {"error":{"message":"no"}}\n\ndata: [DONE]\n\n'],
  ['SSE-02', 'comments', ': hello\n\n'],
])('%s judges no stream of %s', async (rule, _, body) => {
  const stream = { streamed: 1, flags: flags.sseType }
  const row = { ...stream, outcome: 'broken', reason: 'no-finish-reason' } as const
  expect((await verdictOf(rule, [{ asked: hello(), body, row }])).verdict).toBe('not-observed')
})

describe('chunks as large providers send them (SSE-03)', () => {
  const severity = { hate: { filtered: false, severity: 'safe' } }
  const said = { id: 'c', choices: [{ index: 0, delta: { content: 'a' } }] }
  const ofPrompt = [{ prompt_index: 0, content_filter_results: severity }]
  const ofText = {
    ...{ index: 0, finish_reason: null, content_filter_results: severity },
    content_filter_offsets: { check_offset: 1, start_offset: 1, end_offset: 9 },
  }
  const of = (...chunks: readonly object[]) =>
    verdictOf('SSE-03', [
      {
        asked: hello(),
        body: `${chunks.map((each) => `data: ${JSON.stringify({ id: '', ...each })}\n\n`).join('')}data: [DONE]\n\n`,
      },
    ])

  test.each([
    [
      'filters of the prompt, with empty choices',
      [{ choices: [], prompt_filter_results: ofPrompt }, said],
      null,
    ],
    [
      'filters of the prompt, without choices',
      [{ prompt_filter_results: ofPrompt }, said],
      '1 of 1: a first chunk without choices, which holds no text',
    ],
    [
      'filters of the prompt, with choices of null',
      [{ choices: null, prompt_filter_results: ofPrompt }, said],
      '1 of 1: a first chunk without choices, which holds no text',
    ],
    [
      'a first choice without a delta',
      [{ choices: [{ index: 0 }] }, said],
      '1 of 1: a choice without a delta',
    ],
    [
      'a first choice with a delta of null',
      [{ choices: [{ index: 0, delta: null }] }, said],
      '1 of 1: a choice without a delta',
    ],
    [
      'filters of the text after it',
      [said, { choices: [ofText] }, said],
      '1 of 1: a choice without a delta, but with results of content filters',
    ],
    [
      'filters of the text after it, with a delta of null',
      [said, { choices: [{ ...ofText, delta: null }] }, said],
      '1 of 1: a choice without a delta, but with results of content filters',
    ],
    ['usage with an empty id', [said, { choices: [], usage: { total_tokens: 3 } }], null],
    [
      'usage with an empty id and an empty choice',
      [
        said,
        { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { total_tokens: 3 } },
        {
          choices: [{ index: 0, delta: { role: 'assistant', content: '', tool_calls: [] } }],
          usage: { total_tokens: 3 },
        },
      ],
      null,
    ],
  ] as const)('%s pass, with a note if they lack something', async (_, chunks, note) => {
    const verdict = await of(...chunks)
    expect(verdict).toMatchObject({ verdict: 'pass' })
    expect('note' in verdict ? verdict.note : null).toBe(note)
  })

  test.each([
    ['a later chunk without choices', [said, { id: 'c' }], 'choices is missing'],
    ['a later chunk with choices of null', [said, { id: 'c', choices: null }], 'choices is null'],
    [
      'a last choice without a delta',
      [said, { id: 'c', choices: [{ index: 0, finish_reason: 'stop' }] }],
      'delta is missing',
    ],
    [
      'a later choice with a delta of null',
      [said, { id: 'c', choices: [{ index: 0, delta: null }] }],
      'delta is null',
    ],
    [
      'a call of a tool with an empty id',
      [said, { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 't' }] } }] }],
      'another id than the first chunk',
    ],
    [
      'a text with an empty id beside results of filters',
      [said, { choices: [{ ...ofText, delta: { content: 'b' } }] }],
      'another id than the first chunk',
    ],
  ] as const)('%s fails', async (_, chunks, observed) => {
    expect(await of(...chunks)).toMatchObject({ verdict: 'fail', observed })
  })
})

const repeat = (stop: string) => ({
  messages: [{ role: 'user', content: 'Repeat after me: one\ntwo three' }],
  stop,
})

test.each([
  ['a whitespace stop sequence may end the text', repeat('\n'), 'one\n', {}, 'pass'],
  ['text after a stop sequence fails', repeat('\n'), 'one\ntwo', {}, 'fail'],
  [
    'an answer cut at the default length did not reach its stop sequence',
    repeat('two'),
    'o n e',
    { finishReason: 'length', completionTokens: 1_024 },
    'not-observed',
  ],
  [
    'an answer cut below any limit fails',
    repeat('two'),
    'o n e',
    { finishReason: 'length', completionTokens: 20 },
    'fail',
  ],
] as const)('%s (CHAT-07)', async (_, asked, text, row, expected) => {
  const verdict = await verdictOf('CHAT-07', [{ asked, body: plain(text), row }])
  expect(verdict.verdict).toBe(expected)
})

test('two answers to the same Idempotency-Key may share a message id (MSG-01)', async () => {
  const body = JSON.stringify({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'svc-k2' },
    ...{ content: [{ type: 'text', text: 'Hi' }], usage: { input_tokens: 1, output_tokens: 1 } },
  })
  const twice = (headers: object) => {
    const one = { asked: hello(), headers, body, row: { endpoint: 'messages' } }
    return verdictOf('MSG-01', [one, one])
  }
  expect(await twice({ 'idempotency-key': 'k-1' })).toEqual({ verdict: 'pass', observations: 2 })
  expect(await twice({})).toMatchObject({ verdict: 'fail' })
})

test('one response that was cut off is inconclusive, a second one is a failure (LIM-04)', {
  tags: 'whole',
}, async () => {
  const cut: Answered = {
    ...{ asked: hello(), body: streamed('a') },
    row: { outcome: 'broken', reason: 'reset', sentUs: 0, closedUs: 14e6 },
  }
  expect(await verdictOf('LIM-04', [cut])).toMatchObject({
    verdict: 'inconclusive',
    why: 'cut after 14 s (reset): the way may have broken it, too; a second one would tell',
  })
  expect(await verdictOf('LIM-04', [cut, cut])).toMatchObject({ verdict: 'fail', observations: 2 })
})

test('an unknown model that is served under its own name is not a substitution (CHAT-03)', async () => {
  expect(
    (
      await verdictOver('CHAT-03', [
        attempt(0, { expects: 'unknown-model', responseModel: 'no-such-model' }),
      ])
    ).verdict,
  ).toBe('not-observed')
})

test('a token count far above the length of the prompt is no evidence about limits (LIM-01, LIM-03)', {
  tags: 'whole',
}, async () => {
  const row = { promptTokens: 400_000, completionTokens: 1_000 }
  const words = 'word '.repeat(90_000)
  const sent = (content: string) => [
    { asked: { messages: [{ role: 'user', content }] }, body: plain('Hi'), row },
  ]
  expect((await verdictOf('LIM-01', sent('Hello.'))).verdict).toBe('not-observed')
  expect((await verdictOf('LIM-03', sent('Hello.'))).verdict).toBe('not-observed')
  expect((await verdictOf('LIM-01', sent(words))).verdict).toBe('fail')
  expect((await verdictOf('LIM-03', sent(words))).verdict).toBe('fail')
})

test('a 404 is about the model only if its format served another request (MODEL-04)', {
  tags: 'whole',
}, async () => {
  const asked = { model: 'svc-k2', messages: [{ role: 'user', content: 'Hi' }] }
  const missing = { outcome: 'http_error', status: 404 } as const
  const body = JSON.stringify({ error: { message: 'nothing here', code: null } })
  const lost: Answered = { asked, body, row: missing }
  expect((await verdictOf('MODEL-04', [lost])).verdict).toBe('not-observed')
  const served: Answered = { asked: { ...asked, model: 'svc-k2.5' }, body: plain('Hi') }
  expect(
    await verdictOf('MODEL-04', [lost, { ...served, row: { model: 'svc-k2.5' } }]),
  ).toMatchObject({ verdict: 'fail', observed: 'svc-k2 not found on chat' })
})

const stopped = (text: string): Answered => ({ asked: repeat('two'), body: plain(text) })

test('stop sequences are kept in all texts or in none (CHAT-07)', { tags: 'whole' }, async () => {
  const [kept, dropped] = [stopped('one\ntwo'), stopped('one')]
  expect((await verdictOf('CHAT-07', [kept, kept])).verdict).toBe('pass')
  expect((await verdictOf('CHAT-07', [dropped, dropped])).verdict).toBe('pass')
  expect(await verdictOf('CHAT-07', [dropped, kept, dropped])).toMatchObject({
    verdict: 'fail',
    observed: 'the stop sequence is in 1 texts and not in 2',
    witnesses: [{ slot: 1 }],
  })
})

test('a stream has events for each requested choice (CHAT-04)', async () => {
  const asked = { ...hello(), n: 2 }
  const second = streamed('b').replace('"index":0', '"index":1')
  expect((await verdictOf('CHAT-04', [{ asked, body: streamed('a') + second }])).verdict).toBe(
    'pass',
  )
  expect(await verdictOf('CHAT-04', [{ asked, body: streamed('a', 'b') }])).toMatchObject({
    verdict: 'fail',
    observed: 'a stream of indexes [0] for n 2',
  })
})

const refusedFor = (body: string): Pick<Answered, 'body' | 'row'> => ({
  body,
  row: { outcome: 'http_error', status: 400 },
})
const asksWarmly = { model: 'svc-k2', ...hello(1) }
const routed = { 'content-type': 'application/json', 'x-provider': 'a' }
const unrouted = { 'content-type': 'application/json' }

test.each([
  ['no request is served', [], 'not-observed'],
  ['a request with the header is served', [{ headers: routed }], 'not-observed'],
  ['a request without other headers is served', [{ headers: unrouted }], 'fail'],
] as const)(
  'a 400 for a legal parameter fails unless a missing header may explain it: %s',
  async (_, others, verdict) => {
    const refused = { asked: asksWarmly, headers: unrouted, ...refusedFor('{}') }
    const served = others.map((other) => ({ asked: asksWarmly, body: plain(assist), ...other }))
    expect(await verdictOf('CHAT-12', [refused, refused, ...served])).toMatchObject({ verdict })
  },
)
