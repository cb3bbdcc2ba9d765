/**
 * How much of the machine the reference service needs, so that it is never what is measured.
 *
 *     node bench/service.ts            both parts
 *     node bench/service.ts plain      requests per second against a bare node:http server
 *     node bench/service.ts streams    1,000 streams at 20 ms per token
 *
 * Each server is a process of its own, bound to one core where `taskset` is there, and the client
 * to another. Besides requests per second it prints the server's CPU time per request: on a machine
 * that others use too, that is the truer figure, and its inverse is the rate of a core that is full.
 */

import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { type Clock, realClock } from '../src/service/clock.ts'
import { startService } from '../src/service/start.ts'

const connections = 64
const secondsPerSlice = 0.7
const rounds = 9
const streams = 1_000
const tokensPerStream = 100
const tokenGapMs = 20

const requestBody = JSON.stringify({
  model: 'svc-k2',
  messages: [{ role: 'user', content: 'Tell me a short story about a lighthouse keeper.' }],
})

interface Ready {
  readonly port: number
  readonly apiKey: string
}

/** By the service's clock, for each thing that was due. */
const latenessUs: number[] = []

const role = process.argv[2]
if (role === 'serve-assay') await serveAssay()
else if (role === 'serve-bare') await serveBare()
else {
  if (role !== 'streams') await plain()
  if (role !== 'plain') await paced()
}

async function serveAssay(): Promise<void> {
  const instant = process.argv[3] === 'instant'
  const clock = realClock()
  const timed: Clock['at'] = (dueUs, callback) =>
    clock.at(dueUs, () => {
      latenessUs.push(clock.nowUs() - dueUs)
      callback()
    })
  const zero = { kind: 'constant', value: 0 } as const
  const service = await startService({
    dataPath: process.argv[4]!,
    seed: 1,
    accounts: [{ name: 'bench', balance: 100_000_000 }],
    clock: { nowUs: () => clock.nowUs(), at: timed },
    contract: await wideContract(),
    shape: instant
      ? {
          timeToFirstUs: zero,
          betweenTokensUs: zero,
          lengthTokens: { kind: 'constant', value: 16 },
        }
      : {
          timeToFirstUs: { kind: 'uniform', min: 0, max: tokenGapMs * 1000 },
          betweenTokensUs: { kind: 'constant', value: tokenGapMs * 1000 },
          lengthTokens: { kind: 'constant', value: tokensPerStream },
        },
  })
  report({ port: Number(new URL(service.baseUrl).port), apiKey: service.keys[0]!.apiKey })
}

/** The default contract with limits that a benchmark does not reach. */
async function wideContract() {
  const { defaultContract } = await import('../src/contract/default.ts')
  const requests = { minute: 1e9, hour: 1e9, day: 1e9 }
  return {
    ...defaultContract,
    bands: defaultContract.bands.map((band) => ({ ...band, requests })),
  }
}

async function serveBare(): Promise<void> {
  const { head, body } = JSON.parse(process.argv[3]!) as {
    head: Record<string, string>
    body: string
  }
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    request.resume()
    request.on('end', () => {
      response.sendDate = false
      response.writeHead(200, head)
      response.end(body)
    })
  })
  server.listen(0, '127.0.0.1', () =>
    report({ port: (server.address() as AddressInfo).port, apiKey: '-' }),
  )
}

function report(ready: Ready): void {
  process.send!(ready)
  process.on('message', () => {
    latenessUs.sort((a, b) => a - b)
    const p99LateMs = (latenessUs[Math.floor(latenessUs.length * 0.99)] ?? 0) / 1000
    const reading: Reading = { ...process.cpuUsage(), p99LateMs }
    process.send!(reading)
  })
}

async function plain(): Promise<void> {
  const path = `/tmp/assay-bench-${process.pid}.db`
  const sample = JSON.stringify(await sampleResponse())
  // Both are up all the time and take turns, so that what else happens here hits both alike.
  const servers = {
    bare: await started(['serve-bare', sample]),
    assay: await started(['serve-assay', 'instant', path]),
  }
  const results: Record<keyof typeof servers, Slice[]> = { bare: [], assay: [] }
  for (const name of ['bare', 'assay'] as const) await hammer(servers[name].ready, secondsPerSlice)
  for (let round = 0; round < rounds; round++) {
    for (const name of ['bare', 'assay'] as const) {
      const { child, ready } = servers[name]
      const before = await cpuUs(child)
      const { requests, seconds } = await hammer(ready, secondsPerSlice)
      const used = (await cpuUs(child)) - before
      results[name].push({ ratePerS: requests / seconds, cpuUs: used / requests })
    }
  }
  for (const { child } of Object.values(servers)) {
    child.kill()
    await once(child, 'exit')
  }
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  for (const name of ['bare', 'assay'] as const) {
    const rate = median(results[name].map(({ ratePerS }) => ratePerS))
    const cpu = median(results[name].map((slice) => slice.cpuUs))
    console.log(
      `${name.padEnd(6)} ${rate.toFixed(0).padStart(7)} requests/s  ` +
        `${cpu.toFixed(1).padStart(6)} us of CPU per request`,
    )
  }
  const pairs = results.bare.map((bare, round) => ({ bare, assay: results.assay[round]! }))
  const byRate = median(pairs.map(({ bare, assay }) => assay.ratePerS / bare.ratePerS))
  const byCpu = median(pairs.map(({ bare, assay }) => bare.cpuUs / assay.cpuUs))
  console.log(
    `ratio  ${byRate.toFixed(2)} by requests/s, ${byCpu.toFixed(2)} by CPU (medians of pairs)`,
  )
}

interface Slice {
  readonly ratePerS: number
  readonly cpuUs: number
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!
}

async function sampleResponse(): Promise<{ head: Record<string, string>; body: string }> {
  const server = await started(['serve-assay', 'instant', ':memory:'])
  const response = await fetch(`http://127.0.0.1:${server.ready.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${server.ready.apiKey}` },
    body: requestBody,
  })
  const body = await response.text()
  const head = Object.fromEntries(response.headers)
  delete head.connection
  delete head['keep-alive']
  server.child.kill()
  return { head, body }
}

async function started(args: readonly string[]): Promise<{ child: ChildProcess; ready: Ready }> {
  const child = fork(import.meta.filename, args)
  const [ready] = (await once(child, 'message')) as [Ready]
  pin(child.pid!, 0)
  pin(process.pid, 1)
  return { child, ready }
}

function pin(pid: number, core: number): void {
  try {
    execFileSync('taskset', ['-a', '-cp', String(core), String(pid)], { stdio: 'ignore' })
  } catch {
    // Without taskset the system places them.
  }
}

interface Reading extends NodeJS.CpuUsage {
  /** How late the service itself was with what was due. */
  readonly p99LateMs: number
}

async function reading(child: ChildProcess): Promise<Reading> {
  child.send('read')
  const [usage] = (await once(child, 'message')) as [Reading]
  return usage
}

async function cpuUs(child: ChildProcess): Promise<number> {
  const { user, system } = await reading(child)
  return user + system
}

function requestBytes({ apiKey }: Ready, body: string): Buffer {
  return Buffer.from(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n` +
      `authorization: Bearer ${apiKey}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** Every connection sends its next request when the last was answered. */
async function hammer(
  ready: Ready,
  seconds: number,
): Promise<{ requests: number; seconds: number }> {
  const bytes = requestBytes(ready, requestBody)
  let requests = 0
  let stop = false
  const start = performance.now()
  const one = async () => {
    const socket = connect(ready.port, '127.0.0.1')
    socket.setNoDelay(true)
    await once(socket, 'connect')
    let pending = ''
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        pending += chunk.toString('latin1')
        const head = pending.indexOf('\r\n\r\n')
        if (head < 0) return
        const length = Number(/content-length: (\d+)/i.exec(pending)?.[1])
        if (pending.length < head + 4 + length) return
        if (!pending.startsWith('HTTP/1.1 200')) throw new Error(pending)
        pending = ''
        requests++
        if (stop) {
          socket.destroy()
          resolve()
        } else socket.write(bytes)
      })
      socket.write(bytes)
    })
  }
  const timer = setTimeout(() => {
    stop = true
  }, seconds * 1000)
  await Promise.all(Array.from({ length: connections }, one))
  clearTimeout(timer)
  return { requests, seconds: (performance.now() - start) / 1000 }
}

/**
 * The pacing error of a token is its arrival at the client against where the first token and the
 * gap put it. It includes the client's own lateness, so the service's is below it.
 */
async function paced(): Promise<void> {
  const server = await started(['serve-assay', 'paced', ':memory:'])
  const body = JSON.stringify({ ...JSON.parse(requestBody), stream: true, max_tokens: 4096 })
  const bytes = requestBytes(server.ready, body)
  const errorsMs: number[] = []
  const marker = Buffer.from('data: ')
  const before = await cpuUs(server.child)
  const start = performance.now()
  const one = async (index: number) => {
    await new Promise((resolve) => setTimeout(resolve, (index * 1000) / streams))
    const socket = connect(server.ready.port, '127.0.0.1')
    let first = 0
    // The first event carries the role and no words, the last two the reason and the end.
    let events = -1
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        const now = performance.now()
        for (let at = chunk.indexOf(marker); at >= 0; at = chunk.indexOf(marker, at + 6)) {
          if (events === 0) first = now
          else if (events > 0 && events < tokensPerStream) {
            errorsMs.push(Math.abs(now - first - events * tokenGapMs))
          }
          events++
        }
        if (events >= tokensPerStream + 2) {
          socket.destroy()
          resolve()
        }
      })
      socket.write(bytes)
    })
  }
  await Promise.all(Array.from({ length: streams }, (_, index) => one(index)))
  const seconds = (performance.now() - start) / 1000
  const { p99LateMs, user, system } = await reading(server.child)
  const used = user + system - before
  server.child.kill()
  errorsMs.sort((a, b) => a - b)
  const at = (share: number) => errorsMs[Math.floor(share * (errorsMs.length - 1))]!.toFixed(2)
  console.log(
    `${streams} streams at ${tokenGapMs} ms per token: ${errorsMs.length + streams} tokens; pacing error ` +
      `at the client p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms; ` +
      `in the service p99 ${p99LateMs.toFixed(2)} ms; ` +
      `server at ${(used / 1e4 / seconds).toFixed(0)} % of a core`,
  )
}
