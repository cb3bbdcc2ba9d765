/**
 * What a hostile service can make a client hold: peak memory of a client by itself, beside its bound.
 *
 *     node bench/hostile-memory.ts [CONNECTIONS=200] [SECONDS=10]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ResponseMemory } from '../src/client/bytes/memory.ts'
import { AttemptClient, deadlinesOf } from '../src/client/call/client.ts'
import { buildTemplate, plainRequest, prepareRequest } from '../src/client/call/request.ts'
import { Http1Transport } from '../src/client/wire/http1/transport.ts'
import { UndiciTransport } from '../src/client/wire/undici/transport.ts'
import { defaultContract } from '../src/contract/default.ts'
import { StepCounters } from '../src/run/count/attempt-counts.ts'

const memoryMb = 512
/** Node, undici, the rows and what the collector has not yet taken. */
const restMb = 400

const head = (type: string) =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`
const piece = Buffer.alloc(64 * 1024, 0x61)
const chunk = Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')])
let codes = 0

/** What is sent first; then `a` without end, unless it is a whole answer. */
const cases: Readonly<Record<string, () => { readonly begin: string; readonly whole: boolean }>> = {
  'an event without end': () => endless('text/event-stream', 'data: {"a":"'),
  'a line without end': () => endless('text/event-stream', ': '),
  'a body without end': () => endless('application/json', '{"a":"'),
  'an error code of its own for each answer': () => {
    const body = `{"error":{"code":"code-${codes++}","message":"m"}}`
    return {
      begin: `HTTP/1.1 400 X\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      whole: true,
    }
  },
}

function endless(type: string, begin: string) {
  const first = `${begin.length.toString(16)}\r\n${begin}\r\n`
  return { begin: head(type) + first, whole: false }
}

function serve(name: string, socket: Socket): void {
  socket.on('error', () => {})
  socket.on('data', () => {
    const { begin, whole } = cases[name]!()
    socket.write(begin)
    if (whole) return
    const flood = () => {
      while (socket.writable && socket.write(chunk));
    }
    socket.on('drain', flood)
    flood()
  })
}

/** Sends on all connections until the time is over, and prints what it came to. */
async function client(transportName: string, port: number, connections: number, seconds: number) {
  const options = {
    origin: `http://127.0.0.1:${port}`,
    maxConnections: connections,
    connectTimeoutMs: 10_000,
  }
  const transport =
    transportName === 'own' ? new Http1Transport(options) : new UndiciTransport(options)
  const memory = new ResponseMemory(memoryMb * 2 ** 20)
  const counters = new StepCounters()
  const attempts = new AttemptClient({
    transport,
    contract: defaultContract,
    now: () => performance.now() * 1000,
    deadlines: deadlinesOf(defaultContract),
    memory,
  })
  const request = prepareRequest(
    buildTemplate(defaultContract, '', { ...plainRequest, model: 'm', stream: true }),
    'sk-bench-pQ7wZx4mTd',
  )
  let answers = 0
  const ask = () => {
    attempts.start(request, {
      onItl: () => {},
      onEnd: (attempt) => {
        answers++
        counters.error(`${attempt.errorCode ?? attempt.reason}`)
        setImmediate(ask)
      },
    })
  }
  for (let connection = 0; connection < connections; connection++) ask()
  await sleep(seconds * 1000)
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024)
  process.stdout.write(
    `${JSON.stringify({ peakMb, heldMb: Math.round(memory.peakBytes / 2 ** 20), answers, kinds: counters.errors.size })}\n`,
  )
  process.exit()
}

const [first, ...rest] = process.argv.slice(2)
if (first === 'client') await client(rest[0]!, Number(rest[1]), Number(rest[2]), Number(rest[3]))

const connections = Number(first ?? 200)
const seconds = Number(rest[0] ?? 10)
const boundMb = memoryMb + restMb
process.stdout.write(`${connections} connections, ${seconds} s each; bound ${boundMb} MB\n`)
let failed = false
for (const name of Object.keys(cases)) {
  for (const transportName of ['own', 'undici']) {
    const server = createServer((socket) => serve(name, socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const sockets = new Set<Socket>()
    server.on('connection', (socket) => sockets.add(socket))
    const { port } = server.address() as AddressInfo
    const child = spawn(
      process.execPath,
      [import.meta.filename, 'client', transportName, `${port}`, `${connections}`, `${seconds}`],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    let out = ''
    child.stdout.on('data', (bytes) => (out += bytes))
    await once(child, 'close')
    for (const socket of sockets) socket.destroy()
    server.close()
    const seen = JSON.parse(out) as Record<'peakMb' | 'heldMb' | 'answers' | 'kinds', number>
    failed ||= seen.peakMb > boundMb
    process.stdout.write(
      `${name.padEnd(42)} ${transportName.padEnd(7)} peak ${String(seen.peakMb).padStart(5)} MB` +
        ` of ${boundMb}, ${seen.heldMb} MB held by answers, ${seen.answers} answers, ${seen.kinds} kinds\n`,
    )
  }
}
process.exitCode = failed ? 1 : 0
