/**
 * A small OpenAI-compatible API, behind each limiter: two keys, both formats, plain and streamed, and no credits.
 *
 * @returns {{ status: number, type: string, body: string }}
 */
export function answerTo(method, path, headers, text) {
  const key = headers.authorization?.replace(/^Bearer /, '') ?? headers['x-api-key']
  if (!['key-one', 'key-two'].includes(key)) return refusal(path, 401, 'invalid_api_key')
  if (method === 'GET' && path === '/v1/models') return json(200, { object: 'list', data: list })
  const answer = { '/v1/messages': messageOf, '/v1/chat/completions': completionOf }[path]
  if (method !== 'POST' || answer === undefined) return refusal(path, 404, 'not_found')
  const body = JSON.parse(text)
  if (!list.some(({ id }) => id === body.model)) return refusal(path, 404, 'model_not_found')
  const isValid = !(body.temperature > 2) && body.messages?.length > 0
  if (!isValid) return refusal(path, 400, 'invalid_request')
  return answer(body, endOf(body))
}

const list = ['model-a', 'model-b'].map((id) => ({
  ...{ id, object: 'model', created: created(), owned_by: 'foreign', root: id, parent: null },
  permission: [],
}))

function created() {
  return Math.floor(Date.now() / 1000)
}

/** The same words for every request, up to the token limit or a stop sequence. */
function endOf({ max_tokens: limit = 16, stop, stop_sequences }) {
  const words = []
  for (const word of ['Hello', ' there', ',', ' my', ' friend', '.']) {
    if (words.length === limit) return { words, end: 'limit' }
    const text = words.join('') + word
    const reached = [stop ?? stop_sequences ?? []].flat().filter((each) => text.includes(each))
    if (reached.length > 0) {
      const at = Math.min(...reached.map((each) => text.indexOf(each)))
      const whole = text.slice(0, at)
      return {
        words: whole === '' ? [] : [whole],
        end: 'stop',
        reached: reached.find((each) => text.indexOf(each) === at),
      }
    }
    words.push(word)
  }
  return { words, end: 'natural' }
}

let answers = 0

function completionOf({ model, n = 1, stream, stream_options: options }, { words, end }) {
  const base = {
    ...{ id: `chatcmpl-${++answers}`, created: created(), model },
    system_fingerprint: 'fp_foreign',
  }
  const finish_reason = end === 'limit' ? 'length' : 'stop'
  const [prompt_tokens, completion_tokens] = [4, words.length * n]
  const total_tokens = prompt_tokens + completion_tokens
  const usage = { prompt_tokens, completion_tokens, total_tokens }
  if (stream !== true) {
    const message = { role: 'assistant', content: words.join('') }
    const choices = Array.from({ length: n }, (_, index) => ({ index, message, finish_reason }))
    return json(200, { ...base, object: 'chat.completion', choices, usage })
  }
  const chunk = (delta, reason = null) => ({
    ...{ ...base, object: 'chat.completion.chunk' },
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  const events = [
    chunk({ role: 'assistant', content: '' }),
    ...words.map((content) => chunk({ content })),
    chunk({}, finish_reason),
    ...(options?.include_usage ? [{ ...chunk({}), choices: [], usage }] : []),
  ]
  const data = [...events.map((event) => JSON.stringify(event)), '[DONE]']
  return sse(data.map((each) => `data: ${each}\n\n`).join(''))
}

const stopReasons = { limit: 'max_tokens', stop: 'stop_sequence', natural: 'end_turn' }

function messageOf({ model, stream }, { words, end, reached = null }) {
  const base = { id: `msg_${++answers}`, type: 'message', role: 'assistant', model }
  const ending = { stop_reason: stopReasons[end], stop_sequence: reached }
  const text = words.join('')
  const usage = { input_tokens: 4, output_tokens: words.length }
  if (stream !== true) {
    return json(200, { ...base, ...ending, content: [{ type: 'text', text }], usage })
  }
  const begun = { stop_reason: null, stop_sequence: null, content: [] }
  const events = [
    {
      type: 'message_start',
      message: { ...base, ...begun, usage: { ...usage, output_tokens: 0 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...words.map((text) => ({
      ...{ type: 'content_block_delta', index: 0 },
      delta: { type: 'text_delta', text },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: ending, usage: { output_tokens: words.length } },
    { type: 'message_stop' },
  ]
  return sse(
    events.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join(''),
  )
}

const messagesTypes = { 401: 'authentication_error', 429: 'rate_limit_error' }

/**
 * An error in the words of the route.
 *
 * @returns {{ status: number, type: string, body: string }}
 */
export function refusal(path, status, code) {
  const message = `Refused: ${code}.`
  if (path === '/v1/messages') {
    const type = messagesTypes[status] ?? 'invalid_request_error'
    return json(status, { type: 'error', error: { type, message } })
  }
  const type = status === 429 ? 'rate_limit_error' : 'invalid_request_error'
  return json(status, { error: { message, type, param: null, code } })
}

function json(status, value) {
  return { status, type: 'application/json', body: JSON.stringify(value) }
}

function sse(body) {
  return { status: 200, type: 'text/event-stream', body }
}
