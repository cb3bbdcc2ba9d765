import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { hello, serving } from '../serving.ts'
import { chunk, streamed, upstreamThat, usageChunk } from './broken-server.ts'
import { inFrontOf, remaining } from './relaying.ts'

describe('in front of a second reference service', () => {
  async function chained() {
    const there = await serving({ accounts: [{ name: 'team', balance: 1_000 }] })
    const theirKey = there.service.keys[0]!.apiKey
    return { there, theirKey, ...(await inFrontOf(there.service.baseUrl, { apiKey: theirKey })) }
  }

  test("both formats, plain and streamed, relay the upstream's text and charge our credits", async () => {
    const { there, theirKey, target, key } = await chained()
    const said = { messages: [{ role: 'user', content: 'Say: one two three' }] }
    const plain = await (await target.chat(said, key)).json()
    expect(plain).toMatchObject({
      model: 'svc-k2',
      choices: [{ message: { content: 'one two three' }, finish_reason: 'stop' }],
    })
    const stream = await (await target.chat({ ...said, stream: true }, key)).text()
    expect(textOfChunks(stream)).toBe('one two three')
    expect(stream.endsWith('data: [DONE]\n\n')).toBe(true)
    const message = await (await target.messages({ ...said, system: 'Be brief' }, key)).json()
    expect(message).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'one two three' }],
      stop_reason: 'end_turn',
    })
    const events = await (await target.messages({ ...said, stream: true }, key)).text()
    expect(events).toContain('event: message_stop')
    expect([...events.matchAll(/"text_delta","text":"([^"]*)"/g)].map(([, text]) => text)).toEqual([
      'one',
      ' two',
      ' three',
    ])
    expect(await remaining(target, key)).toBe(46)
    expect(await remaining(there, theirKey)).toBe(996)
  })

  test("usage is the upstream's count, in the answer and in the account", async () => {
    const { target, key } = await chained()
    const { usage } = (await (await target.chat({}, key)).json()) as {
      usage: { total_tokens: number }
    }
    expect((await target.credits(key)).average_tokens_per_request).toBe(usage.total_tokens)
  })

  test('a token limit that is reached upstream ends the answer in the same way', async () => {
    const { target, key } = await chained()
    const cut = { messages: [{ role: 'user', content: 'Say: one two three' }], max_tokens: 2 }
    expect(await (await target.chat(cut, key)).json()).toMatchObject({
      choices: [{ finish_reason: 'length' }],
    })
    expect(await (await target.messages(cut, key)).json()).toMatchObject({
      stop_reason: 'max_tokens',
    })
  })

  test('an invalid request is refused here and never sent', async () => {
    const { there, theirKey, target, key } = await chained()
    expect((await target.chat({ temperature: 3 }, key)).status).toBe(400)
    expect((await target.chat({}, 'sk-svc-wrong')).status).toBe(401)
    expect(await remaining(there, theirKey)).toBe(1_000)
  })

  test('tools may be offered in either format', async () => {
    const { target, key } = await chained()
    const tools = [{ name: 'look', input_schema: { type: 'object' } }]
    expect((await target.messages({ tools }, key)).status).toBe(200)
    expect((await target.messages({ tools: [], tool_choice: null }, key)).status).toBe(200)
    const functions = [{ type: 'function', function: { name: 'look', parameters: {} } }]
    expect((await target.chat({ tools: functions }, key)).status).toBe(200)
  })

  test('the official messages client streams through it', async () => {
    const { target, key } = await chained()
    const client = new Anthropic({ apiKey: key, baseURL: target.service.baseUrl })
    const message = await client.messages
      .stream({
        model: 'svc-k2',
        max_tokens: 50,
        messages: [{ role: 'user', content: 'Say: one two three' }],
      })
      .finalMessage()
    expect(message.content).toMatchObject([{ type: 'text', text: 'one two three' }])
    expect(message.usage.output_tokens).toBe(3)
  })

  test('the official chat client streams through it', async () => {
    const { target, key } = await chained()
    const client = new OpenAI({ apiKey: key, baseURL: `${target.service.baseUrl}/v1` })
    const stream = await client.chat.completions.create({
      model: 'svc-k2',
      messages: [{ role: 'user', content: 'Say: one two three' }],
      stream: true,
    })
    let text = ''
    for await (const part of stream) text += part.choices[0]?.delta.content ?? ''
    expect(text).toBe('one two three')
  })
})

test('a stream is relayed as it arrives, not at its end', async () => {
  const release = Promise.withResolvers<void>()
  const url = await upstreamThat(async (_, response) => {
    response.writeHead(200, streamed)
    response.write(chunk({ role: 'assistant', content: '' }) + chunk({ content: 'first' }))
    await release.promise
    response.end(`${chunk({ content: ' last' }, 'stop')}${usageChunk}data: [DONE]\n\n`)
  })
  const { target, key } = await inFrontOf(url)
  const answer = await target.chat({ stream: true, stream_options: { include_usage: true } }, key)
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('first')) text += (await reader.read()).value ?? ''
  expect(text).not.toContain('last')
  release.resolve()
  for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value
  expect(textOfChunks(text)).toBe('first last')
  expect(text).toContain('"usage":{"prompt_tokens":11,"completion_tokens":22,"total_tokens":33}')
  expect((await target.credits(key)).average_tokens_per_request).toBe(33)
})

test('a client that aborts cancels the upstream request', async () => {
  const cancelled = Promise.withResolvers<void>()
  const url = await upstreamThat((_, response) => {
    response.writeHead(200, streamed)
    response.write(chunk({ content: 'first' }))
    response.once('close', () => cancelled.resolve())
  })
  const { target, key } = await inFrontOf(url)
  const answer = await target.chat({ stream: true }, key)
  const reader = answer.body!.getReader()
  await reader.read()
  await reader.cancel()
  await expect(cancelled.promise).resolves.toBeUndefined()
})

test('the upstream is read no faster than the client reads', { tags: 'whole' }, async () => {
  const piece = chunk({ content: 'x'.repeat(256 << 10) })
  let sent = 0
  let enough = false
  const url = await upstreamThat(async (_, response) => {
    response.writeHead(200, streamed)
    for (; !enough; sent++) if (!response.write(piece)) await once(response, 'drain')
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
  })
  const { target, key } = await inFrontOf(url)
  const answer = await target.chat({ stream: true }, key)
  // Until nothing is sent any more: the data is then in the buffers between the two, which are as
  // large as the system makes them, but far below a quarter of a gigabyte.
  for (let before = -1, still = 0; still < 8; still = before === sent ? still + 1 : 0) {
    expect(sent).toBeLessThan(1_000)
    before = sent
    await setTimeout(50)
  }
  enough = true
  const text = textOfChunks(await answer.text())
  expect(text.length).toBe(sent * (256 << 10))
})

test('deltas with more than text are relayed unchanged, and so is the finish reason', async () => {
  const tool_calls = [{ index: 0, id: 'call_1', function: { name: 'look', arguments: '{}' } }]
  const url = await upstreamThat((_, response, body) => {
    if (JSON.parse(body).stream) {
      response.writeHead(200, streamed)
      response.end(`${chunk({ tool_calls })}${chunk({}, 'tool_calls')}data: [DONE]\n\n`)
      return
    }
    const message = { role: 'assistant', content: null, tool_calls }
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ choices }))
  })
  const { target, key } = await inFrontOf(url)
  expect(await (await target.chat({}, key)).json()).toMatchObject({
    choices: [{ message: { content: null, tool_calls }, finish_reason: 'tool_calls' }],
  })
  const stream = await (await target.chat({ stream: true }, key)).text()
  expect(stream).toContain(JSON.stringify({ tool_calls }))
  expect(stream).toContain('"finish_reason":"tool_calls"')
})

test("the upstream gets its own key and model names, and the client's parameters", async () => {
  const seen: { authorization: string | undefined; body: Record<string, unknown> }[] = []
  const url = await upstreamThat((request, response, body) => {
    seen.push({ authorization: request.headers.authorization, body: JSON.parse(body) })
    response.writeHead(400).end('{"error":{"message":"not with key up-secret","code":"x"}}')
  })
  const models = ['svc-k2=big-model', 'small-model']
  const { target, key } = await inFrontOf(url, { apiKey: 'up-secret', models })
  const tools = [{ type: 'function', function: { name: 'look' } }]
  const asked = { tools, max_tokens: 100_000, max_completion_tokens: 9 }
  const refused = await target.chat(asked, key)
  expect(refused.status).toBe(400)
  expect(await refused.text()).not.toContain('up-secret')
  await target.messages({ model: 'svc-k2.5', system: 'Be brief', stop_sequences: ['.'] }, key)
  expect(seen.map(({ authorization }) => authorization)).toEqual([
    'Bearer up-secret',
    'Bearer up-secret',
  ])
  expect(seen[0]?.body).toMatchObject({ model: 'big-model', tools, max_tokens: 9 })
  expect(seen[0]?.body).not.toHaveProperty('max_completion_tokens')
  expect(seen[1]?.body).toMatchObject({
    model: 'small-model',
    messages: [{ role: 'system', content: 'Be brief' }, ...hello.messages],
    stop: ['.'],
    max_tokens: 64,
  })
})

test.each([
  ['ftp://example.com', 'expected an address such as'],
  ['not an address', 'expected an address such as'],
  ['http://me:secret@127.0.0.1', 'expected no user or password'],
])('an unusable address is refused at the start: %s', async (url, summary) => {
  await expect(inFrontOf(url)).rejects.toThrow(summary)
})

function textOfChunks(stream: string): string {
  return stream
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)).choices[0]?.delta.content ?? '')
    .join('')
}

test.each(['chat', 'messages'] as const)(
  'the head of a %s stream is sent before its first text',
  async (endpoint) => {
    const goOn = Promise.withResolvers<void>()
    const url = await upstreamThat(async (_request, response) => {
      response.writeHead(200, streamed).flushHeaders()
      await goOn.promise
      response.end(`${chunk({ content: 'one' })}${chunk({}, 'stop')}data: [DONE]\n\n`)
    })
    const { target, key } = await inFrontOf(url)
    const answer = await target[endpoint]({ stream: true }, key)
    expect(answer.status).toBe(200)
    goOn.resolve()
    expect(await answer.text()).toContain('one')
    expect(await remaining(target, key)).toBe(49)
  },
)
