import { expect, test } from 'vitest'
import { contentOf } from '../../../src/run/expect/answer.ts'

const stream = (...events: readonly unknown[]) =>
  events
    .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    .join('')

const weather = { name: 'get_weather', arguments: '{"city":"Oslo"}' }
const called = { id: 'c1', type: 'function', function: weather }

const bodies: Readonly<Record<string, string>> = {
  chat: JSON.stringify({
    choices: [{ index: 0, message: { content: 'Yes.', tool_calls: [called] } }],
  }),
  'a chat stream': stream(
    { choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
    { choices: [{ index: 0, delta: { content: 'Ye' } }] },
    { choices: [{ index: 1, delta: { content: 'No.' } }] },
    { choices: [{ index: 0, delta: { content: 's.' } }] },
    {
      choices: [
        {
          delta: {
            tool_calls: [{ index: 0, id: 'c1', function: { name: 'get_weather', arguments: '' } }],
          },
        },
      ],
    },
    { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] } }] },
    { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] } }] },
    '[DONE]',
  ),
  messages: JSON.stringify({
    type: 'message',
    content: [
      { type: 'text', text: 'Yes.' },
      { type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Oslo' } },
    ],
  }),
  'a messages stream': stream(
    { type: 'message_start', message: { content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Yes.' } },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'c1', name: 'get_weather', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: '{"city":"Oslo"}' },
    },
    { type: 'message_stop' },
  ),
  responses: JSON.stringify({
    output: [
      { type: 'message', content: [{ type: 'output_text', text: 'Yes.' }] },
      { type: 'function_call', call_id: 'c1', ...weather },
    ],
  }),
  'a responses stream': stream(
    { type: 'response.output_text.delta', delta: 'Yes.' },
    { type: 'response.output_text.done', text: 'Yes.' },
    {
      type: 'response.output_item.done',
      item: { type: 'message', content: [{ type: 'output_text', text: 'Yes.' }] },
    },
    {
      type: 'response.output_item.done',
      item: { type: 'function_call', id: 'f', call_id: 'c1', ...weather },
    },
    {
      type: 'response.completed',
      response: { output: [{ type: 'function_call', call_id: 'c1', ...weather }] },
    },
  ),
}

test.each(Object.entries(bodies))('the text and the tool call of %s are read once', (_, body) => {
  expect(contentOf(body)).toEqual({ text: 'Yes.', tools: [{ id: 'c1', ...weather }] })
})

test('a body of no format has neither text nor tool calls', () => {
  for (const body of ['', 'null', '[1]', '{"choices":[null]}', 'data: {', '<html>']) {
    expect(contentOf(body)).toEqual({ text: null, tools: [] })
  }
})
