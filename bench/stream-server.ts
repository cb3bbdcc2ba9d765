/**
 * Streams of known truth: each event carries the moment at which it was written, on the system's
 * monotonic clock, which all processes share. Prints its port.
 *
 *     node bench/stream-server.ts TOKENS GAP_US [tls]
 *
 * One timer serves all streams, and each stream begins where its request came, so that they are
 * staggered as their requests were. A gap of 0 sends one event and then holds the stream open.
 */
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'

const tokens = Number(process.argv[2])
const gapUs = Number(process.argv[3])
const secure = process.argv[4] === 'tls'

interface Stream {
  readonly socket: Socket
  /** Its event in a chunk, but for the digits of the moment. */
  readonly chunk: Buffer
  sent: number
  dueUs: number
}

const head =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Credits-Remaining: 4711\r\nTransfer-Encoding: chunked\r\n\r\n'
const nowUs = () => Number(process.hrtime.bigint() / 1000n)

/** A moment on the system's clock in so many digits: enough for three hundred years. */
const digits = 16
const zeros = '0'.repeat(digits)
const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
const ending = Buffer.from(
  `${finish.length.toString(16)}\r\n${finish}\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n`,
)
const behindDigits = '"},"finish_reason":null}]}\n\n\r\n'

/** A list in the order of what is due next: all gaps are equal, so it stays sorted by itself. */
let due: Stream[] = []
let from = 0
let begun = 0

function accept(socket: Socket): void {
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', () => {
    begun++
    const event = `data: {"id":"chatcmpl-${`${begun}`.padStart(16, '0')}","object":"chat.completion.chunk","created":1700000000,"model":"svc-k2","choices":[{"index":0,"delta":{"content":" ${zeros}${behindDigits}`
    const chunk = Buffer.from(`${(event.length - 2).toString(16)}\r\n${event}`, 'latin1')
    socket.write(head)
    const stream = { socket, chunk, sent: 0, dueUs: nowUs() + gapUs }
    if (gapUs === 0) write(stream)
    else due.push(stream)
  })
}

/**
 * The stamp is the last thing before the write, and next to nothing is allocated for either: a
 * server that stops to collect garbage between them is late on the client's account.
 */
function write(stream: Stream): void {
  const { socket } = stream
  // What the kernel has not taken yet still points into the chunk.
  const chunk = socket.writableLength > 0 ? Buffer.from(stream.chunk) : stream.chunk
  const last = ++stream.sent === tokens && gapUs > 0
  if (last) socket.cork()
  stampUs(chunk)
  socket.write(chunk)
  if (!last) return
  socket.write(ending)
  socket.uncork()
}

function stampUs(chunk: Buffer): void {
  let at = chunk.length - behindDigits.length
  for (let us = nowUs(); us > 0; us = Math.floor(us / 10)) chunk[--at] = 48 + (us % 10)
}

function turn(): void {
  const now = nowUs()
  while (from < due.length && due[from]!.dueUs <= now) {
    const stream = due[from++]!
    if (stream.socket.destroyed) continue
    write(stream)
    stream.dueUs += gapUs
    if (stream.sent < tokens) due.push(stream)
  }
  if (from > 65_536) {
    due = due.slice(from)
    from = 0
  }
}
if (gapUs > 0) setInterval(turn, 1)

const pem = (name: string) =>
  readFileSync(new URL(`../test/client/tls/${name}.pem`, import.meta.url), 'utf8')
const server = secure
  ? createTlsServer({ key: pem('server-key'), cert: pem('server') }, accept)
  : createServer(accept)
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  console.log((server.address() as AddressInfo).port),
)
