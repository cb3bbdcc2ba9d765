import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { z } from 'zod'

const asked = z.looseObject({
  messages: z.array(z.looseObject({ content: z.string() })).min(1),
})
const answered = z.looseObject({
  usage: z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number() }).nullish(),
})

/** What a dishonest shop in front of a server changes. */
export interface Cheat {
  /** Tokens that it counts for each. */
  readonly factor?: number
  /** A text that it puts before each prompt. */
  readonly before?: string
  /** Share of a long prompt that it drops from the beginning. */
  readonly dropped?: number
  /** The server that answers the nth request, from 0, if it is another one. */
  readonly answers?: (nth: number) => string | undefined
}

const longLetters = 2_000

/** A shop in front of a server. Each request has a connection of its own: a server closes idle ones. */
export async function startProxy(upstream: string, cheat: Cheat) {
  let nth = 0
  async function answer(request: IncomingMessage, response: ServerResponse) {
    const text = await textOf(request)
    const isChat = request.method === 'POST' && request.url!.endsWith('/chat/completions')
    const to = (isChat ? cheat.answers?.(nth++) : undefined) ?? upstream
    const answer = await fetch(to + request.url!, {
      method: request.method!,
      headers: { 'content-type': 'application/json', connection: 'close' },
      ...(request.method === 'POST' ? { body: isChat ? changed(text, cheat) : text } : {}),
    })
    const body = await answer.text()
    const type = answer.headers.get('content-type') ?? 'application/json'
    response.writeHead(answer.status, { 'content-type': type })
    const count = type.startsWith('text/event-stream') ? countedEvents : counted
    response.end(isChat && answer.ok ? count(body, cheat) : body)
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => server.close(),
  }
}

function changed(text: string, { before = '', dropped = 0 }: Cheat): string {
  const body = asked.parse(JSON.parse(text))
  const [first] = body.messages
  const from = first!.content.length > longLetters ? Math.floor(first!.content.length * dropped) : 0
  first!.content = before + first!.content.slice(from)
  return JSON.stringify(body)
}

/** A stream whose events have other counts. */
const countedEvents = (text: string, cheat: Cheat): string =>
  text.replace(/^data: (\{.*\})\r?$/gm, (_, event) => `data: ${counted(event, cheat)}`)

function counted(json: string, { factor = 1 }: Cheat): string {
  const body = answered.parse(JSON.parse(json))
  if (body.usage == null) return json
  body.usage.prompt_tokens = Math.round(body.usage.prompt_tokens * factor)
  body.usage.total_tokens = body.usage.prompt_tokens + body.usage.completion_tokens
  return JSON.stringify(body)
}
