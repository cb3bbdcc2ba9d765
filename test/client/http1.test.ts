import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import type { TransportOptions } from '../../src/client/wire/transport.ts'
import { UndiciTransport } from '../../src/client/wire/undici/transport.ts'
import { response, scriptedServer } from './scripted-server.ts'
import { exchange, getRequest, openOn } from './transports.ts'

const open = (options: TransportOptions) => new Http1Transport(options)

test('an exchange reports whether its connection was reused', async () => {
  const { origin } = await scriptedServer((socket) => socket.write(response(200, {}, 'ok')))
  const transport = openOn(open, origin)
  expect((await exchange(transport).done).reused).toBe(false)
  expect((await exchange(transport).done).reused).toBe(true)
})

test('a connection that the service is about to close is not reused', {
  tags: 'whole',
}, async () => {
  const { origin, connections } = await scriptedServer((socket) =>
    socket.write(response(200, { 'Keep-Alive': 'timeout=1' }, 'ok')),
  )
  const transport = openOn(open, origin)
  await exchange(transport).done
  await exchange(transport).done
  expect(connections()).toBe(1)
  await sleep(1100)
  expect((await exchange(transport).done).failure).toBe(null)
  expect(connections()).toBe(2)
})

test('an exchange that aborts while it waits for a connection blocks nobody', async () => {
  const { origin, requests } = await scriptedServer(async (socket) => {
    await sleep(20)
    socket.write(response(200, {}, 'ok'))
  })
  const transport = openOn(open, origin, { maxConnections: 1 })
  const [first, second, third] = ['/1', '/2', '/3'].map((path) =>
    exchange(transport, { ...getRequest, path }),
  )
  second!.handle.abort()
  expect((await second!.done).calls).toEqual(['failure'])
  expect([(await first!.done).status, (await third!.done).status]).toEqual([200, 200])
  expect(requests.map((request) => request.split(' ')[1])).toEqual(['/1', '/3'])
})

test('a failed connection makes room for the next exchange in line', async () => {
  const { origin, connections } = await scriptedServer((socket, _request, index) =>
    index === 0 ? socket.destroy() : socket.write(response(200, {}, 'ok')),
  )
  const transport = openOn(open, origin, { maxConnections: 1 })
  const [first, second] = [exchange(transport), exchange(transport)]
  expect((await first.done).failure).not.toBe(null)
  expect((await second.done).status).toBe(200)
  expect(connections()).toBe(2)
})

test('a response before the request is complete ends the connection', async () => {
  const { origin, server, connections } = await scriptedServer(() => {})
  server.on('connection', (socket) => {
    socket.pause()
    socket.write(response(413, {}, 'too much'))
  })
  const transport = openOn(open, origin)
  const body = Buffer.alloc(32 * 1024 * 1024, 0x61)
  const large = { ...getRequest, method: 'POST' as const, body }
  const { status, body: said } = await exchange(transport, large).done
  expect([status, said]).toEqual([413, 'too much'])
  // Half a request is in the socket: the next one must not be written after it or before it.
  expect((await exchange(transport).done).status).toBe(413)
  expect(connections()).toBe(2)
  await transport.close()
})

test('a read after one that filled the buffer says so, and no other does', async () => {
  const { origin } = await scriptedServer((socket) =>
    socket.write(response(200, {}, 'a'.repeat(1024 * 1024))),
  )
  const transport = openOn(open, origin)
  const { reads, pieces } = await exchange(transport).done
  const full = 64 * 1024
  const filled = pieces.map((piece) => piece.length === full)
  // The head takes a part of the first read.
  filled[0] = pieces[0]!.length > full - 200
  expect(filled).toContain(true)
  expect(reads).toEqual([false, ...filled.slice(0, -1)])
  expect((await exchange(transport).done).reads[0]).toBe(false)
})

test('a dispatch after close fails with aborted, after the call returns', async () => {
  const { origin } = await scriptedServer(() => {})
  const transport = openOn(open, origin)
  await transport.close()
  const late = exchange(transport)
  expect((await late.done).failure?.code).toBe('aborted')
})

test.each([
  ['our own', 9, Http1Transport],
  ["undici's", 9, UndiciTransport],
  ['our own', 150, Http1Transport],
  ["undici's", 150, UndiciTransport],
] as const)(
  '%s transport: answers that come again, up to %i ms late, are counted, and no later request gets one',
  async (_, most, Made) => {
    // Each request is answered by its number, and later again.
    const { origin } = await scriptedServer((socket, _, index) => {
      const answer = response(200, {}, String(index))
      socket.write(answer)
      setTimeout(() => socket.write(answer), (9 - (index % 10)) * (most / 9))
    })
    const transport = new Made({
      ...{ origin, maxConnections: Number.POSITIVE_INFINITY, connectTimeoutMs: 5000 },
    })
    const wrong: number[] = []
    for (let index = 0; index < 60; index++) {
      const before = transport.strays
      const { body } = await exchange(transport).done
      if (body !== String(index) && before > 0) wrong.push(index)
      await sleep(index % 7)
    }
    await transport.close()
    expect(transport.strays).toBeGreaterThan(0)
    // Before the first stray answer nothing can tell; after it, no connection is used twice.
    expect(wrong).toEqual([])
  },
)

test('a server that says goodbye with 408 to an idle connection answers nobody', async () => {
  const { origin, connections } = await scriptedServer((socket) => {
    socket.write(response(200, {}, 'ok'))
    setTimeout(() => socket.end(response(408, { connection: 'close' }, '')), 20)
  })
  const transport = new Http1Transport({
    ...{ origin, maxConnections: Number.POSITIVE_INFINITY, connectTimeoutMs: 5000 },
  })
  for (let index = 0; index < 3; index++) {
    expect((await exchange(transport).done).body).toBe('ok')
    await sleep(40)
  }
  expect([transport.strays, connections()]).toEqual([0, 3])
  await transport.close()
})

test('bytes behind an answer in the same read are counted, and an end of the connection is not', async () => {
  const { origin } = await scriptedServer((socket, _, index) => {
    if (index === 0) socket.write(`${response(200, {}, 'ok')}HTTP/1.1 200 OK`)
    else socket.end(response(200, {}, 'ok'))
  })
  const transport = new Http1Transport({
    origin,
    maxConnections: Number.POSITIVE_INFINITY,
    connectTimeoutMs: 5000,
  })
  await exchange(transport).done
  expect(transport.strays).toBe(1)
  await exchange(transport).done
  await sleep(30)
  await exchange(transport).done
  expect(transport.strays).toBe(1)
  await transport.close()
})
