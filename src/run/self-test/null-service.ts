import { createServer, type Server, type Socket } from 'node:net'
import type { Prompted } from '../../contract/request.ts'
import { type NullAnswer, nullAnswers } from './null-answers.ts'

const told =
  'x-credits-remaining: 1000000\r\nx-ratelimit-limit: 500\r\nx-ratelimit-remaining: 499\r\nx-ratelimit-reset: 60\r\n'
const responseOf = (type: string, body: string) =>
  Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${told}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )

const responsesOf = ({ whole, stream }: NullAnswer) => ({
  plain: responseOf('application/json', whole),
  streamed: responseOf('text/event-stream', stream),
})

/**
 * A service that does next to nothing, to measure the client. It parses only as much HTTP/1.1 as our own
 * requests need: a head, a content-length, a body.
 *
 * @param events number of events of text in each stream, which is sent in one piece
 * @param endpointOf which endpoint a path is of
 */
export function nullService(
  events: number,
  endpointOf: (path: string) => Prompted = () => 'chat',
): Server {
  const bodies = nullAnswers(events)
  const answers = {
    chat: responsesOf(bodies.chat),
    messages: responsesOf(bodies.messages),
    responses: responsesOf(bodies.responses),
    embeddings: responsesOf(bodies.embeddings),
  }
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
        const { plain, streamed } = answers[endpointOf(head.split(' ', 2)[1]!)]
        socket.write(rest.includes('"stream":true', headEnd) ? streamed : plain)
        rest = rest.subarray(end)
      }
    })
  })
}
