import { createServer, type Server, type Socket } from 'node:net'

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
const told =
  'x-credits-remaining: 1000000\r\nx-ratelimit-limit: 500\r\nx-ratelimit-remaining: 499\r\nx-ratelimit-reset: 60\r\n'
const plain = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${told}content-length: ${Buffer.byteLength(completion)}\r\n\r\n${completion}`,
)
const chunk = (content: string, finish: string | null) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-null', object: 'chat.completion.chunk', created: 1, model: 'svc-k2', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`

/**
 * A service that does next to nothing, to measure the client. It parses only as much HTTP/1.1 as our own
 * requests need: a head, a content-length, a body.
 *
 * @param events number of events in each stream, which is sent in one piece
 */
export function nullService(events: number): Server {
  const stream = `${chunk(' word', null).repeat(events - 1)}${chunk(' end', 'stop')}data: [DONE]\n\n`
  const streamed = Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${told}content-length: ${Buffer.byteLength(stream)}\r\n\r\n${stream}`,
  )
  return createServer({ noDelay: true }, (socket: Socket) => {
    let rest = Buffer.alloc(0)
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes) => {
      rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
      for (;;) {
        const headEnd = rest.indexOf('\r\n\r\n')
        if (headEnd < 0) return
        const head = rest.toString('latin1', 0, headEnd)
        const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)
        const end = headEnd + 4 + length
        if (rest.length < end) return
        socket.write(rest.includes('"stream":true', headEnd) ? streamed : plain)
        rest = rest.subarray(end)
      }
    })
  })
}
