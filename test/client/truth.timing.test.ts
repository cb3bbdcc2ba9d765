import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AttemptClient } from '../../src/client/call/client.ts'
import type { AttemptListener } from '../../src/client/row/attempt-context.ts'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import type { Transport } from '../../src/client/wire/transport.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { runClock } from '../../src/run/clock.ts'
import { ask, noDeadlines } from './asking.ts'

/**
 * Other work on the machine may delay a measured time, so times are retried; wrong counts are not.
 */
const retry = 2

/**
 * One clock for the server's thread and ours, as the threads of a run have it. Wall times of thread
 * starts are not one clock: they are read separately from the monotonic ones, and may be set
 * meanwhile.
 */
const now = runClock(0n)

let server: Worker
let transport: Transport
let client: AttemptClient

beforeAll(async () => {
  server = new Worker(new URL('./timed-server.worker.ts', import.meta.url))
  const [port] = (await once(server, 'message')) as [number]
  transport = new Http1Transport({
    origin: `http://127.0.0.1:${port}`,
    maxConnections: Number.POSITIVE_INFINITY,
    connectTimeoutMs: 5000,
  })
  client = new AttemptClient({ transport, contract: defaultContract, now, deadlines: noDeadlines })
})

afterAll(async () => {
  await transport.close()
  await server.terminate()
})

interface Timed {
  readonly outcome: string
  readonly ttftMs: number
  /** Our stamp of the first token against the server's. */
  readonly firstErrorMs: number
  /** Each gap of ours against the server's. */
  readonly gapErrorsMs: readonly number[]
}

function timed(path: string, prompt = 'Hello'): Promise<Timed> {
  return new Promise((resolve) => {
    const gapsUs: number[] = []
    const writtenUs: number[] = []
    const listener: AttemptListener = {
      onItl: (itlUs) => gapsUs.push(itlUs),
      onEvent: (_atUs, bytes, start, end) => {
        const stamp = /"content":"(\d+) /.exec(
          bytes.toString('latin1', start, Math.min(end, start + 200)),
        )
        if (stamp !== null) writtenUs.push(Number(stamp[1]))
      },
      onEnd: (attempt) =>
        resolve({
          outcome: attempt.outcome,
          ttftMs: (attempt.firstContentUs - attempt.sentUs) / 1000,
          firstErrorMs: (attempt.firstContentUs - writtenUs[0]!) / 1000,
          gapErrorsMs: gapsUs.map(
            (itlUs, at) => Math.abs(itlUs - (writtenUs[at + 1]! - writtenUs[at]!)) / 1000,
          ),
        }),
    }
    const messages = [{ role: 'user', content: prompt }]
    client.start(ask({ stream: true, path, messages }), listener, 'never')
  })
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!
}

test('TTFT and the gaps of fifty streams are within a millisecond of the truth', {
  retry,
}, async () => {
  await timed('/?first=1&gap=1&tokens=200')
  const all = await Promise.all(
    // Started one after the other: fifty writes in one millisecond would measure the server's
    // thread.
    Array.from({ length: 50 }, async (_, at) => {
      await sleep(at)
      return timed('/?first=50&gap=10&tokens=20')
    }),
  )
  expect(all.every(({ outcome }) => outcome === 'ok')).toBe(true)
  expect(Math.abs(median(all.map(({ firstErrorMs }) => firstErrorMs)))).toBeLessThan(1)
  expect(median(all.flatMap(({ gapErrorsMs }) => gapErrorsMs))).toBeLessThan(1)
})

test('a large prompt and a large response do not change TTFT', {
  retry,
}, async () => {
  const prompt = 'p'.repeat(50_000)
  const small: number[] = []
  const large: number[] = []
  for (let round = 0; round < 9; round++) {
    small.push((await timed('/?first=20&gap=5&tokens=3')).ttftMs)
    const big = await timed('/?first=20&gap=5&tokens=3&bytes=1048576', prompt)
    expect(big.outcome).toBe('ok')
    large.push(big.ttftMs)
  }
  expect(Math.abs(median(large) - median(small))).toBeLessThan(1)
})
