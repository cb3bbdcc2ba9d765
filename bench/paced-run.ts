import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { machineTime } from './machine.ts'
import { requestBody, type ServerProcess } from './service-process.ts'
import type { Span } from './service-server.ts'

export const streams = 1_000
export const gapMs = 20
export const tokensPerStream = 300
/** The streams are opened, and so end, over that time. */
const openingMs = 2_000
const warmUpTokens = 50
const marker = Buffer.from('data: ')
const done = Buffer.from('[DONE]')
// All connections read into one place: what was read is looked at before the next read.
const buffer = Buffer.allocUnsafe(65_536)

/** One run of a thousand streams, as the client saw it. */
export interface PacedRun {
  /** Of the server's figures, while all streams were open and over the whole run. */
  readonly open: Span
  readonly whole: Span
  readonly seconds: number
  readonly openSeconds: number
  readonly clientOpenP99Ms: number
  readonly clientWholeP99Ms: number
  /** Used by this process. */
  readonly clientMs: number
  /** Of the whole machine; null where the system does not tell. */
  readonly machine: { readonly busyMs: number; readonly stolenMs: number } | null
}

/** Short streams, as many as are measured, so that the code is compiled by then. */
export async function warmUp(server: ServerProcess): Promise<void> {
  const bytes = requestOf(server, warmUpTokens)
  await Promise.all(
    Array.from({ length: streams }, async (_, index) => {
      await sleep(index)
      await read(server, bytes, warmUpTokens, () => {})
    }),
  )
  await sleep(300)
}

/**
 * At the client a token is as late as it was read, against the plan that fits the earliest of its
 * stream: that includes the client's own lateness.
 */
export async function pacedRun(server: ServerProcess): Promise<PacedRun> {
  const bytes = requestOf(server, tokensPerStream)
  // Of stream after stream; made before, so that none of it is collected meanwhile.
  const arrivals = new Float64Array(streams * tokensPerStream).fill(Number.NaN)
  const before = machineTime()
  const cpu = process.cpuUsage()
  const begun = performance.now()
  const from = server.mark()
  const all = Array.from({ length: streams }, async (_, index) => {
    await sleep((index * openingMs) / streams)
    let at = index * tokensPerStream
    await read(server, bytes, tokensPerStream, (now) => {
      arrivals[at++] = now
    })
  })
  await sleep(openingMs + 500)
  const [openFrom, openBegun] = [server.mark(), performance.now()]
  await sleep(tokensPerStream * gapMs - openingMs - 1_000)
  const [openTo, openEnded] = [server.mark(), performance.now()]
  await Promise.all(all)
  const to = server.mark()
  const ended = performance.now()
  const used = process.cpuUsage(cpu)
  const after = machineTime()
  const errorsMs = errorsOf(arrivals)
  const inside = errorsMs.filter((_, at) => openBegun <= arrivals[at]! && arrivals[at]! < openEnded)
  return {
    open: [openFrom, openTo],
    whole: [from, to],
    seconds: (ended - begun) / 1000,
    openSeconds: (openEnded - openBegun) / 1000,
    clientOpenP99Ms: p99(inside),
    clientWholeP99Ms: p99(errorsMs),
    clientMs: (used.user + used.system) / 1000,
    machine:
      before === null || after === null
        ? null
        : { busyMs: after.busyMs - before.busyMs, stolenMs: after.stolenMs - before.stolenMs },
  }
}

function requestOf(server: ServerProcess, tokens: number): Buffer {
  return server.requestBytes({ ...requestBody, stream: true, max_tokens: tokens })
}

/** Reads one stream; tells when each of its tokens came. */
function read(
  { port }: ServerProcess,
  request: Buffer,
  tokens: number,
  onToken: (now: number) => void,
) {
  return new Promise<void>((resolve) => {
    // The first event carries the role and no words, the last two the reason and the end.
    let events = -1
    const socket = connect({
      port,
      host: '127.0.0.1',
      onread: {
        buffer,
        callback(length) {
          const now = performance.now()
          const bytes = buffer.subarray(0, length)
          for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + 6)) {
            if (events >= 0 && events < tokens) onToken(now)
            events++
          }
          if (events > tokens && bytes.includes(done)) {
            socket.destroy()
            resolve()
          }
          return true
        },
      },
    })
    socket.write(request)
  })
}

/** Of each token of each stream, against the plan that fits the earliest of the stream. */
function errorsOf(arrivals: Float64Array): Float64Array {
  const errorsMs = new Float64Array(arrivals.length)
  for (let first = 0; first < arrivals.length; first += tokensPerStream) {
    const begun = arrivals
      .subarray(first, first + tokensPerStream)
      .map((time, token) => time - token * gapMs)
    const plan = begun.reduce((least, time) => Math.min(least, time))
    errorsMs.set(
      begun.map((time) => time - plan),
      first,
    )
  }
  return errorsMs
}

function p99(errorsMs: Float64Array): number {
  const sorted = errorsMs.slice().sort()
  return sorted[Math.floor(0.99 * (sorted.length - 1))] ?? Number.NaN
}
