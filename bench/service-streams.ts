import { connect } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { requestBody, ServerProcess, withLedger } from './service-process.ts'
import type { Reading } from './service-server.ts'

const streams = 1_000
const gapMs = 20
const tokensPerStream = 500
/** The streams are opened, and so end, over that time. */
const openingMs = 2_000
const marker = Buffer.from('data: ')
const done = Buffer.from('[DONE]')
// All connections read into one place: what was read is looked at before the next read.
const buffer = Buffer.allocUnsafe(65_536)

/**
 * How well the service keeps the pace of 1,000 streams at 20 ms per token, after a warm-up:
 *
 * - in the service: when a token had been given to the system, against its plan, by its own clock;
 * - at the client: when a token was read, against the plan that fits the earliest of its stream.
 *   That includes the client's own lateness, whose part in it the delay of its event loop tells.
 *
 * The figures are those of the time in which all streams are open, then those of the whole run,
 * with the opening of 1,000 connections.
 */
export async function streamsBench(): Promise<void> {
  await withLedger(async (path) => {
    const server = await ServerProcess.start('paced', path, `${gapMs}`, `${tokensPerStream}`)
    await Promise.all(
      Array.from({ length: streams / 2 }, async (_, index) => {
        await sleep(index * 2)
        await read(server, 25, () => {})
      }),
    )
    await sleep(500)
    const arrivals: number[][] = []
    server.mark()
    const loop = monitorEventLoopDelay({ resolution: 1 })
    loop.enable()
    const begun = performance.now()
    const all = Array.from({ length: streams }, async (_, index) => {
      await sleep((index * openingMs) / streams)
      const times: number[] = []
      arrivals.push(times)
      await read(server, tokensPerStream, (now) => times.push(now))
    })
    await sleep(openingMs + 500)
    server.mark()
    const from = performance.now()
    await sleep(tokensPerStream * gapMs - openingMs - 1_000)
    server.mark()
    const to = performance.now()
    await Promise.all(all)
    const seconds = (performance.now() - begun) / 1000
    const [, opening, steady, closing] = (await server.read()) as [
      Reading,
      Reading,
      Reading,
      Reading,
    ]
    await server.stop()
    const errors = arrivals.map(errorsOf)
    const inside = errors.flatMap((stream) =>
      stream.filter(({ at }) => at >= from && at < to).map(({ errorMs }) => errorMs),
    )
    const whole = errors.flatMap((stream) => stream.map(({ errorMs }) => errorMs))
    const cpuUs = opening.cpuUs + steady.cpuUs + closing.cpuUs
    process.stdout.write(
      [
        `${streams} streams at ${gapMs} ms per token, all of them open, ${((to - from) / 1000).toFixed(1)} s:`,
        `  in the service  ${serviceText(steady)}`,
        `  at the client   ${textOf(inside)}`,
        `  the service used ${(steady.cpuUs / 10 / (to - from)).toFixed(0)} % of a core, ` +
          `${(steady.cpuUs / steady.tokens).toFixed(1)} us per token`,
        `the whole run, opening and closing included, ${seconds.toFixed(1)} s:`,
        `  in the service  opening ${serviceText(opening)}`,
        `                  closing ${serviceText(closing)}`,
        `  at the client   ${textOf(whole)}`,
        `  the service used ${(cpuUs / 1e4 / seconds).toFixed(0)} % of a core`,
        `  the client's event loop was late by p99 ${(loop.percentile(99) / 1e6 - 1).toFixed(2)} ms, ` +
          `max ${(loop.max / 1e6 - 1).toFixed(2)} ms`,
        '',
      ].join('\n'),
    )
  })
}

/** Reads one stream; tells when each of its tokens came. */
function read(server: ServerProcess, tokens: number, onToken: (now: number) => void) {
  return new Promise<void>((resolve) => {
    // The first event carries the role and no words, the last two the reason and the end.
    let events = -1
    const socket = connect({
      port: server.port,
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
    socket.write(server.requestBytes({ ...requestBody, stream: true, max_tokens: tokens }))
  })
}

interface PacingError {
  readonly at: number
  readonly errorMs: number
}

/** Of each token of a stream, against the plan that fits the earliest. */
function errorsOf(times: readonly number[]): readonly PacingError[] {
  const begun = times.map((time, token) => time - token * gapMs)
  const plan = begun.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY)
  return times.map((at, token) => ({ at, errorMs: begun[token]! - plan }))
}

function serviceText({ tokens, p50LateMs, p99LateMs, maxLateMs }: Reading): string {
  return `${row(p50LateMs, p99LateMs, maxLateMs)}  (${tokens} tokens)`
}

function textOf(errorsMs: readonly number[]): string {
  const sorted = Float64Array.from(errorsMs).sort()
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!
  return `${row(at(0.5), at(0.99), at(1))}  (${sorted.length} tokens)`
}

function row(p50: number, p99: number, max: number): string {
  return `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, max ${max.toFixed(2)} ms`
}
