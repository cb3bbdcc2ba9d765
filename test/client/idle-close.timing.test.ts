import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { flags } from '../../src/attempt/flags.ts'
import { AttemptClient } from '../../src/client/call/client.ts'
import type { ResponseColumns } from '../../src/client/row/columns.ts'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { completion, json } from './answers.ts'
import { ask, noDeadlines, now } from './asking.ts'
import { response, scriptedServer } from './scripted-server.ts'

/** Blocks the thread of the client; the service has written already. */
function stall(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/**
 * Three requests over one connection: the first warms the code, the second is answered before a stall, and the service
 * does this with the third, which comes after a pause.
 */
async function third(
  pauseMs: number,
  does: (socket: import('node:net').Socket) => void,
  stallMs = 0,
): Promise<ResponseColumns> {
  const { origin } = await scriptedServer((socket, _request, index) => {
    if (index > 1) return does(socket)
    socket.write(response(200, json, completion))
    if (index === 1) stall(stallMs)
  })
  const transport = new Http1Transport({ origin, maxConnections: 1, connectTimeoutMs: 5000 })
  const client = new AttemptClient({
    ...{ transport, contract: defaultContract, now, deadlines: noDeadlines },
  })
  const send = () =>
    new Promise<ResponseColumns>((resolve) => {
      client.start(ask(), { onItl: () => {}, onEnd: (ended) => resolve(ended.toColumns()) })
    })
  expect((await send()).outcome).toBe('ok')
  expect((await send()).outcome).toBe('ok')
  if (pauseMs > 0) await sleep(pauseMs)
  const columns = await send()
  await transport.close()
  expect(columns.outcome).toBe('broken')
  expect(columns.flags & flags.reusedConnection).toBe(flags.reusedConnection)
  return columns
}

test.each([
  ['closed', (socket: import('node:net').Socket) => socket.destroy()],
  ['reset', (socket: import('node:net').Socket) => socket.resetAndDestroy()],
])('an idle connection that is %s at once names that it was idle', async (_how, does) => {
  expect((await third(120, does)).reason).toBe('closed-idle')
})

test('an answer that this client read late left its connection idle', async () => {
  const { reason } = await third(0, (socket) => socket.destroy(), 120)
  expect(reason).toBe('closed-idle')
})

test('a close that this client read late may have come at once', async () => {
  const { reason } = await third(120, (socket) => {
    socket.destroy()
    stall(120)
  })
  expect(reason).toBe('closed-idle')
})

test('a close after a while is a failure of the service, although the connection was idle', async () => {
  const { reason } = await third(120, (socket) => setTimeout(() => socket.destroy(), 400))
  expect(reason).toBe('closed-early')
})

test('a close within a response is one, too', async () => {
  const { reason } = await third(120, (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'))
  expect(reason).toBe('closed-early')
})

test('a close of a connection that was busy is one, too', async () => {
  const { reason } = await third(0, (socket) => socket.destroy())
  expect(['closed-early', 'reset']).toContain(reason)
})

/** Outcomes of requests, each sent as the one before it ends, or all at once, over so many connections. */
async function outcomes(
  count: number,
  { atOnce = false, maxConnections = 4 },
  answer: (socket: import('node:net').Socket, index: number) => void,
) {
  const { origin, connections } = await scriptedServer((socket, _request, index) =>
    answer(socket, index),
  )
  const transport = new Http1Transport({ origin, maxConnections, connectTimeoutMs: 5000 })
  const client = new AttemptClient({
    ...{ transport, contract: defaultContract, now, deadlines: noDeadlines },
  })
  const send = () =>
    new Promise<string>((resolve) => {
      client.start(ask(), { onItl: () => {}, onEnd: (ended) => resolve(ended.toColumns().outcome) })
    })
  const ends: string[] = []
  if (atOnce) ends.push(...(await Promise.all(Array.from({ length: count }, send))))
  else for (let at = 0; at < count; at++) ends.push(await send())
  await transport.close()
  return { broken: ends.filter((each) => each !== 'ok').length, connections: connections() }
}

/** As llama.cpp's server after a stream: the head says keep-alive, and the close follows the end. */
const ended = new WeakSet<import('node:net').Socket>()
const closing = (socket: import('node:net').Socket) => {
  // A second request may come before the end: this service does not answer it.
  if (ended.has(socket)) return
  ended.add(socket)
  socket.write(response(200, json, completion))
  setTimeout(() => socket.end(), 1)
}

test('a service that closes after each answer without a word loses one request, not every second', async () => {
  expect(await outcomes(20, {}, closing)).toEqual({ broken: 1, connections: 19 })
  const atOnce = await outcomes(40, { atOnce: true, maxConnections: 4 }, closing)
  expect(atOnce.broken).toBeLessThanOrEqual(4)
})

test('a service that keeps its connections is believed again after one such close', async () => {
  const once = (socket: import('node:net').Socket, index: number) =>
    index === 3 ? closing(socket) : socket.write(response(200, json, completion))
  for (const atOnce of [false, true]) {
    const { broken, connections } = await outcomes(300, { atOnce, maxConnections: 4 }, once)
    expect(broken).toBeLessThanOrEqual(1)
    expect(connections).toBeLessThan(300)
  }
})
