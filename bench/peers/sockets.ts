/**
 * `node bench/peers/sockets.ts PORT '{"ratePerS": 2000, "seconds": 15, "connections": 64, "body": "…"}'`
 *
 * The floor of this platform: bare sockets of Node that send the requests of a work, count what they read,
 * and keep three times of each request. No parser, no rows, no checks. `ratePerS: null` is flat out.
 */
import { connect, type Socket } from 'node:net'

interface Asked {
  readonly ratePerS: number | null
  readonly seconds: number
  readonly connections: number
  readonly body: string
}

const [, , port, asked] = process.argv
const { ratePerS, seconds, connections, body } = JSON.parse(asked!) as Asked
const request = Buffer.from(
  `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
)
const buffer = Buffer.allocUnsafeSlow(64 * 1024)
const planned = ratePerS === null ? Infinity : Math.round(ratePerS * seconds)
const startMs = performance.now()
const endMs = startMs + seconds * 1000
const idle: Lane[] = []
const all: Socket[] = []
const ttftsMs: number[] = []
const responsesMs: number[] = []
let sent = 0
let isOver = false

/** A connection and the request on it. */
class Lane {
  private readonly socket: Socket
  private sentMs = 0
  private isFirst = true
  /** Bytes of a plain body that are still to come; a chunked one ends by its last chunk. */
  private left = 0
  private isChunked = false

  constructor() {
    const callback = (length: number) => {
      this.onRead(length)
      return true
    }
    this.socket = connect(
      {
        host: '127.0.0.1',
        port: Number(port),
        noDelay: true,
        onread: { buffer, callback },
      },
      () => this.socket.write(request),
    )
    all.push(this.socket)
    this.begin()
  }

  send(): void {
    this.begin()
    this.socket.write(request)
  }

  private begin(): void {
    sent++
    this.sentMs = performance.now()
    this.isFirst = true
  }

  private onRead(length: number): void {
    if (this.isFirst) this.onHead(length)
    else if (!this.isChunked) this.left -= length
    const isLast = this.isChunked
      ? length > 5 && buffer[length - 5] === 48 && buffer[length - 6] === 10
      : this.left === 0
    if (!isLast) return
    responsesMs.push(performance.now() - this.sentMs)
    this.onEnd()
  }

  private onHead(length: number): void {
    this.isFirst = false
    ttftsMs.push(performance.now() - this.sentMs)
    const head = buffer.toString('latin1', 0, length)
    this.isChunked = /\r\ntransfer-encoding: chunked/i.test(head)
    const declared = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    this.left = declared - (length - head.indexOf('\r\n\r\n') - 4)
  }

  private onEnd(): void {
    if (ratePerS === null && performance.now() < endMs) this.send()
    else idle.push(this)
    const isLast = ratePerS === null ? idle.length === all.length : responsesMs.length === planned
    if (isLast && !isOver) end()
  }
}

function end(): void {
  isOver = true
  for (const socket of all) socket.destroy()
  const times = (values: number[]) => {
    values.sort((a, b) => a - b)
    const at = (share: number) => values[Math.floor(values.length * share)] ?? null
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
  }
  console.log(
    JSON.stringify({
      done: responsesMs.length,
      response: times(responsesMs),
      ttft: times(ttftsMs),
    }),
  )
}

function sendDue(): void {
  const due = Math.min(planned, Math.floor(((performance.now() - startMs) * ratePerS!) / 1000))
  while (sent < due) {
    const lane = idle.pop()
    if (lane === undefined) new Lane()
    else lane.send()
  }
  if (sent < planned) setTimeout(sendDue, 1)
}

if (ratePerS === null) for (let lane = 0; lane < connections; lane++) new Lane()
else sendDue()
