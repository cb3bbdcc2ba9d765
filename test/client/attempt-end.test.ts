import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AttemptClient } from '../../src/client/call/client.ts'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import { defaultContract } from '../../src/contract/default.ts'
import type { AbortPoint } from '../../src/contract/request.ts'
import { delta, done, event, stopped } from './answers.ts'
import { ask, noDeadlines, now, send } from './asking.ts'
import { chunk, lastChunk, scriptedServer, streamHead } from './scripted-server.ts'

describe('a client that aborts on purpose', () => {
  const points: readonly (readonly [AbortPoint, string, object])[] = [
    [{ at: 'before-headers' }, 'before-headers', { status: null, events: 0 }],
    [{ at: 'after-headers' }, 'after-headers', { status: 200, events: 0 }],
    [{ at: 'first-event' }, 'first-event', { status: 200, events: 1 }],
    [{ at: 'after-events', events: 2 }, 'after-events', { status: 200, events: 2 }],
    [{ at: 'before-done' }, 'before-done', { events: 3, doneMarks: 0, finishReason: 'stop' }],
    [{ at: 'after-us', us: 60_000 }, 'after-us', { doneMarks: 0 }],
  ]
  test.each(points)('%o', async (abort, reason, row) => {
    const left = Promise.withResolvers<void>()
    const { origin } = await scriptedServer(async (socket) => {
      await sleep(20)
      socket.write(streamHead)
      for (const text of ['a', 'b']) {
        await sleep(15)
        socket.write(chunk(delta(text)))
      }
      await sleep(30)
      // The end is far off for a client that aborts after a time, however slow this machine is.
      if (abort.at === 'after-us') await left.promise
      socket.write(chunk(delta('', { finish_reason: 'stop' })))
      await left.promise
      socket.write(chunk(done) + lastChunk)
    })
    const { columns } = await send(origin, { stream: true, abort })
    left.resolve()
    expect(columns).toMatchObject({ outcome: 'aborted', reason, ...row })
    expect(columns.sentUs).not.toBe(null)
    if (abort.at === 'after-us') {
      expect(columns.closedUs! - columns.sentUs!).toBeGreaterThanOrEqual(60_000)
    }
  })

  test('is ready for the next attempt', async () => {
    const { origin } = await scriptedServer((socket) =>
      socket.write(streamHead + chunk(delta('a', stopped)) + chunk(done) + lastChunk),
    )
    const transport = new Http1Transport({ origin, maxConnections: 1, connectTimeoutMs: 5000 })
    const client = new AttemptClient({
      transport,
      contract: defaultContract,
      now,
      deadlines: noDeadlines,
    })
    const outcomes: string[] = []
    // Each attempt starts inside the end of the one before, as in a closed loop.
    await new Promise<void>((resolve) => {
      const next = (left: number) => {
        const abort: AbortPoint | null = left % 2 === 0 ? { at: 'first-event' } : null
        client.start(ask({ stream: true, abort }), {
          onItl: () => {},
          onEnd: (ended) => {
            outcomes.push(`${ended.outcome}:${ended.events}`)
            if (left === 0) resolve()
            else next(left - 1)
          },
        })
      }
      next(5)
    })
    await transport.close()
    expect(outcomes).toEqual(['ok:2', 'aborted:1', 'ok:2', 'aborted:1', 'ok:2', 'aborted:1'])
  })
})

test('a client that aborts at once on a kept connection gets the abort after the start', async () => {
  const { origin } = await scriptedServer((socket, _, index) => {
    if (index !== 1) socket.write(streamHead + chunk(delta('a', stopped)) + chunk(done) + lastChunk)
  })
  const transport = new Http1Transport({ origin, maxConnections: 9, connectTimeoutMs: 5000 })
  const client = new AttemptClient({
    transport,
    contract: defaultContract,
    now,
    deadlines: noDeadlines,
  })
  const sendOne = (abort: AbortPoint | null) =>
    new Promise<string>((resolve) => {
      let started = false
      client.start(ask({ stream: true, abort }), {
        onItl: () => {},
        onEnd: (ended) => resolve(`${started ? 'later' : 'during'} ${ended.outcome}`),
      })
      started = true
    })
  expect(await sendOne(null)).toBe('later ok')
  expect(await sendOne({ at: 'after-us', us: 0 })).toBe('later aborted')
  expect(await sendOne(null)).toBe('later ok')
  await transport.close()
})

test('an abort time that passed before its timer is set causes no platform warning', async () => {
  const warnings: string[] = []
  const warned = ({ name }: Error) => warnings.push(name)
  process.on('warning', warned)
  onTestFinished(() => void process.off('warning', warned))
  const { origin } = await scriptedServer(() => {})
  // Each reading of this clock is a second after the last, as on an overloaded machine.
  let readings = 0
  const { columns } = await send(
    origin,
    { stream: true, abort: { at: 'after-us', us: 500 } },
    { now: () => ++readings * 1e6 },
  )
  expect(columns).toMatchObject({ outcome: 'aborted', reason: 'after-us' })
  // The platform warns at the next tick, which is over by the next turn.
  await new Promise(setImmediate)
  expect(warnings).toEqual([])
})

describe('an attempt past a deadline is a row that is censored at the deadline', () => {
  const inUs = (name: keyof typeof noDeadlines) => ({ ...noDeadlines, [name]: 50_000 })

  test('connect', async () => {
    const silent = await scriptedServer(() => {})
    const { columns } = await send(
      silent.origin.replace('http:', 'https:'),
      {},
      { deadlines: inUs('connectUs') },
    )
    expect(columns).toMatchObject({
      outcome: 'timeout',
      reason: 'connect',
      sentUs: null,
      status: null,
    })
    const waited = columns.closedUs! - columns.dispatchedUs!
    expect(waited).toBeGreaterThanOrEqual(50_000)
  })

  test('first byte', async () => {
    const { origin } = await scriptedServer(() => {})
    const { columns } = await send(origin, {}, { deadlines: inUs('firstByteUs') })
    expect(columns).toMatchObject({ outcome: 'timeout', reason: 'first-byte', status: null })
    expect(columns.closedUs! - columns.sentUs!).toBeGreaterThanOrEqual(50_000)
  })

  test('idle, reset by each read', { tags: 'whole' }, async () => {
    // On a clock of the test, so no gap is longer than intended.
    let us = 0
    let read = Promise.withResolvers<void>()
    const { origin } = await scriptedServer(async (socket) => {
      socket.write(streamHead)
      for (let at = 0; at < 6; at++) {
        us += 80_000
        // Meanwhile the timer checks: a deadline counted from the head would pass.
        if (at === 5) await sleep(400)
        read = Promise.withResolvers()
        socket.write(chunk(delta('a')))
        await read.promise
      }
      us += 300_000
    })
    const { columns } = await send(
      origin,
      { stream: true },
      {
        deadlines: { ...noDeadlines, idleUs: 300_000 },
        now: () => us,
        onEvent: () => read.resolve(),
      },
    )
    expect(columns).toMatchObject({
      outcome: 'timeout',
      reason: 'idle',
      contentEvents: 6,
      doneUs: null,
    })
    expect(columns.closedUs! - columns.lastContentUs!).toBeGreaterThanOrEqual(300_000)
  })

  test('total, whatever still arrives', async () => {
    const { origin } = await scriptedServer(async (socket) => {
      socket.write(streamHead)
      while (!socket.destroyed) {
        await sleep(10)
        socket.write(chunk(delta('a')))
      }
    })
    const { columns } = await send(origin, { stream: true }, { deadlines: inUs('totalUs') })
    expect(columns).toMatchObject({ outcome: 'timeout', reason: 'total' })
    expect(columns.closedUs! - columns.dispatchedUs!).toBeGreaterThanOrEqual(50_000)
  })
})

describe('a failure before the response', () => {
  test('to connect is broken and was never sent', async () => {
    const { columns } = await send('http://127.0.0.1:1')
    expect(columns).toMatchObject({ outcome: 'broken', reason: 'connect-refused', sentUs: null })
    expect(columns.closedUs).not.toBe(null)
  })

  test('by a breach of the protocol was sent', async () => {
    const { origin } = await scriptedServer((socket) => socket.write('what?\r\n'))
    const { columns } = await send(origin)
    expect(columns).toMatchObject({ outcome: 'broken', reason: 'protocol', status: null })
    expect(columns.sentUs).not.toBe(null)
  })
})

describe('a stream that says its end and leaves its body open', () => {
  const stopsMessages =
    event('message_start', { message: { id: 'm', model: 'm' } }) +
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hi' } }) +
    event('message_delta', { delta: { stop_reason: 'end_turn' } }) +
    event('message_stop', {})
  const completes =
    event('response.output_text.delta', { delta: 'Hi' }) +
    event('response.completed', { response: { status: 'completed' } })

  test.each([
    ['chat', delta('a', stopped) + done, { outcome: 'ok', reason: 'not-closed' }],
    ['messages', stopsMessages, { outcome: 'ok', reason: 'not-closed' }],
    ['responses', completes, { outcome: 'ok', reason: 'not-closed' }],
    ['chat', delta('a') + done, { outcome: 'broken', reason: 'no-finish-reason' }],
  ] as const)(
    'is over two seconds later: %s, %#',
    { tags: 'whole' },
    async (endpoint, text, end) => {
      const { origin } = await scriptedServer((socket) => socket.write(streamHead + chunk(text)))
      const { columns } = await send(origin, { endpoint, stream: true })
      expect(columns).toMatchObject({ ...end, doneMarks: 1 })
      const waitedUs = columns.closedUs! - columns.doneUs!
      expect(waitedUs).toBeGreaterThan(1.9e6)
      expect(waitedUs).toBeLessThan(4e6)
    },
  )

  test('is a success at any earlier deadline, also if comments keep it busy', {
    tags: 'whole',
  }, async () => {
    const { origin } = await scriptedServer((socket) => {
      socket.write(streamHead + chunk(delta('a', stopped) + done))
      const pings = setInterval(() => socket.write(chunk(': ping\n\n')), 50)
      socket.on('close', () => clearInterval(pings))
    })
    const ended = await send(origin, { stream: true })
    expect(ended.columns).toMatchObject({ outcome: 'ok', reason: 'not-closed' })
    const total = { ...noDeadlines, totalUs: 300_000 }
    const { columns } = await send(origin, { stream: true }, { deadlines: total })
    expect(columns).toMatchObject({ outcome: 'ok', reason: 'not-closed' })
    expect(columns.closedUs! - columns.sentUs!).toBeLessThan(1.5e6)
  })

  test('that has not said its end is a timeout', async () => {
    const { origin } = await scriptedServer((socket) =>
      socket.write(streamHead + chunk(delta('a', stopped))),
    )
    const idle = { ...noDeadlines, idleUs: 200_000 }
    const { columns } = await send(origin, { stream: true }, { deadlines: idle })
    expect(columns).toMatchObject({ outcome: 'timeout', reason: 'idle' })
  })
})
