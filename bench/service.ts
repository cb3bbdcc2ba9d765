/**
 * How much of the machine the reference service needs, so that it is never what is measured.
 *
 *     node bench/service.ts            both parts
 *     node bench/service.ts plain      requests per second against a bare node:http server
 *     node bench/service.ts streams    1,000 streams at 20 ms per token, against a bare node:http server
 *
 * Each server is a process of its own, bound to one core where `taskset` is there, and the client
 * to another. Besides requests per second it prints the server's CPU time per request: on a machine
 * that others use too, that is the truer figure, and its inverse is the rate of a core that is full.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { requestBody, ServerProcess, withLedger } from './service-process.ts'
import type { Span } from './service-server.ts'
import { streamsBench } from './service-streams.ts'

const connections = 64
const secondsPerSlice = 0.7
const rounds = 9

const part = process.argv[2]
if (part !== 'streams') await withLedger(plain)
if (part !== 'plain') await streamsBench()

interface Slice {
  readonly ratePerS: number
  readonly cpuUs: number
}

async function plain(path: string): Promise<void> {
  const assay = await ServerProcess.start('instant', path)
  // Both are up all the time and take turns, so that what else happens here hits both alike.
  const servers = { bare: await ServerProcess.start('bare', await assay.sample()), assay }
  const rates: Record<keyof typeof servers, { requests: number; seconds: number }[]> = {
    bare: [],
    assay: [],
  }
  const spans: Record<keyof typeof servers, Span[]> = { bare: [], assay: [] }
  const names = ['bare', 'assay'] as const
  for (const name of names) await hammer(servers[name], secondsPerSlice)
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const from = servers[name].mark()
      rates[name].push(await hammer(servers[name], secondsPerSlice))
      spans[name].push([from, servers[name].mark()])
    }
  }
  const results: Record<keyof typeof servers, Slice[]> = { bare: [], assay: [] }
  for (const name of names) {
    const slices = await servers[name].read(spans[name])
    results[name] = rates[name].map(({ requests, seconds }, round) => ({
      ratePerS: requests / seconds,
      cpuUs: slices[round]!.cpuUs / requests,
    }))
    await servers[name].stop()
  }
  for (const name of names) {
    const rate = median(results[name].map(({ ratePerS }) => ratePerS))
    const cpu = median(results[name].map(({ cpuUs }) => cpuUs))
    process.stdout.write(
      `${name.padEnd(6)} ${rate.toFixed(0).padStart(7)} requests/s  ` +
        `${cpu.toFixed(1).padStart(6)} us of CPU per request\n`,
    )
  }
  const pairs = results.bare.map((bare, round) => ({ bare, assay: results.assay[round]! }))
  const byRate = median(pairs.map(({ bare, assay }) => assay.ratePerS / bare.ratePerS))
  const byCpu = median(pairs.map(({ bare, assay }) => bare.cpuUs / assay.cpuUs))
  process.stdout.write(
    `ratio  ${byRate.toFixed(2)} by requests/s, ${byCpu.toFixed(2)} by CPU (medians of pairs)\n`,
  )
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!
}

/** Every connection sends its next request when the last was answered. */
async function hammer(
  server: ServerProcess,
  seconds: number,
): Promise<{ requests: number; seconds: number }> {
  const bytes = server.requestBytes(requestBody)
  let requests = 0
  let stop = false
  const start = performance.now()
  const one = async () => {
    const socket = connect(server.port, '127.0.0.1')
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
