/**
 * One reader of streams under measurement, in a process of its own:
 *
 *     node bench/stream-client.ts assay|undici|bare PORT STREAMS SECONDS    paced streams, begun anew
 *     node bench/stream-client.ts hold PORT STREAMS 0 [tls]            opened once and held
 *
 * `undici` is what most tools do: undici, a string for each read, `JSON.parse` for each event.
 * `bare` counts the reads of bare sockets and stamps those of sampled streams: what no client on Node
 * can go below here and now.
 * Prints one line of JSON.
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { AttemptClient, deadlinesOf } from '../src/client/call/client.ts'
import { buildTemplate, plainRequest, prepareRequest } from '../src/client/call/request.ts'
import type { Attempt } from '../src/client/row/attempt.ts'
import type { AttemptListener } from '../src/client/row/attempt-context.ts'
import { Http1Transport } from '../src/client/wire/http1/transport.ts'
import { defaultContract } from '../src/contract/default.ts'
import { runClock } from '../src/run/clock.ts'

const [, , role, port, streamsText, secondsText, scheme] = process.argv
const streams = Number(streamsText)
const seconds = Number(secondsText)
const origin = scheme === 'tls' ? `https://localhost:${port}` : `http://127.0.0.1:${port}`
/** Two lives of a stream and more: what comes at an end and a new beginning is compiled by then. */
const warmUpS = 5
/** All events of one stream in so many are compared with the truth. */
const sampled = 8

// Microseconds on the clock of the server's stamps.
const now = runClock(0n)

const request = prepareRequest(
  buildTemplate(defaultContract, '', {
    ...plainRequest,
    stream: true,
    model: 'svc-k2',
    messages: [{ role: 'user', content: 'Tell me a story.' }],
  }),
  'sk-bench-pQ7wZx4mTd',
)

/** Where the server's stamp lies in an event. */
const stampDigits = 16
const behindStamp = '"},"finish_reason":null}]}'.length

let measuring = false
let events = 0
let open = 0
const ttftErrorsUs: number[] = []
const itlErrorsUs: number[] = []

/** What one stream saw last, by the client's clock and by the server's. */
class Truth {
  private clientUs = Number.NaN
  private serverUs = Number.NaN

  see(clientUs: number, serverUs: number): void {
    if (measuring) {
      if (Number.isNaN(this.clientUs)) ttftErrorsUs.push(Math.abs(clientUs - serverUs))
      else {
        itlErrorsUs.push(Math.abs(clientUs - this.clientUs - (serverUs - this.serverUs)))
      }
    }
    this.clientUs = clientUs
    this.serverUs = serverUs
  }
}

/** The moment that an event which ends at `end` carries; 0 for an event that carries none. */
function stampIn(bytes: Buffer, end: number): number {
  let us = 0
  for (let at = end - behindStamp - stampDigits; at < end - behindStamp; at++) {
    const digit = (bytes[at] ?? 0) - 48
    if (digit < 0 || digit > 9) return 0
    us = us * 10 + digit
  }
  return us
}

function attempts(): AttemptClient {
  const ca = readFileSync(new URL('../test/client/tls/authority.pem', import.meta.url), 'utf8')
  const transport = new Http1Transport({
    origin,
    maxConnections: Infinity,
    connectTimeoutMs: 60_000,
    ...(scheme === 'tls' ? { ca } : {}),
  })
  return new AttemptClient({
    transport,
    contract: defaultContract,
    now,
    deadlines: deadlinesOf(defaultContract),
  })
}

function assay(): void {
  const client = attempts()
  /** As the flights of a run: one for each stream, its methods those of all. */
  class Listener implements AttemptListener {
    onItl(): void {
      events++
    }
    onEnd(attempt: Attempt): void {
      if (attempt.outcome !== 'ok') throw new Error(`${attempt.outcome} ${attempt.reason}`)
      client.start(request, this, 'never')
    }
  }
  // Only sampled streams look into their events, so that the measuring is not what is measured.
  class Sampled extends Listener {
    private truth = new Truth()
    onEvent(atUs: number, bytes: Buffer, _start: number, end: number): void {
      const serverUs = stampIn(bytes, end)
      if (serverUs > 0) this.truth.see(atUs, serverUs)
    }
    override onEnd(attempt: Attempt): void {
      this.truth = new Truth()
      super.onEnd(attempt)
    }
  }
  const start = (at: number) => {
    const listener = at % sampled === 0 ? new Sampled() : new Listener()
    client.start(request, listener, 'never')
  }
  for (let at = 0; at < streams; at++) setTimeout(start, (at * 1000) / streams, at)
}

function bareUndici(): void {
  const pool = new Pool(origin, { connections: null })
  const { method, path, headers, body } = request.wire
  const options = { method, path, headers: headers.flat(), body: Buffer.from(body) }
  const start = (at: number) => {
    const truth = new Truth()
    let text = ''
    pool.dispatch(options, {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData(_controller, chunk) {
        const readUs = now()
        text += chunk.toString('utf8')
        for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
          const data = text.slice(6, end)
          text = text.slice(end + 2)
          if (data === '[DONE]') continue
          const content: string = JSON.parse(data).choices[0].delta.content
          events++
          if (at % sampled === 0) truth.see(readUs, Number(content))
        }
      },
      onResponseEnd: () => start(at),
      onResponseError(_controller, error) {
        throw error
      },
    })
  }
  for (let at = 0; at < streams; at++) setTimeout(start, (at * 1000) / streams, at)
}

function bareSockets(): void {
  const readBuffer = Buffer.allocUnsafeSlow(64 * 1024)
  const { path, body } = request.wire
  const request_kind = Buffer.concat([
    Buffer.from(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`),
    body,
  ])
  const start = (at: number) => {
    let truth = new Truth()
    const callback = (length: number): boolean => {
      events++
      if (at % sampled === 0) {
        const readUs = now()
        const serverUs = stampIn(readBuffer, length - 4)
        if (serverUs > 0) truth.see(readUs, serverUs)
      }
      // The chunk of length 0 that ends a body.
      if (readBuffer[length - 5] === 48 && readBuffer[length - 6] === 10) {
        truth = new Truth()
        socket.write(request_kind)
      }
      return true
    }
    const socket = connect(
      {
        host: '127.0.0.1',
        port: Number(port),
        noDelay: true,
        onread: { buffer: readBuffer, callback },
      },
      () => socket.write(request_kind),
    )
  }
  for (let at = 0; at < streams; at++) setTimeout(start, (at * 1000) / streams, at)
}

/** The error that 99 of 100 stay below. */
function p99(errors: readonly number[]): number {
  return [...errors].sort((a, b) => a - b)[Math.floor(errors.length * 0.99)] ?? Number.NaN
}

async function paced(): Promise<void> {
  await sleep(warmUpS * 1000)
  measuring = true
  const [fromEvents, fromCpu, fromMs] = [events, process.cpuUsage(), performance.now()]
  await sleep(seconds * 1000)
  const cpu = process.cpuUsage(fromCpu)
  const wallMs = performance.now() - fromMs
  console.log(
    JSON.stringify({
      core: (cpu.user + cpu.system) / 1000 / wallMs,
      eventsPerS: ((events - fromEvents) * 1000) / wallMs,
      cpuUsPerEvent: (cpu.user + cpu.system) / (events - fromEvents),
      ttftErrorP99Ms: p99(ttftErrorsUs) / 1000,
      itlErrorP99Ms: p99(itlErrorsUs) / 1000,
    }),
  )
}

/** Opens streams a few at a time and holds them; memory once all have had an event. */
async function hold(): Promise<void> {
  const client = attempts()
  globalThis.gc?.()
  const beforeBytes = process.memoryUsage.rss()
  const listener: AttemptListener = {
    onItl: () => {},
    onEvent: () => {
      open++
    },
    onEnd: (attempt) => {
      throw new Error(`${attempt.outcome} ${attempt.reason}`)
    },
  }
  for (let at = 0; at < streams; at++) {
    client.start(request, listener, 'never')
    // No more handshakes at once than a listener's backlog holds.
    while (at - open > 200) await sleep(1)
  }
  while (open < streams) await sleep(5)
  await sleep(500)
  const bytes = process.memoryUsage.rss()
  console.log(
    JSON.stringify({ rssMb: bytes / 1e6, perStreamKb: (bytes - beforeBytes) / streams / 1000 }),
  )
}

if (role === 'hold') await hold()
else {
  if (role === 'undici') bareUndici()
  else if (role === 'bare') bareSockets()
  else assay()
  await paced()
}
process.exit()
