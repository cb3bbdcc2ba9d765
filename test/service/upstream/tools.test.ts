import Anthropic from '@anthropic-ai/sdk'
import { expect, test } from 'vitest'
import { countTokens } from '../../../src/service/tokens.ts'
import { chunk, streamed, upstreamThat, usageChunk } from './broken-server.ts'
import { inFrontOf, remaining } from './relaying.ts'

type Json = Record<string, unknown>

const look = {
  name: 'look',
  description: 'Looks a word up',
  input_schema: { type: 'object' as const, properties: { word: { type: 'string' } } },
}
const question = { model: 'svc-k2', max_tokens: 64, tools: [look] }
const asked = { role: 'user' as const, content: 'What is assay?' }
const called = (index: number, word: string, whole = true) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name: 'look', arguments: whole ? JSON.stringify({ word }) : '' },
})
const uses = [
  { type: 'tool_use', id: 'call_0', name: 'look', input: { word: 'assay' } },
  { type: 'tool_use', id: 'call_1', name: 'look', input: { word: 'say' } },
]

/** An upstream that calls two tools, and then answers from their results. */
async function lookingUp() {
  const seen: Json[] = []
  const url = await upstreamThat((_, response, text) => {
    const body = JSON.parse(text) as { stream: boolean; messages: readonly Json[] }
    seen.push(body)
    const results = body.messages.filter(({ role }) => role === 'tool').length
    const more = (index: number, part: string) =>
      chunk({ tool_calls: [{ index, function: { arguments: part } }] })
    if (body.stream) {
      response.writeHead(200, streamed)
      const begun = (index: number) => chunk({ tool_calls: [called(index, '', false)] })
      response.write(chunk({ role: 'assistant', content: 'Let me look.' }))
      response.write(`${begun(0)}${more(0, '{"wo')}${more(0, 'rd":"assay"}')}`)
      response.write(`${begun(1)}${more(1, '{"word":"say"}')}`)
      response.end(`${chunk({}, 'tool_calls')}${usageChunk}data: [DONE]\n\n`)
      return
    }
    const message =
      results === 0
        ? { role: 'assistant', content: null, tool_calls: [called(0, 'assay'), called(1, 'say')] }
        : { role: 'assistant', content: `${results} results` }
    const finish_reason = results === 0 ? 'tool_calls' : 'stop'
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason }] }))
  })
  const { target, key } = await inFrontOf(url)
  const client = new Anthropic({ baseURL: target.service.baseUrl, apiKey: key, maxRetries: 0 })
  return { seen, client, target, key }
}

test('the anthropic client gets tool calls, sends their results, and gets an answer', async () => {
  const { seen, client, target, key } = await lookingUp()
  const first = await client.messages.create({
    ...question,
    tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
    messages: [asked],
  })
  expect(first).toMatchObject({ content: uses, stop_reason: 'tool_use' })
  expect(first.content).toHaveLength(2)
  // The upstream reports no usage, so the calls are counted here.
  expect(first.usage.output_tokens).toBe(countTokens('look{"word":"assay"}look{"word":"say"}'))
  const results = [
    { type: 'tool_result' as const, tool_use_id: 'call_0', content: 'a test of metal' },
    {
      type: 'tool_result' as const,
      tool_use_id: 'call_1',
      content: [{ type: 'text' as const, text: 'to speak' }],
    },
    { type: 'text' as const, text: 'Be brief.' },
  ]
  const second = await client.messages.create({
    ...question,
    messages: [
      asked,
      { role: 'assistant', content: first.content },
      { role: 'user', content: results },
    ],
  })
  expect(second).toMatchObject({
    content: [{ type: 'text', text: '2 results' }],
    stop_reason: 'end_turn',
  })
  const { input_schema: parameters, ...named } = look
  expect(seen[0]).toMatchObject({
    tools: [{ type: 'function', function: { ...named, parameters } }],
    tool_choice: { type: 'function', function: { name: 'look' } },
    parallel_tool_calls: false,
  })
  const toldAgain = (index: number, word: string) => {
    const { index: _, ...call } = called(index, word)
    return call
  }
  expect(seen[1]?.messages).toEqual([
    asked,
    {
      role: 'assistant',
      content: null,
      tool_calls: [toldAgain(0, 'assay'), toldAgain(1, 'say')],
    },
    { role: 'tool', tool_call_id: 'call_0', content: 'a test of metal' },
    { role: 'tool', tool_call_id: 'call_1', content: 'to speak' },
    { role: 'user', content: 'Be brief.' },
  ])
  expect(await remaining(target, key)).toBe(48)
})

test('a stream has each tool call as its own block, after the text', async () => {
  const { client } = await lookingUp()
  const message = await client.messages.stream({ ...question, messages: [asked] }).finalMessage()
  expect(message).toMatchObject({
    content: [{ type: 'text', text: 'Let me look.' }, ...uses],
    stop_reason: 'tool_use',
    usage: { output_tokens: 22 },
  })
  expect(message.content).toHaveLength(3)
})

test('tool arguments that are not JSON are a failure of the upstream, and free', async () => {
  const url = await upstreamThat((_, response) => {
    const call = { ...called(0, 'x'), function: { name: 'look', arguments: '{"wo' } }
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
  })
  const { target, key } = await inFrontOf(url)
  expect((await target.messages({ tools: [look] }, key)).status).toBe(500)
  expect(await remaining(target, key)).toBe(50)
})

const result = { type: 'tool_result', tool_use_id: 'call_0', content: [{ type: 'image' }] }
test.each([
  [{ tools: { look } }, 'tools: expected an array'],
  [{ tools: [look, { type: 'web_search_1', name: 'web' }] }, 'tools[1]: expected a name and an '],
  [{ tools: [look], tool_choice: 'any' }, 'tool_choice: expected an object with type auto'],
  [{ tool_choice: { type: 'any' } }, 'tool_choice: expected tools to choose from'],
  [
    { tools: [look], messages: [{ role: 'user', content: [result] }] },
    'messages[0].content[0]: expected a text block; got a block of type "tool_result"',
  ],
])('a request that chat cannot express is a free 400: %j', async (body, words) => {
  const { target, key, seen } = await lookingUp()
  const answer = await target.messages(body, key)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({
    error: { type: 'invalid_request_error', message: expect.stringContaining(words) },
  })
  expect([seen.length, await remaining(target, key)]).toEqual([0, 50])
})
