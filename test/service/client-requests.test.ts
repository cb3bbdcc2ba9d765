import { describe, expect, test } from 'vitest'
import { serving } from './serving.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests examine fields that may be missing
type Json = Record<string, any>

const weather = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2, maximum: 2 } },
  required: ['city', 'days'],
  additionalProperties: false,
}
const chatTool = { type: 'function', function: { name: 'get_weather', parameters: weather } }
const messagesTool = { name: 'get_weather', input_schema: weather }
const ask = (content: unknown) => [{ role: 'user', content }]

const bodyOf = async (answer: Promise<Response>): Promise<Json> => (await answer).json() as Json

/** The data of the events of a stream. */
async function eventsOf(answer: Promise<Response>): Promise<Json[]> {
  const text = await (await answer).text()
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json)
}

describe('content', () => {
  test('text parts of a chat message are its text, in every role', async () => {
    const target = await serving()
    const text = (words: string) => [{ type: 'text', text: words }]
    const said = await bodyOf(target.chat({ messages: ask('Say: one two') }))
    const parts = await bodyOf(
      target.chat({ messages: ask([...text('Say: one'), ...text(' two')]) }),
    )
    expect(parts.choices[0].message.content).toBe('one two')
    expect(parts.usage).toEqual(said.usage)
    const messages = ['system', 'user', 'assistant'].map((role) => ({ role, content: text('x') }))
    expect((await target.chat({ messages })).status).toBe(200)
  })

  test('system as blocks counts as its text does', async () => {
    const target = await serving()
    const cached = { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }
    const blocks = await bodyOf(target.messages({ system: [cached] }))
    expect(blocks.usage).toEqual((await bodyOf(target.messages({ system: 'Be brief.' }))).usage)
  })

  test.each([
    [
      { messages: ask([{ type: 'file', file: {} }]) },
      'messages[0].content[0]: expected a text part',
    ],
    [{ messages: ask(null) }, 'messages[0].content: expected a string; got null'],
    [
      { messages: [{ role: 'assistant', content: null }] },
      'messages[0].content: expected a string',
    ],
    [{ messages: [{ role: 'developer', content: 'x' }] }, 'role: expected one of system, user'],
    [
      { messages: ask([{ type: 'image_url', image_url: { url: 'data:,' } }]) },
      'messages[0].content[0]: this service reads no images',
    ],
    [
      { messages: [{ role: 'tool', tool_call_id: 'c1', content: 'x' }] },
      'messages[0].tool_call_id: expected the id of a tool call before it; got "c1"',
    ],
  ])('chat refuses with a clear 400: %j', async (body, words) => {
    const answer = await (await serving()).chat(body)
    expect(answer.status).toBe(400)
    expect(((await answer.json()) as Json).error.message).toContain(words)
  })
})

test('max_completion_tokens is the limit of the answer', async () => {
  const target = await serving()
  const messages = ask('Count from 1 to 500')
  const renamed = await bodyOf(target.chat({ messages, max_completion_tokens: 5 }))
  expect(renamed).toEqual({
    ...(await bodyOf(target.chat({ messages, max_tokens: 5 }))),
    id: renamed.id,
    created: renamed.created,
  })
  const both = await bodyOf(target.chat({ messages, max_tokens: 9, max_completion_tokens: 4 }))
  expect(both.usage.completion_tokens).toBe(4)
  expect([renamed.choices[0].finish_reason, renamed.usage.completion_tokens]).toEqual(['length', 5])
})

describe('tools', () => {
  test.each(['required', { type: 'function', function: { name: 'get_weather' } }])(
    'chat calls a tool that the client chose: %j',
    async (tool_choice) => {
      const target = await serving()
      const { choices } = await bodyOf(target.chat({ tools: [chatTool], tool_choice }))
      const [{ message, finish_reason }] = choices
      expect([message.content, finish_reason]).toEqual([null, 'tool_calls'])
      const [call] = message.tool_calls
      expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } })
      expect(JSON.parse(call.function.arguments)).toEqual({ city: expect.any(String), days: 2 })
    },
  )

  test('a streamed call adds up to the plain one, in both formats', async () => {
    const target = await serving()
    const chat = { tools: [chatTool], tool_choice: 'required' }
    const [call] = (await bodyOf(target.chat(chat))).choices[0].message.tool_calls
    const chunks = await eventsOf(target.chat({ ...chat, stream: true }))
    const parts = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    expect(parts[0]).toMatchObject({
      index: 0,
      type: 'function',
      function: { name: 'get_weather' },
    })
    expect(parts.map((part) => part.function.arguments).join('')).toBe(call.function.arguments)
    expect(chunks.at(-1)!.choices[0].finish_reason).toBe('tool_calls')

    const messages = { tools: [messagesTool], tool_choice: { type: 'any' } }
    const plain = await bodyOf(target.messages(messages))
    expect([plain.content.length, plain.stop_reason]).toEqual([1, 'tool_use'])
    expect(plain.content[0]).toMatchObject({ type: 'tool_use', input: { days: 2 } })
    const events = await eventsOf(target.messages({ ...messages, stream: true }))
    const json = events.map(({ delta }) => delta?.partial_json ?? '').join('')
    expect(JSON.parse(json)).toEqual(plain.content[0].input)
    expect(events.map(({ type }) => type).filter((type) => type !== 'content_block_delta')).toEqual(
      [
        ...['message_start', 'content_block_start', 'content_block_stop', 'message_delta'],
        'message_stop',
      ],
    )
    expect(events.find(({ type }) => type === 'message_delta')!.delta.stop_reason).toBe('tool_use')
  })

  test('left to the model, it calls the tool that the question names, and answers its result', async () => {
    const target = await serving()
    const tools = [chatTool]
    const without = await bodyOf(target.chat({ tools }))
    expect(without.choices[0]).toMatchObject({ finish_reason: 'stop' })
    const messages = ask('Use get_weather, please')
    const [{ message }] = (await bodyOf(target.chat({ tools, messages }))).choices
    const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'sunny' }
    const next = await bodyOf(target.chat({ tools, messages: [...messages, message, result] }))
    expect(next.choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant' } })
    expect(next.choices[0].message.content).toMatch(/\w/)
    expect(next.usage.prompt_tokens).toBeGreaterThan(without.usage.prompt_tokens)

    const asked = ask('Use get_weather, please')
    const own = { tools: [messagesTool] }
    const { content } = await bodyOf(target.messages({ ...own, messages: asked }))
    const answered = { type: 'tool_result', tool_use_id: content[0].id, content: 'sunny' }
    const done = await bodyOf(
      target.messages({
        ...own,
        messages: [...asked, { role: 'assistant', content }, { role: 'user', content: [answered] }],
      }),
    )
    expect(done).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text' }] })
  })

  test('tools count as prompt tokens, and tool_choice none calls none', async () => {
    const target = await serving()
    const { usage } = await bodyOf(target.chat())
    const body = { tools: [chatTool], tool_choice: 'none', messages: ask('get_weather') }
    const offered = await bodyOf(target.chat(body))
    expect(offered.usage.prompt_tokens).toBeGreaterThan(usage.prompt_tokens + 20)
    expect(offered.choices[0].finish_reason).toBe('stop')
  })

  test('a call that max_tokens cuts off ends with length', async () => {
    const target = await serving()
    const body = { tools: [chatTool], tool_choice: 'required', max_tokens: 3 }
    const [choice] = (await bodyOf(target.chat(body))).choices
    expect(choice.finish_reason).toBe('length')
    expect(() => JSON.parse(choice.message.tool_calls[0].function.arguments)).toThrow()
    const message = await bodyOf(
      target.messages({ tools: [messagesTool], tool_choice: { type: 'any' }, max_tokens: 3 }),
    )
    expect(message).toMatchObject({ stop_reason: 'max_tokens', content: [{ input: {} }] })
  })

  test('the thinking model reasons, and then calls', async () => {
    const target = await serving()
    const model = 'svc-k2-thinking'
    const plain = await bodyOf(
      target.messages({ model, tools: [messagesTool], tool_choice: { type: 'any' } }),
    )
    expect(plain.content.map(({ type }: Json) => type)).toEqual(['thinking', 'tool_use'])
    const inline = await serving({ profile: { reasoning: 'inline' } })
    const body = { model, tools: [chatTool], tool_choice: 'required' }
    const [{ message }] = (await bodyOf(inline.chat(body))).choices
    const chunks = await eventsOf(inline.chat({ ...body, stream: true }))
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    expect(message.content).toMatch(/^<think>.+<\/think>$/s)
    expect(text).toBe(message.content)
  })

  test.each([
    [{ tools: [{ type: 'web_search' }] }, 'tools[0]: expected an object with type function'],
    [{ tools: [chatTool], tool_choice: 'any' }, 'tool_choice: expected none, auto, required or'],
    [{ tool_choice: 'required' }, 'tool_choice: expected tools to choose from; got none'],
    [
      { tools: [chatTool], tool_choice: { type: 'function', function: { name: 'x' } } },
      'tool_choice: expected one of the tools; got "x"',
    ],
  ])('a tool that it does not have is a 400: %j', async (body, words) => {
    const answer = await (await serving()).chat(body)
    expect(answer.status).toBe(400)
    expect(((await answer.json()) as Json).error.message).toContain(words)
  })
})

describe('structured answers', () => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string' }, age: weather.properties.days },
  }

  test('json_schema gets a value of the schema, plain and streamed, in both formats', async () => {
    const target = await serving()
    const response_format = {
      type: 'json_schema',
      json_schema: { name: 'p', strict: true, schema },
    }
    const plain = (await bodyOf(target.chat({ response_format }))).choices[0].message.content
    expect(JSON.parse(plain)).toEqual({ name: expect.any(String), age: 2 })
    const chunks = await eventsOf(target.chat({ response_format, stream: true }))
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(plain)
    const output_config = { format: { type: 'json_schema', schema } }
    const message = await bodyOf(target.messages({ output_config }))
    expect(JSON.parse(message.content[0].text)).toEqual({ name: expect.any(String), age: 2 })
  })

  test('json_object gets an object: the one that is said, or one that holds the text', async () => {
    const target = await serving()
    const said = async (content: string) => {
      const response_format = { type: 'json_object' }
      const body = await bodyOf(target.chat({ response_format, messages: ask(content) }))
      return JSON.parse(body.choices[0].message.content) as Json
    }
    expect(await said('Say: {"a": [1]}')).toEqual({ a: [1] })
    expect(await said('Say: one two')).toEqual({ text: 'one two' })
  })

  test.each([
    [{ type: 'xml' }, 'response_format.type: expected text, json_object or json_schema'],
    [
      {
        type: 'json_schema',
        json_schema: { name: 'p', schema: { type: 'string', pattern: '^a' } },
      },
      'response_format.json_schema.schema: pattern: not done',
    ],
    [{ type: 'json_schema' }, 'response_format.json_schema.schema: expected a JSON Schema'],
  ])('a format that it cannot keep is a 400: %j', async (response_format, words) => {
    const answer = await (await serving()).chat({ response_format })
    expect(answer.status).toBe(400)
    expect(((await answer.json()) as Json).error.message).toContain(words)
  })
})

test.each([
  ['chat', { logprobs: true }],
  ['chat', { top_logprobs: 2 }],
  ['chat', { logit_bias: { 5: 1 } }],
  ['chat', { modalities: ['text', 'audio'] }],
  ['chat', { audio: { voice: 'x' } }],
  ['chat', { functions: [] }],
  ['chat', { function_call: 'auto' }],
  ['chat', { web_search_options: {} }],
  ['messages', { mcp_servers: [{ url: 'x' }] }],
  ['messages', { container: 'x' }],
  ['messages', { context_management: {} }],
] as const)(
  '%s refuses what it does not do, and does not charge for it: %j',
  async (format, body) => {
    const target = await serving()
    const answer = await target[format](body)
    expect(answer.status).toBe(400)
    const [name] = Object.keys(body)
    expect(((await answer.json()) as Json).error.message).toMatch(
      new RegExp(`^${name}: not done; `),
    )
    expect((await target.credits()).remaining).toBe(1_000_000)
  },
)

test('hints that promise nothing are accepted, and so are values that ask for nothing', async () => {
  const target = await serving()
  const hints = { seed: 1, reasoning_effort: 'low', service_tier: 'auto', store: false }
  const nothing = {
    logprobs: false,
    top_logprobs: 0,
    logit_bias: {},
    modalities: ['text'],
    audio: null,
  }
  expect((await target.chat({ ...hints, ...nothing })).status).toBe(200)
  expect((await target.messages({ top_k: 5, service_tier: 'auto', mcp_servers: [] })).status).toBe(
    200,
  )
})

test('thinking of the messages format turns reasoning on and off', async () => {
  const target = await serving()
  const kinds = async (body: object) =>
    (await bodyOf(target.messages({ max_tokens: 2000, ...body }))).content.map((b: Json) => b.type)
  const on = { thinking: { type: 'enabled', budget_tokens: 1024 } }
  expect(await kinds(on)).toEqual(['thinking', 'text'])
  const off = { model: 'svc-k2-thinking', thinking: { type: 'disabled' } }
  expect(await kinds(off)).toEqual(['text'])
  const part = { thinking: { type: 'enabled', budget_tokens: 1024.5 } }
  const few = { thinking: { type: 'enabled', budget_tokens: 1000 } }
  for (const wrong of [few, part]) expect((await target.messages(wrong)).status).toBe(400)
})

describe('for wide clients', () => {
  const wide = () => serving({ profile: { clients: 'wide' } })

  test('the role developer is accepted on chat', async () => {
    const target = await wide()
    const messages = [{ role: 'developer', content: 'Be brief.' }, ...ask('Say: yes')]
    expect((await bodyOf(target.chat({ messages }))).choices[0].message.content).toBe('yes')
    expect((await target.chat({ messages: [{ role: 'wizard', content: 'x' }] })).status).toBe(400)
  })

  test('an image counts 85 tokens and changes the answer', async () => {
    const target = await wide()
    const words = { type: 'text', text: 'What is it?' }
    const seen = (url: string) =>
      bodyOf(target.chat({ messages: ask([words, { type: 'image_url', image_url: { url } }]) }))
    const [one, other] = [
      await seen('data:image/png;base64,AA'),
      await seen('data:image/png;base64,BB'),
    ]
    const { usage } = await bodyOf(target.chat({ messages: ask([words]) }))
    expect(one.usage.prompt_tokens).toBe(usage.prompt_tokens + 85)
    expect(one.choices[0].message.content).not.toBe(other.choices[0].message.content)
    const source = { type: 'base64', media_type: 'image/png', data: 'AA' }
    const message = await target.messages({ messages: ask([words, { type: 'image', source }]) })
    expect(message.status).toBe(200)
  })

  test('GET /v1/models/ID answers the element of the list, and 400 for an unknown one', async () => {
    const target = await wide()
    const list = await bodyOf(target.get('/v1/models'))
    expect(await bodyOf(target.get('/v1/models/svc-k2'))).toEqual(list.data[0])
    const unknown = await target.get('/v1/models/gone')
    expect([unknown.status, ((await unknown.json()) as Json).error.code]).toEqual([
      400,
      'model_not_found',
    ])
    expect((await (await serving()).get('/v1/models/svc-k2')).status).toBe(404)
  })
})
