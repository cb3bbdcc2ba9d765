/** What a place of an answer holds. */
type Holds = 'text' | 'reasoning' | 'nothing'

/**
 * All places where text, reasoning, refusals, tool calls, audio and images may stand, with an example
 * document each. `src/client/document/document-words.ts` is the table that these prove.
 */

const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] })
const message = (fields: object) => ({ choices: [{ index: 0, message: fields }] })
const call = (fields: object) => delta({ tool_calls: [{ index: 0, function: fields }] })
const response = (type: string, fields: object) => ({ type: `response.${type}`, ...fields })
const block = (content_block: object) => ({ type: 'content_block_start', index: 0, content_block })
const blockDelta = (fields: object) => ({ type: 'content_block_delta', index: 0, delta: fields })

export const places: readonly (readonly [where: string, document: object, holds: Holds])[] = [
  // Chat: content
  ['chat: content', delta({ content: 'x' }), 'text'],
  ['chat: empty content', delta({ role: 'assistant', content: '' }), 'nothing'],
  ['chat: null content', delta({ content: null, refusal: null, audio: null }), 'nothing'],
  ['chat: a text part', delta({ content: [{ type: 'text', text: 'x' }] }), 'text'],
  ['chat: an empty text part', delta({ content: [{ type: 'text', text: '' }] }), 'nothing'],
  ['chat: no parts', delta({ content: [] }), 'nothing'],
  ['chat: a bare string as part', delta({ content: ['x'] }), 'text'],
  ['chat: one part, not in a list', delta({ content: { type: 'text', text: 'x' } }), 'text'],
  ['chat: a part of output', delta({ content: [{ type: 'output_text', text: 'x' }] }), 'text'],
  ['chat: a whole message', message({ role: 'assistant', content: 'x' }), 'text'],
  ['chat: text of a legacy completion', { choices: [{ index: 0, text: 'x' }] }, 'text'],
  ['chat: text of another choice', { choices: [{ index: 1, delta: { content: 'x' } }] }, 'text'],
  ['chat: no choice', { choices: [] }, 'nothing'],
  // Chat: refusals
  ['chat: refusal', delta({ refusal: 'x' }), 'text'],
  ['chat: a part with a refusal', delta({ content: [{ type: 'refusal', refusal: 'x' }] }), 'text'],
  // Chat: reasoning
  ['chat: reasoning_content', delta({ content: '', reasoning_content: 'x' }), 'reasoning'],
  ['chat: reasoning', delta({ reasoning: 'x' }), 'reasoning'],
  ['chat: empty reasoning', delta({ reasoning: '' }), 'nothing'],
  ['chat: thinking', delta({ thinking: 'x' }), 'reasoning'],
  ['chat: reasoning_text', delta({ reasoning_text: 'x' }), 'reasoning'],
  ['chat: reasoning as an object', delta({ reasoning: { content: 'x' } }), 'reasoning'],
  [
    'chat: a thinking part with a list',
    delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'x' }] }] }),
    'reasoning',
  ],
  [
    'chat: a thinking part with a string',
    delta({ content: [{ type: 'thinking', thinking: 'x' }] }),
    'reasoning',
  ],
  [
    'chat: a part of reasoning',
    delta({ content: [{ type: 'reasoning', text: 'x' }] }),
    'reasoning',
  ],
  [
    'chat: the same, type last',
    delta({ content: [{ text: 'x', type: 'reasoning' }] }),
    'reasoning',
  ],
  [
    'chat: reasoning_details',
    delta({ content: '', reasoning_details: [{ type: 'reasoning.text', text: 'x', index: 0 }] }),
    'reasoning',
  ],
  [
    'chat: a summary in reasoning_details',
    delta({ reasoning_details: [{ type: 'reasoning.summary', summary: 'x' }] }),
    'reasoning',
  ],
  [
    'chat: encrypted reasoning_details',
    delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] }),
    'nothing',
  ],
  [
    'chat: thinking_blocks',
    delta({ thinking_blocks: [{ type: 'thinking', thinking: 'x', signature: 's' }] }),
    'reasoning',
  ],
  // Chat: calls of tools
  ['chat: name of a tool', call({ name: 'f', arguments: '' }), 'text'],
  ['chat: arguments of a tool', call({ arguments: '{"a"' }), 'text'],
  ['chat: arguments as an object', call({ name: '', arguments: { a: 1 } }), 'text'],
  ['chat: empty arguments', call({ arguments: '' }), 'nothing'],
  ['chat: no tool calls', delta({ tool_calls: [] }), 'nothing'],
  [
    'chat: a custom tool',
    delta({ tool_calls: [{ index: 0, type: 'custom', custom: { name: 'f', input: 'x' } }] }),
    'text',
  ],
  ['chat: function_call', delta({ function_call: { name: 'f', arguments: '' } }), 'text'],
  // Chat: audio and images
  ['chat: data of audio', delta({ audio: { id: 'a', data: 'AAAA' } }), 'text'],
  ['chat: transcript of audio', delta({ audio: { id: 'a', transcript: 'x' } }), 'text'],
  ['chat: end of audio', delta({ audio: { id: 'a', expires_at: 9 } }), 'nothing'],
  [
    'chat: an image',
    delta({ images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }] }),
    'text',
  ],
  // Chat: what is no text
  ['chat: a role', delta({ role: 'assistant' }), 'nothing'],
  ['chat: a name of the author', delta({ name: 'bot' }), 'nothing'],
  ['chat: annotations', delta({ annotations: [{ type: 'url_citation' }] }), 'nothing'],
  [
    'chat: results of a content filter',
    {
      choices: [
        { index: 0, finish_reason: null, content_filter_results: { error: { code: 'e' } } },
      ],
    },
    'nothing',
  ],
  // Messages
  ['messages: text', blockDelta({ type: 'text_delta', text: 'x' }), 'text'],
  ['messages: thinking', blockDelta({ type: 'thinking_delta', thinking: 'x' }), 'reasoning'],
  ['messages: a signature', blockDelta({ type: 'signature_delta', signature: 's' }), 'nothing'],
  ['messages: a citation', blockDelta({ type: 'citations_delta', citation: { a: 1 } }), 'nothing'],
  [
    'messages: arguments of a tool',
    blockDelta({ type: 'input_json_delta', partial_json: '{"a"' }),
    'text',
  ],
  ['messages: the start of a text', block({ type: 'text', text: '' }), 'nothing'],
  ['messages: the start with text', block({ type: 'text', text: 'x' }), 'text'],
  ['messages: the start of thinking', block({ type: 'thinking', thinking: '' }), 'nothing'],
  ['messages: the start of a tool', block({ type: 'tool_use', name: 'f', input: {} }), 'text'],
  ['messages: redacted thinking', block({ type: 'redacted_thinking', data: 'x' }), 'nothing'],
  [
    'messages: a whole message',
    { type: 'message', content: [{ type: 'text', text: 'x' }] },
    'text',
  ],
  [
    'messages: thinking of a whole message',
    { type: 'message', content: [{ type: 'thinking', thinking: 'x' }] },
    'reasoning',
  ],
  ['messages: a start', { type: 'message_start', message: { content: [] } }, 'nothing'],
  ['messages: a ping', { type: 'ping' }, 'nothing'],
  // Responses
  ['responses: text', response('output_text.delta', { delta: 'x' }), 'text'],
  ['responses: empty text', response('output_text.delta', { delta: '' }), 'nothing'],
  ['responses: refusal', response('refusal.delta', { delta: 'x' }), 'text'],
  ['responses: a tool', response('function_call_arguments.delta', { delta: '{' }), 'text'],
  ['responses: audio', response('output_audio.delta', { delta: 'AAAA' }), 'text'],
  ['responses: a transcript', response('output_audio_transcript.delta', { delta: 'x' }), 'text'],
  [
    'responses: an image',
    response('image_generation_call.partial_image', { partial_image_b64: 'A' }),
    'text',
  ],
  [
    'responses: the start of a tool',
    response('output_item.added', { item: { type: 'function_call', name: 'f', arguments: '' } }),
    'text',
  ],
  [
    'responses: the start of a message',
    response('output_item.added', { item: { type: 'message', role: 'assistant', content: [] } }),
    'nothing',
  ],
  [
    'responses: the start of a part',
    response('content_part.added', { part: { type: 'output_text', text: '', annotations: [] } }),
    'nothing',
  ],
  [
    'responses: a beginning',
    response('created', { response: { status: 'in_progress' } }),
    'nothing',
  ],
  [
    'responses: a whole answer',
    {
      object: 'response',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'x' }] }],
    },
    'text',
  ],
  [
    'responses: reasoning of a whole answer',
    { output: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'x' }] }] },
    'reasoning',
  ],
  [
    'responses: open reasoning of a whole answer',
    {
      output: [
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'x' }] },
      ],
    },
    'reasoning',
  ],
]
