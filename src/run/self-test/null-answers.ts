import type { Prompted } from '../../contract/request.ts'

/** A whole response of chat. */
export const completion = JSON.stringify({
  id: 'chatcmpl-null',
  object: 'chat.completion',
  created: 1,
  model: 'svc-k2',
  system_fingerprint: 'fp',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
})

const tokens = { input_tokens: 5, output_tokens: 2 }
const messageHead = { id: 'msg-null', type: 'message', role: 'assistant', model: 'svc-k2' }
const text = { type: 'text', text: 'Yes.' }
const message = JSON.stringify({
  ...messageHead,
  content: [text],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: tokens,
})

const responseHead = { id: 'resp-null', object: 'response', created_at: 1, model: 'svc-k2' }
const ended = {
  ...responseHead,
  status: 'completed',
  output: [
    {
      ...{ id: 'msg-null', type: 'message', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
    },
  ],
  usage: { ...tokens, total_tokens: 7 },
}

const embedding = JSON.stringify({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.5] }],
  model: 'svc-k2',
  usage: { prompt_tokens: 5, total_tokens: 5 },
})

const chunk = (content: string, finish: string | null) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-null', object: 'chat.completion.chunk', created: 1, model: 'svc-k2', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`

const named = (type: string, fields: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

const chatStream = (events: number) =>
  `${chunk(' word', null).repeat(events - 1)}${chunk(' end', 'stop')}data: [DONE]\n\n`

const messageStream = (events: number) =>
  [
    named('message_start', {
      message: {
        ...messageHead,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: tokens,
      },
    }),
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    named('content_block_delta', {
      index: 0,
      delta: { type: 'text_delta', text: ' word' },
    }).repeat(events),
    named('content_block_stop', { index: 0 }),
    named('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 2 },
    }),
    named('message_stop'),
  ].join('')

const responseStream = (events: number) =>
  [
    named('response.created', { response: { ...responseHead, status: 'in_progress', output: [] } }),
    named('response.output_text.delta', {
      ...{ item_id: 'msg-null', output_index: 0, content_index: 0 },
      delta: ' word',
    }).repeat(events),
    named('response.completed', { response: ended }),
  ].join('')

/** The body of an answer, whole and as a stream. */
export interface NullAnswer {
  readonly whole: string
  readonly stream: string
}

/** A success of each endpoint. @param events of text in each stream */
export const nullAnswers = (events: number): Readonly<Record<Prompted, NullAnswer>> => ({
  chat: { whole: completion, stream: chatStream(events) },
  messages: { whole: message, stream: messageStream(events) },
  responses: { whole: JSON.stringify(ended), stream: responseStream(events) },
  embeddings: { whole: embedding, stream: embedding },
})
