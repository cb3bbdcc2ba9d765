import { expect, test } from 'vitest'
import {
  buildTemplate,
  plainRequest,
  prepareRequest,
  type RequestSpec,
  templateRow,
} from '../../src/client/call/request.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { wrongRequests } from '../../src/contract/request.ts'
import { UserError } from '../../src/user/user-error.ts'

const key = 'sk-live-abcdef0123456789'

function build(spec: Partial<RequestSpec>, basePath = '') {
  const template = buildTemplate(defaultContract, basePath, {
    ...plainRequest,
    model: 'svc-k2',
    messages: [{ role: 'user', content: 'Grüße' }],
    ...spec,
  })
  const { wire } = prepareRequest(template, key)
  return {
    template,
    wire,
    headers: Object.fromEntries(wire.headers) as Record<string, string>,
    body: wire.body.length === 0 ? null : Buffer.from(wire.body).toString('utf8'),
  }
}

test('chat carries the key as a bearer token and the system prompt as a message', () => {
  const { wire, headers, body } = build({ system: 'Be brief', maxTokens: 5, stream: true }, '/base')
  expect([wire.method, wire.path]).toEqual(['POST', '/base/v1/chat/completions'])
  expect(headers).toEqual({
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'accept-encoding': 'identity',
    'user-agent': 'assay',
    authorization: `Bearer ${key}`,
  })
  expect(JSON.parse(body!)).toEqual({
    model: 'svc-k2',
    messages: [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'Grüße' },
    ],
    max_tokens: 5,
    stream: true,
  })
})

test('only a chat stream asks for token usage, and only if that is enabled', () => {
  const asked = (spec: Partial<RequestSpec>) =>
    JSON.parse(build({ includeUsage: true, ...spec }).body!).stream_options
  expect(asked({ stream: true })).toEqual({ include_usage: true })
  expect(asked({ stream: false })).toBeUndefined()
  expect(asked({ stream: true, endpoint: 'messages' })).toBeUndefined()
  expect(asked({ stream: true, includeUsage: false })).toBeUndefined()
  const over = { stream_options: { include_usage: false } }
  expect(asked({ stream: true, body: over })).toEqual({ include_usage: false })
})

test('messages carry the key in X-API-Key, a separate system prompt, and always max_tokens', () => {
  const { wire, headers, body } = build({ endpoint: 'messages', system: 'Be brief' })
  expect(wire.path).toBe('/v1/messages')
  expect(headers['x-api-key']).toBe(key)
  expect(headers.authorization).toBeUndefined()
  expect(JSON.parse(body!)).toEqual({
    model: 'svc-k2',
    messages: [{ role: 'user', content: 'Grüße' }],
    system: 'Be brief',
    max_tokens: 1024,
  })
})

test('models and credits are GET requests without a body', () => {
  for (const [endpoint, path] of [
    ['models', '/v1/models'],
    ['credits', '/user/credits'],
  ] as const) {
    const { wire, body } = build({ endpoint })
    expect([wire.method, wire.path, body]).toEqual(['GET', path, null])
  }
})

test('extra headers and fields pass through, and undefined removes a field', () => {
  const { headers, body } = build({
    headers: { 'X-Trace': 'on', 'Content-Type': 'application/json; charset=utf-8' },
    body: { temperature: 0.2, messages: undefined, n: 3 },
  })
  expect(headers['x-trace']).toBe('on')
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(JSON.parse(body!)).toEqual({ model: 'svc-k2', temperature: 0.2, n: 3 })
})

test('a model and a stream flag in the body are those of the row', () => {
  const { template } = build({ body: { model: 'svc-k2.5', stream: true } })
  expect(template).toMatchObject({ model: 'svc-k2.5', streamed: true })
  expect(build({ stream: true, body: { stream: false } }).template.streamed).toBe(false)
  expect(build({ body: { stream: 'true' } }).template.streamed).toBe(false)
  expect(build({ wrong: 'unknown-model' }).template.model).toBe('svc-k2')
})

test('each kind of wrong request has its own fault', () => {
  const wrong = (name: (typeof wrongRequests)[number]) => build({ wrong: name })
  expect(wrong('missing-key').headers.authorization).toBeUndefined()
  expect(wrong('invalid-key').headers.authorization).toMatch(/^Bearer assay-invalid-key/)
  const sent = (name: 'altered-key' | 'recased-key') =>
    wrong(name).headers.authorization!.replace('Bearer ', '')
  expect(sent('altered-key')).toHaveLength(key.length)
  expect([sent('altered-key'), sent('recased-key')]).not.toContain(key)
  expect(sent('recased-key').toLowerCase()).toBe(key.toLowerCase())
  expect(JSON.parse(wrong('unknown-model').body!).model).toBe('assay-no-such-model')
  expect(JSON.parse(wrong('invalid-parameter').body!).temperature).toBeGreaterThan(2)
  expect('messages' in JSON.parse(wrong('missing-messages').body!)).toBe(false)
  expect(() => JSON.parse(wrong('malformed-json').body!)).toThrow(SyntaxError)
  expect(wrong('unknown-path').wire.path).toBe('/v1/assay-no-such-path')
  expect(wrong('no-credits').wire).toEqual(build({}).wire)
  for (const name of wrongRequests) {
    if (name.endsWith('-key')) continue
    expect(wrong(name).headers.authorization).toBe(`Bearer ${key}`)
  }
})

test('a prompt that is too long exceeds the limit of the model and the general limit', () => {
  const words = (model: string, endpoint: 'chat' | 'messages') => {
    const { body } = build({ wrong: 'context-length', model, endpoint })
    return JSON.parse(body!).messages[0].content.split(' ').length
  }
  expect(words('svc-k2', 'chat')).toBe(130_000)
  expect(words('svc-k2-0905', 'messages')).toBe(258_000)
})

test('a fault that does not apply to an endpoint is refused with one sentence', () => {
  expect(() => build({ endpoint: 'models', wrong: 'malformed-json' })).toThrow(UserError)
  expect(() => build({ endpoint: 'models', wrong: 'malformed-json' })).toThrow(/chat or messages/)
})

test('a header that would break the request is refused', () => {
  expect(() => build({ headers: { 'X-A': 'one\r\nX-B: two' } })).toThrow(UserError)
  expect(() => build({ headers: { 'X A': 'one' } })).toThrow(UserError)
  expect(() => build({ headers: { Host: 'elsewhere' } })).toThrow(/set by the transport/)
})

test('a key that is invalid in a header is refused without being shown', () => {
  const { template } = build({})
  const bad = `${key}\n`
  expect(() => prepareRequest(template, bad)).toThrow(UserError)
  try {
    prepareRequest(template, bad)
  } catch (error) {
    expect(String(error)).not.toContain(key)
  }
})

test('a stored request has a placeholder in place of the key', () => {
  const { template } = build({ endpoint: 'messages', maxTokens: 5, body: { n: 2 } })
  const row = templateRow(template, { runId: 'r', template: 3, step: 's' })
  expect(JSON.stringify(row)).not.toContain(key)
  expect(JSON.parse(row.headers)['x-api-key']).toBe('$ASSAY_API_KEY')
  expect(row).toMatchObject({
    runId: 'r',
    template: 3,
    step: 's',
    method: 'POST',
    path: '/v1/messages',
    maxTokens: 5,
    n: 2,
  })
  expect(JSON.parse(row.body!).messages[0].content).toBe('Grüße')
})

test('equal prompts have equal hashes, whatever else differs', () => {
  const hash = (spec: Partial<RequestSpec>) => build(spec).template.promptHash
  expect(hash({ stream: true, maxTokens: 9 })).toBe(hash({}))
  expect(hash({ system: 'x' })).not.toBe(hash({}))
  expect(hash({ model: 'svc-k2.5' })).not.toBe(hash({}))
})

test.each(['responses', 'embeddings'] as const)(
  'other prompts to %s have other hashes',
  (endpoint) => {
    const hash = (content: string, change: Partial<RequestSpec> = {}) =>
      build({ endpoint, messages: [{ role: 'user', content }], ...change }).template.promptHash
    expect(hash('a', { maxTokens: 9 })).toBe(hash('a'))
    expect(hash('a')).not.toBe(hash('b'))
  },
)

test.each([
  ['tools', [{ type: 'function', function: { name: 'look_up' } }]],
  ['response_format', { type: 'json_object' }],
  ['instructions', 'Be brief'],
  ['tool_choice', 'required'],
  ['thinking', { type: 'enabled', budget_tokens: 1024 }],
  ['previous_response_id', 'resp_1'],
  ['prompt', { id: 'pmpt_1' }],
  ['a_field_of_tomorrow', 'x'],
])('%s of the body are part of a prompt', (name, value) => {
  const hash = (body: object) =>
    build({ endpoint: 'responses', body: { ...body } }).template.promptHash
  expect(hash({ [name]: value })).not.toBe(hash({}))
})

test.each(['max_completion_tokens', 'temperature', 'prompt_cache_key'])(
  '%s of the body is beside the prompt',
  (name) => {
    const hash = (body: object) => build({ body: { ...body } }).template.promptHash
    expect(hash({ [name]: 1 })).toBe(hash({}))
  },
)

test.each([
  ['chat', 'max_tokens'],
  ['chat', 'max_completion_tokens'],
  ['responses', 'max_output_tokens'],
] as const)('the most tokens of an answer are known: %s with %s', (endpoint, name) => {
  expect(build({ endpoint, body: { [name]: 50_000 } }).template.maxTokens).toBe(50_000)
})

test('a stream that the body asks for is one in every header and field, and so is none', () => {
  const sent = (spec: Partial<RequestSpec>) => {
    const { template, headers, body } = build({ includeUsage: true, ...spec })
    return [template.streamed, headers.accept, JSON.parse(body!).stream_options]
  }
  const streamed = [true, 'text/event-stream', { include_usage: true }]
  expect(sent({ stream: true })).toEqual(streamed)
  expect(sent({ body: { stream: true } })).toEqual(streamed)
  expect(sent({ stream: true, body: { stream: false } })).toEqual([
    ...[false, 'application/json', undefined],
  ])
})

test('reads carry the key in both headers, because it is open which one they take', () => {
  for (const endpoint of ['models', 'credits'] as const) {
    const { headers } = build({ endpoint })
    expect(headers.authorization).toBe(`Bearer ${key}`)
    expect(headers['x-api-key']).toBe(key)
  }
})

test('a header that both formats use is sent once in a read, because servers refuse a repeated one', () => {
  const auth = { ...defaultContract.auth, messages: defaultContract.auth.chat }
  const template = buildTemplate({ ...defaultContract, auth }, '', {
    ...plainRequest,
    endpoint: 'credits',
  })
  const { wire } = prepareRequest(template, key)
  expect(wire.headers.filter(([name]) => name === 'authorization')).toEqual([
    ['authorization', `Bearer ${key}`],
  ])
})

test('a probe chooses its auth headers', () => {
  expect(Object.keys(build({ auth: 'both' }).headers)).toContain('x-api-key')
  expect(Object.keys(build({ auth: 'messages' }).headers)).not.toContain('authorization')
  expect(Object.keys(build({ auth: 'none' }).headers)).not.toContain('authorization')
})
