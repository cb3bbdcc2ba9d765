// @module-tag whole
import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import type { Progress } from '../../src/run/count/progress.ts'
import { run } from '../../src/run/run.ts'
import { openStore } from '../../src/store/session/open.ts'
import { answerChat, chatScenario, key, query, startTarget, withStorePath } from './target.ts'

/**
 * Other work on the machine may delay a measured time, so times are retried; wrong counts are not.
 */
const retry = 2

/**
 * Known lies of load testers (measurement.md, 5), each turned into a figure that must be true. The
 * tests here need a whole run; the others are in these files:
 *
 *     1 clock starts after the client's queue   here: the response time of a request
 *     2 a stall is not seen                     here: a service stall
 *     3 whole streams buffered                  client/attempt-stream: that arrives in one read
 *     4 small read buffers                      client/truth.timing: a large prompt
 *     5 a hidden cap on concurrency             here: a thousand planned users
 *     6 SSE                                     client/sse, client/attempt-stream
 *     7 the client's cost as the server's time  here and client/truth.timing: within a millisecond
 *     8 any answer is a success                 run: success is a 2xx with a whole body
 *     9 averages of percentiles                 time-histogram: a merged percentile is not the mean
 */

const keys = { default: key }

test('the response time of a request includes its wait in the client', {
  retry,
}, async () => {
  // Eight arrivals at 10/s, one at a time over one connection, 0.5 s each: 0.5 + 0.4 i seconds.
  let firstMs = Number.NaN
  const finishedMs: number[] = []
  const target = await startTarget((_, response) => {
    if (Number.isNaN(firstMs)) firstMs = performance.now()
    setTimeout(() => {
      finishedMs.push(performance.now() - firstMs)
      answerChat(response)
    }, 500)
  })
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 10/s, max_requests: 8 }',
      'max_connections: 1',
    )
    let live: Progress | null = null
    await run(scenario, {
      baseUrl: target.baseUrl,
      dbPath,
      keys,
      onProgress: (progress) => {
        live = progress
      },
    })
    // The counts while sending agree: the live view must not flatter either.
    const { responseUs, serviceUs } = (live as Progress | null)!.steps[0]!
    expect(responseUs!.p99).toBeGreaterThan(3.28e6)
    expect(serviceUs!.p99).toBeLessThan(0.6e6)
    const [times] = await query<{ mean: number; max: number; service: number }>(
      dbPath,
      `SELECT avg(response_us) / 1e6 AS mean, max(response_us) / 1e6 AS max,
         avg(service_us) / 1e6 AS service FROM attempt_times`,
    )
    // By the service's own clock: its half seconds are a little longer on a busy machine.
    const truth = finishedMs.reduce((sum, ms) => sum + ms, 0) / 8000 - 0.35
    expect(truth).toBeGreaterThan(1.89)
    expect(Math.abs(times!.mean / truth - 1)).toBeLessThan(0.01)
    expect(times!.max).toBeGreaterThanOrEqual(3.29)
    expect(times!.service).toBeLessThan(0.6)
  })
  target.close()
})

test('a service stall shows in p99, because arrivals do not wait for it', {
  retry,
}, async () => {
  // 50/s for 4 s; nothing answers from 1 s to 3 s. A request of the stall waits for its end.
  // The plan's zero is derived from the 26th arrival: the first ones find everything cold.
  let seen = 0
  let seenInStall = 0
  const stall = { fromMs: Infinity, toMs: Infinity }
  const target = await startTarget((_, response) => {
    const now = performance.now()
    if (++seen === 26) {
      stall.fromMs = now + 500
      stall.toMs = now + 2500
    }
    const stalled = now >= stall.fromMs && now < stall.toMs
    if (stalled) seenInStall++
    setTimeout(() => answerChat(response), stalled ? stall.toMs - now : 0)
  })
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario('  - { name: steady, load: constant, rate: 50/s, duration: 4s }')
    const summary = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(seenInStall).toBeGreaterThanOrEqual(99)
    // Of 200, a hundred wait 0.02, 0.04 … 2.00 s: the 99th percentile is 1.96 s.
    expect(summary.counts).toMatchObject({ planned: 200, ok: 200 })
    const store = await openStore(dbPath)
    const { steps } = await summarise(store, summary.runId, defaultContract)
    store.close()
    expect(Math.abs(steps[0]!.metrics.response.p99.us! / 1.96e6 - 1)).toBeLessThan(0.01)
  })
  target.close()
})

test('a thousand planned users are a thousand concurrent requests at the service', {
  retry,
}, async () => {
  const held: (() => void)[] = []
  let most = 0
  let waits = true
  const answerAll = () => {
    waits = false
    for (const answer of held.splice(0)) answer()
  }
  let quiet: NodeJS.Timeout | undefined
  const target = await startTarget((_, response) => {
    held.push(() => answerChat(response))
    most = Math.max(most, held.length)
    clearTimeout(quiet)
    // If no more arrive, the waiting requests are all that it will ever see at once.
    if (!waits || held.length === 1000) answerAll()
    else quiet = setTimeout(answerAll, 5000)
  })
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: concurrency, users: 1000, max_requests: 1000 }',
    )
    const summary = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    expect(summary.counts).toMatchObject({ planned: 1000, ok: 1000 })
    expect(most).toBe(1000)
  })
  target.close()
})

test('TTFT and the time between tokens match the service within 1 ms', {
  retry,
}, async () => {
  const tokens = 12
  // The service's own measurements: timers of a busy machine are late.
  const truth: { ttft: number; itl: number }[] = []
  let opened = 0
  const target = await startTarget((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    const began = performance.now()
    const stream = opened++
    let [sent, first] = [0, 0]
    const next = () => {
      const at = performance.now() - began
      if (sent === 0) first = at
      if (sent === tokens - 1) truth[stream] = { ttft: first, itl: (at - first) / (tokens - 1) }
      const reason = sent === tokens - 1 ? 'stop' : null
      const delta = {
        id: 'c',
        choices: [{ index: 0, delta: { content: 'a' }, finish_reason: reason }],
      }
      response.write(`data: ${JSON.stringify(delta)}\n\n`)
      sent++
      if (sent < tokens) setTimeout(next, Math.max(1, began + 50 + sent * 10 - performance.now()))
      else response.end('data: [DONE]\n\n')
    }
    setTimeout(next, 50)
  })
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 100/s, duration: 2s }',
      '',
      ', stream: true',
    )
    await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    const told = await query<{ ttft: number; itl: number }>(
      dbPath,
      `SELECT ttft_us / 1e3 AS ttft,
         (last_content_us - first_content_us) / (content_events - 1) / 1e3 AS itl
       FROM attempt_times WHERE outcome = 'ok' ORDER BY slot`,
    )
    expect([told.length, truth.length]).toEqual([200, 200])
    // A timer is never early by more than the millisecond that it counts in.
    expect(Math.min(...truth.map(({ ttft }) => ttft))).toBeGreaterThan(49)
    for (const figure of ['ttft', 'itl'] as const) {
      const off = told.map((stream, index) => stream[figure] - truth[index]![figure])
      // A systematic error is in every stream; the effect of a busy machine is in some.
      expect(Math.abs(off.toSorted((a, b) => a - b)[20]!)).toBeLessThan(1)
    }
  })
  target.close()
})

test('a sweep finds the capacity of a queue with a known service time within 5 %', {
  retry,
}, async () => {
  // One server, 20 ms each, so 50/s at the most. Past that the queue grows without end.
  let free = 0
  const target = await startTarget((_, response) => {
    const now = performance.now()
    free = Math.max(free, now) + 20
    setTimeout(() => answerChat(response), free - now)
  })
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      `  - name: sweep
    load: sweep
    start: 45/s
    max: 60/s
    trial: 1500ms
    cool_down: 100ms
    precision: 2%
    hold: 200
    headroom: 0
    goodput: 95%
    arrivals: constant`,
      'objectives: { response: 60ms }',
    )
    const { sweeps, counts } = await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    const [sweep] = sweeps
    const { safeRate } = sweep!
    if (safeRate.kind !== 'held') throw new Error(JSON.stringify(safeRate))
    expect(safeRate.safePerS).toBeGreaterThan(45)
    expect(safeRate.safePerS).toBeLessThan(51)
    expect(safeRate.failedPerS! / safeRate.safePerS - 1).toBeLessThan(0.1)
    expect(counts.planned).toBe(counts.ok)
  })
  target.close()
})
