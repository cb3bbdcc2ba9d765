import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { serving, type Target } from './serving.ts'

const user = (content: string) => [{ role: 'user' as const, content }]
const echo = user('Repeat after me: one café, two cafés')

function openai(target: Target, apiKey = target.key()): OpenAI {
  return new OpenAI({ baseURL: `${target.service.baseUrl}/v1`, apiKey, maxRetries: 0 })
}

function anthropic(target: Target, apiKey = target.key()): Anthropic {
  return new Anthropic({ baseURL: target.service.baseUrl, apiKey, maxRetries: 0 })
}

test('the openai client gets a completion', async () => {
  const client = openai(await serving())
  const { data, response } = await client.chat.completions
    .create({ model: 'svc-k2', messages: echo })
    .withResponse()
  expect(data.choices[0]?.message).toEqual({ role: 'assistant', content: 'one café, two cafés' })
  expect(data.choices[0]?.finish_reason).toBe('stop')
  expect(data.usage?.total_tokens).toBe(data.usage!.prompt_tokens + data.usage!.completion_tokens)
  expect(response.headers.get('x-credits-remaining')).toBe('999999')
})

test('the openai client streams the text of a plain answer, and usage if it asks for it', async () => {
  const client = openai(await serving())
  const request = { model: 'svc-k2', messages: user('Tell me something'), n: 2 }
  const plain = await client.chat.completions.create(request)
  const stream = await client.chat.completions.create({
    ...request,
    stream: true,
    stream_options: { include_usage: true },
  })
  const texts = ['', '']
  let usage: unknown
  for await (const chunk of stream) {
    for (const choice of chunk.choices) texts[choice.index] += choice.delta.content ?? ''
    usage = chunk.usage ?? usage
  }
  expect(texts).toEqual(plain.choices.map((choice) => choice.message.content))
  expect(texts[0]).not.toBe(texts[1])
  expect(usage).toEqual(plain.usage)
})

test('the openai client lists the models', async () => {
  const models = await openai(await serving()).models.list()
  expect(models.data.map((model) => model.id)).toEqual(['svc-k2', 'svc-k2-0905', 'svc-k2-thinking'])
})

test('the openai client recognises the errors', async () => {
  const target = await serving()
  await expect(
    openai(target, 'sk-wrong').chat.completions.create({ model: 'svc-k2', messages: echo }),
  ).rejects.toMatchObject({
    status: 401,
    code: 'invalid_api_key',
    type: 'invalid_request_error',
  })
  await expect(
    openai(target).chat.completions.create({ model: 'gone', messages: echo, stream: true }),
  ).rejects.toMatchObject({ status: 400, code: 'model_not_found' })
})

test('the anthropic client gets a message', async () => {
  const client = anthropic(await serving())
  const message = await client.messages.create({
    model: 'svc-k2',
    max_tokens: 50,
    system: 'Be brief.',
    metadata: { user_id: 'u1' },
    messages: echo,
  })
  expect(message.content).toEqual([{ type: 'text', text: 'one café, two cafés' }])
  expect(message).toMatchObject({ stop_reason: 'end_turn', stop_sequence: null, role: 'assistant' })
})

test('the anthropic client streams the blocks of a plain answer, and continues from them', async () => {
  const client = anthropic(
    await serving({ shape: { lengthTokens: { kind: 'constant', value: 20 } } }),
  )
  const request = { model: 'svc-k2-thinking', max_tokens: 50, messages: user('Think about it') }
  const plain = await client.messages.create(request)
  const streamed = await client.messages.stream(request).finalMessage()
  expect(plain.content.map((block) => block.type)).toEqual(['thinking', 'text'])
  expect(streamed.content).toEqual(plain.content)
  expect(streamed.usage.output_tokens).toBe(plain.usage.output_tokens)
  expect(streamed.stop_reason).toBe('end_turn')
  const goOn = [
    ...request.messages,
    { role: 'assistant' as const, content: streamed.content },
    ...echo,
  ]
  const next = await client.messages.create({ ...request, model: 'svc-k2', messages: goOn })
  expect(next.content).toEqual([{ type: 'text', text: 'one café, two cafés' }])
})

test('the openai client runs a tool and gets an answer from its result', async () => {
  const { chat } = openai(await serving())
  const calls: unknown[] = []
  const runner = chat.completions.runTools({
    model: 'svc-k2',
    messages: user('Use add, please'),
    tools: [
      {
        type: 'function',
        function: {
          name: 'add',
          description: 'Adds two numbers',
          parse: JSON.parse,
          parameters: { type: 'object', properties: { a: { const: 2 }, b: { const: 3 } } },
          function: (given: object) => {
            calls.push(given)
            return '5'
          },
        },
      },
    ],
  })
  expect(await runner.finalContent()).toMatch(/\w/)
  expect(calls).toEqual([{ a: 2, b: 3 }])
})

test('the anthropic client sends a system prompt in blocks, and runs a tool', async () => {
  const client = anthropic(await serving())
  const input_schema = { type: 'object' as const, properties: { city: { const: 'Oslo' } } }
  const request = {
    model: 'svc-k2',
    max_tokens: 50,
    system: [{ type: 'text' as const, text: 'Be brief.' }],
    tools: [{ name: 'get_weather', input_schema }],
    tool_choice: { type: 'any' as const },
    messages: user('How is it there?'),
  }
  const streamed = await client.messages.stream(request).finalMessage()
  expect(streamed.stop_reason).toBe('tool_use')
  expect(streamed.content).toMatchObject([
    { type: 'tool_use', name: 'get_weather', input: { city: 'Oslo' } },
  ])
})

test('the anthropic client gets the stop sequence that ended its message', async () => {
  const client = anthropic(await serving())
  const message = await client.messages.create({
    model: 'svc-k2',
    max_tokens: 50,
    stop_sequences: ['never', ' two'],
    messages: echo,
  })
  expect(message).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: ' two' })
  expect(message.content).toEqual([{ type: 'text', text: 'one café,' }])
})

test('the anthropic client recognises the errors', async () => {
  const target = await serving()
  await expect(
    anthropic(target, 'sk-wrong').messages.create({
      model: 'svc-k2',
      max_tokens: 5,
      messages: echo,
    }),
  ).rejects.toMatchObject({ status: 401, error: { error: { type: 'authentication_error' } } })
})
