/**
 * A provider behind LiteLLM: chat completions with usage by part, plain and streamed. The second time that it sees a long prompt,
 * it says that most of it came from a cache. It keeps a ledger of its own: `node upstream.js PORT LEDGER`.
 */
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [port = '8201', ledger = 'ledger.jsonl'] = process.argv.slice(2)
const seen = new Set()
let served = 0

const textOf = (content) =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join(' ')

function usageOf({ messages = [], max_tokens, max_completion_tokens }) {
  const text = messages.map(({ content }) => textOf(content)).join(' ')
  const prompt = Math.ceil(text.length / 4) + 3
  const cached = prompt > 1024 && seen.has(text) ? Math.floor(prompt / 128) * 128 : 0
  seen.add(text)
  const output = Math.min(max_tokens ?? max_completion_tokens ?? 24, 24)
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: 0 },
  }
}

createServer(async (request, response) => {
  let body = ''
  for await (const piece of request) body += piece
  const asked = JSON.parse(body || '{}')
  response.setHeader('content-type', 'application/json')
  if (!Array.isArray(asked.messages)) return response.end('{"object":"list","data":[]}')
  const id = `chatcmpl-up${++served}`
  const usage = usageOf(asked)
  appendFileSync(
    ledger,
    `${JSON.stringify({ id, model: asked.model, stream: asked.stream === true, usage })}\n`,
  )
  const base = { id, created: 1_770_000_000, model: asked.model }
  const words = Array.from({ length: usage.completion_tokens }, () => 'word ')
  if (asked.stream !== true) {
    const message = { role: 'assistant', content: words.join('') }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    return response.end(JSON.stringify({ ...base, object: 'chat.completion', choices, usage }))
  }
  response.setHeader('content-type', 'text/event-stream')
  const say = (chunk) =>
    response.write(
      `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...chunk })}\n\n`,
    )
  for (const content of words)
    say({ choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] })
  say({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  if (asked.stream_options?.include_usage) say({ choices: [], usage })
  response.end('data: [DONE]\n\n')
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('upstream\n'))
