import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { mayBeNamed } from '../../src/contract/model.ts'
import { type Answered, verdictOf } from './answered.ts'

/** Requests and answers that the specification leaves open, as clients and services of the field write them. */

const user = (content: string) => ({ role: 'user', content })
const asked = (fields: object) => ({ model: 'svc-k2', messages: [user('Hello.')], ...fields })
const message = (fields: object) =>
  JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', ...fields } }] })
const text = message({ content: 'Hello.' })
const tools = [{ type: 'function', function: { name: 'look_up', parameters: {} } }]

const counted = (fields: object, promptTokens: number): Answered => ({
  asked: asked(fields),
  body: text,
  row: { promptTokens },
})

test.each([
  ['tools', counted({}, 10), counted({ tools }, 60), 'not-observed'],
  [
    'a format of the answer',
    counted({}, 10),
    counted({ response_format: { type: 'json_object' } }, 60),
    'not-observed',
  ],
  [
    'a field that is unknown here',
    counted({}, 10),
    counted({ reasoning_effort: 'high' }, 60),
    'not-observed',
  ],
  [
    'nothing else',
    counted({}, 10),
    counted({ temperature: 1, stream: false, max_tokens: 9 }, 60),
    'fail',
  ],
] as const)('CHAT-09: equal messages beside %s', async (_, one, other, is) => {
  expect((await verdictOf('CHAT-09', [one, other])).verdict).toBe(is)
})

test('CHAT-09: a template that drops earlier thoughts may count fewer tokens', {
  tags: 'whole',
}, async () => {
  const messages = [
    user('Hello.'),
    { role: 'assistant', content: 'Hi.', reasoning_content: 'long' },
  ]
  const longer = [...messages, user('And?')]
  const verdict = await verdictOf('CHAT-09', [
    counted({ messages }, 90),
    counted({ messages: longer }, 30),
  ])
  expect(verdict.verdict).toBe('not-observed')
  const plain = [user('Hello.'), { role: 'assistant', content: 'Hi.' }]
  const shrunk = await verdictOf('CHAT-09', [
    counted({ messages: plain }, 90),
    counted({ messages: [...plain, user('And?')] }, 30),
  ])
  expect(shrunk.verdict).toBe('fail')
})

const system = (value: unknown, promptTokens: number, more: object = {}): Answered => ({
  asked: asked({ max_tokens: 5, ...(value !== null && { system: value }), ...more }),
  body: '{}',
  row: { endpoint: 'messages', promptTokens, completionTokens: 1 },
})

test.each([
  [
    'tools in the one without',
    [system(null, 60, { tools }), system('be brief', 20)],
    'not-observed',
  ],
  [
    'a system of blocks',
    [system([{ type: 'text', text: 'long' }], 500), system('be brief', 20)],
    'not-observed',
  ],
  ['the same messages', [system(null, 20), system('be brief', 20)], 'fail'],
  [
    'more tokens for it',
    [system(null, 10), system([{ type: 'text', text: 'be brief' }], 20)],
    'pass',
  ],
] as const)('MSG-07: a system prompt beside %s', async (_, answers, is) => {
  expect((await verdictOf('MSG-07', answers)).verdict).toBe(is)
})

test.each([
  [
    'a call of a function',
    { content: null, function_call: { name: 'look_up', arguments: '{}' } },
    'pass',
  ],
  ['a sound', { content: null, audio: { id: 'a' } }, 'pass'],
  ['a call beside a text that is left out', { tool_calls: [] }, 'pass'],
  ['nothing', { content: null }, 'fail'],
] as const)('CHAT-04: a message with %s in place of its text', async (_, fields, is) => {
  expect((await verdictOf('CHAT-04', [{ asked: asked({}), body: message(fields) }])).verdict).toBe(
    is,
  )
})

test('CHAT-04 and CHAT-06: an n or a limit of 0 is open', async () => {
  const row = { completionTokens: 5, promptTokens: 5, finishReason: 'stop' as const }
  const none = { asked: asked({ n: 0, max_tokens: 100 }), body: text, row }
  expect((await verdictOf('CHAT-04', [none])).verdict).toBe('not-observed')
  expect((await verdictOf('CHAT-06', [none])).verdict).toBe('not-observed')
  const unlimited = { asked: asked({ max_tokens: 0 }), body: text, row }
  expect((await verdictOf('CHAT-06', [unlimited])).verdict).toBe('not-observed')
})

test.each([
  [
    'two choices of half as many',
    (nth: number) => ({ n: 2, messages: [user(`${nth}`)] }),
    'not-observed',
  ],
  ['one request three times', () => ({}), 'pass'],
  ['three requests', (nth: number) => ({ messages: [user(`${nth}`)] }), 'fail'],
] as const)('CHAT-06: stop at the limit of %s', async (_, fields, is) => {
  const row = { completionTokens: 16, promptTokens: 5, finishReason: 'stop' as const }
  const answers = [0, 1, 2].map((nth) => ({
    asked: asked({ max_tokens: 16, ...fields(nth) }),
    body: text,
    row,
  }))
  expect((await verdictOf('CHAT-06', answers)).verdict).toBe(is)
})

const repeated = (said: string, stop: string, fields: object = {}, finishReason = 'stop') => ({
  asked: { ...asked(fields), messages: [user('Repeat after me: one two\nthree')], stop },
  body: message({ content: said }),
  row: { completionTokens: 5, finishReason },
})

test('CHAT-07: a stop of white space shows neither as kept nor as dropped', async () => {
  const answers = [
    repeated('one', 'two'),
    repeated('one', 'two'),
    repeated('one', 'two'),
    repeated('one two', '\n'),
  ]
  expect((await verdictOf('CHAT-07', answers)).verdict).toBe('pass')
  const kept = [...answers.slice(0, 3), repeated('one two', 'two')]
  expect((await verdictOf('CHAT-07', kept)).verdict).toBe('fail')
})

test('CHAT-07: a max_tokens above the output limit may be cut to it', async () => {
  const limits = { ...defaultContract.limits, maxOutputTokens: 5 }
  const answers = [repeated('one', 'two', { max_tokens: 100 }, 'length')]
  const verdict = await verdictOf('CHAT-07', answers, { ...defaultContract, limits })
  expect(verdict.verdict).toBe('not-observed')
  expect((await verdictOf('CHAT-07', answers)).verdict).toBe('fail')
})

const poor = { code: 'insufficient_credits', type: 'invalid_request_error', status: 400 }
const frugal = {
  ...defaultContract,
  chatErrors: [
    ...(defaultContract.chatErrors ?? []).filter(({ code }) => code !== poor.code),
    poor,
  ],
}
const refused = {
  body: JSON.stringify({ error: { code: poor.code, type: poor.type } }),
  row: { outcome: 'http_error', status: 400, errorCode: poor.code, errorShape: 'chat' },
} as const

test('CHAT-12: a 400 for want of credits is no judgement of the request', async () => {
  const request = asked({ temperature: 0.7 })
  const answers = [
    { asked: request, body: text },
    { asked: request, ...refused },
  ]
  expect((await verdictOf('CHAT-12', answers, frugal)).verdict).toBe('not-observed')
})

test('ERR-05: a 400 for want of credits may come before the path is looked up', async () => {
  const row = { ...refused.row, endpoint: 'other', expects: 'unknown-path' } as const
  const answers = [{ asked: {}, body: refused.body, row }]
  expect((await verdictOf('ERR-05', answers, frugal)).verdict).toBe('not-observed')
})

test('CHAT-11: turns of functions, and answers that were a sound, are open', async () => {
  const call = { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }
  const result = { role: 'function', name: 'f', content: '1' }
  const sound = { role: 'assistant', content: null, audio: { id: 'a' } }
  const answers = [
    { asked: asked({ messages: [user('x'), call, result] }), body: text },
    { asked: asked({ messages: [user('x'), sound, user('y')] }), body: text },
  ]
  expect((await verdictOf('CHAT-11', answers)).verdict).toBe('not-observed')
})

test('MODEL-03: the first page of a list misses no model', async () => {
  const { id } = defaultContract.models![0]!
  const model = { id, object: 'model', created: 1_700_000_000, owned_by: 'svc' }
  const list = (more: object) => ({
    asked: {},
    body: JSON.stringify({ object: 'list', data: [model], ...more }),
    row: { endpoint: 'models', model: null } as const,
  })
  expect((await verdictOf('MODEL-03', [list({ has_more: true })])).verdict).toBe('not-observed')
  expect((await verdictOf('MODEL-03', [list({})])).verdict).toBe('fail')
})

test.each(['SVC-K2', 'svc/svc-k2', 'SVC/SVC-K2'])(
  'CHAT-03 and MSG-01: %s is svc-k2 in other letters, or with its maker',
  async (responseModel) => {
    const row = { model: 'svc-k2', responseModel }
    const verdict = await verdictOf('CHAT-03', [{ asked: asked({}), body: text, row }])
    expect(verdict.verdict).toBe('pass')
    expect(mayBeNamed(defaultContract.models!, 'svc-k2', responseModel)).toBe(true)
    expect(mayBeNamed(defaultContract.models!, 'svc-k2', 'svc/other')).toBe(false)
  },
)

test('CHAT-12: a prompt above the window of its model may be refused', async () => {
  const models = defaultContract.models!.map((model) => ({ ...model, contextWindowTokens: 4096 }))
  const refusal = { code: 'invalid_request', type: 'invalid_request_error' }
  const answerTo = (content: string) => ({
    asked: asked({ messages: [user(content)], temperature: 0.7 }),
    body: JSON.stringify({ error: refusal }),
    row: {
      outcome: 'http_error',
      status: 400,
      errorCode: refusal.code,
      errorShape: 'chat',
    } as const,
  })
  const contract = { ...defaultContract, models }
  const served = { asked: asked({ temperature: 0.7 }), body: text }
  const long = [served, answerTo('word '.repeat(5000))]
  expect((await verdictOf('CHAT-12', long, contract)).verdict).toBe('not-observed')
  const short = [served, answerTo('word')]
  expect((await verdictOf('CHAT-12', short, contract)).verdict).toBe('fail')
})

test.each([
  ['another sentence more', 'It is four. Indeed.', 'stop', 'not-observed'],
  ['nothing, since its thoughts took all tokens', '', 'length', 'not-observed'],
  ['a piece twice', 'It is is four.', 'stop', 'fail'],
  ['no end', 'It is', 'stop', 'fail'],
] as const)('SSE-05: a stream with %s', async (_, streamed, finishReason, is) => {
  const request = asked({ temperature: 0 })
  const chunk = { id: 'c', choices: [{ index: 0, delta: { content: streamed } }] }
  const plain = { asked: request, body: message({ content: 'It is four.' }) }
  const stream = {
    asked: { ...request, stream: true },
    body: `data: ${JSON.stringify(chunk)}\n\n`,
    row: { finishReason },
  }
  expect((await verdictOf('SSE-05', [plain, plain, stream])).verdict).toBe(is)
})
