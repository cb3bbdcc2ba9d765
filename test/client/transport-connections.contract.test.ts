import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test } from 'vitest'
import { chunk, lastChunk, response, scriptedServer } from './scripted-server.ts'
import { exchange, getRequest, openOn, transports } from './transports.ts'

const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

/** Connections: shared, limited, aborted and refused. */
describe.each(transports)('%s', (name, open) => {
  test('sequential exchanges share one connection', async () => {
    const { origin, connections } = await scriptedServer((socket, _request, index) =>
      socket.write(
        index % 2 === 0
          ? response(200, {}, `${index}`)
          : `${chunkedHead}${chunk(`${index}`)}${lastChunk}`,
      ),
    )
    const transport = openOn(open, origin)
    for (let index = 0; index < 6; index++) {
      expect((await exchange(transport).done).body).toBe(`${index}`)
    }
    // undici reports the end before it takes the connection back, so it may open one more.
    expect(connections()).toBeLessThanOrEqual(name === 'http1' ? 1 : 2)
  })

  test('a thousand concurrent exchanges are a thousand concurrent requests, with no hidden cap', {
    tags: 'whole',
  }, async () => {
    const waiting: (() => void)[] = []
    const { origin } = await scriptedServer((socket) => {
      waiting.push(() => socket.write(response(200, {}, 'ok')))
      if (waiting.length === 1000) for (const answer of waiting) answer()
    })
    const transport = openOn(open, origin)
    const all = await Promise.all(Array.from({ length: 1000 }, () => exchange(transport).done))
    expect(all.filter(({ body }) => body === 'ok')).toHaveLength(1000)
  })

  test('exchanges over the connection limit wait in order', async () => {
    const { origin, connections, requests } = await scriptedServer(
      async (socket, _request, index) => {
        await sleep(5)
        socket.write(response(200, {}, `${index}`))
      },
    )
    const transport = openOn(open, origin, { maxConnections: 2 })
    const paths = Array.from({ length: 10 }, (_, at) => `/${at}`)
    const all = await Promise.all(
      paths.map((path) => exchange(transport, { ...getRequest, path }).done),
    )
    expect(connections()).toBe(2)
    expect(all.every(({ status }) => status === 200)).toBe(true)
    expect(requests.map((request) => request.split(' ')[1]!).sort()).toEqual(paths)
  })

  test('a response with Connection: close ends the connection, and the next exchange opens another', async () => {
    const { origin, connections } = await scriptedServer((socket) =>
      socket.end(response(200, { Connection: 'close' }, 'ok')),
    )
    const transport = openOn(open, origin)
    expect((await exchange(transport).done).body).toBe('ok')
    expect((await exchange(transport).done).body).toBe('ok')
    expect(connections()).toBe(2)
  })

  test('a reset in mid-response is reported as a reset', async () => {
    const { origin } = await scriptedServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')
      setTimeout(() => socket.resetAndDestroy(), 20)
    })
    const { failure, body } = await exchange(openOn(open, origin)).done
    expect([failure?.code, body]).toEqual(['reset', 'half'])
  })

  test('a closed port is reported as connect-refused', async () => {
    // Not a port that was just released: another test may get it.
    const { failure, calls } = await exchange(openOn(open, 'http://127.0.0.1:1')).done
    expect(failure?.code).toBe('connect-refused')
    expect(calls).toEqual(['failure'])
  })

  test('a name that does not resolve is reported as connect-failed', async () => {
    // Longer than a label may be: no name server is asked, which could take time.
    const origin = `http://${'nowhere'.repeat(10)}.invalid`
    const { failure } = await exchange(openOn(open, origin)).done
    expect(failure?.code).toBe('connect-failed')
  })

  test.each(['before it is sent', 'onSent', 'onHead', 'onBody'] as const)(
    'an abort %s ends the exchange during the call and closes the connection',
    async (when) => {
      const closed = Promise.withResolvers<void>()
      const { origin, server } = await scriptedServer((socket) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'),
      )
      server.on('connection', (socket) => socket.on('close', () => closed.resolve()))
      const after: string[] = []
      const leave = () => {
        running.handle.abort()
        after.push('returned')
      }
      const transport = openOn(open, origin)
      const hooks = {
        onSent: () => {
          // The handle may not exist yet when the request is written during the dispatch.
          if (when === 'onSent') queueMicrotask(leave)
        },
        onHead: () => when === 'onHead' && leave(),
        onBody: () => when === 'onBody' && leave(),
      }
      const running = exchange(transport, getRequest, hooks)
      if (when === 'before it is sent') leave()
      const { failure, calls } = await running.done
      expect(failure?.code).toBe('aborted')
      expect(calls.filter((call) => call === 'failure' || call === 'end')).toEqual(['failure'])
      running.handle.abort()
      // Leftovers of the first exchange do not disturb the next one.
      if (when !== 'before it is sent') await closed.promise
      await transport.close()
      expect(calls.at(-1)).toBe('failure')
    },
  )

  test('bytes after a response are not taken for the next response', async () => {
    const { origin, connections } = await scriptedServer((socket, _request, index) =>
      socket.write(
        index === 0
          ? `${response(200, {}, 'first')}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`
          : response(200, {}, 'second'),
      ),
    )
    const transport = openOn(open, origin)
    expect((await exchange(transport).done).body).toBe('first')
    expect((await exchange(transport).done).body).toBe('second')
    expect(connections()).toBe(2)
  })

  test('a keep-alive connection that the service closed while idle is not reused', async () => {
    let closed = Promise.withResolvers<void>()
    const { origin } = await scriptedServer((socket) => {
      socket.on('close', () => closed.resolve())
      socket.write(response(200, {}, 'ok'))
      setTimeout(() => socket.end(), 10)
    })
    const transport = openOn(open, origin)
    for (let round = 0; round < 3; round++) {
      closed = Promise.withResolvers()
      const { body, failure } = await exchange(transport).done
      expect([body, failure]).toEqual(['ok', null])
      // The service has acknowledged our end: we have seen its own.
      await closed.promise
    }
  })

  test('an idle connection that closed while this thread was busy is not reused', {
    tags: 'whole',
  }, async () => {
    const { origin } = await serverThread('http closes')
    const transport = openOn(open, origin)
    expect((await exchange(transport).done).failure).toBe(null)
    // The service closes after a second; the FIN then waits in the kernel until we look.
    await sleep(900)
    busyMs(300)
    const { failure } = await exchange(transport).done
    expect(failure).toBe(null)
  })

  test.each(['http', 'https'] as const)(
    'a late second response over %s is not taken for the next response',
    { tags: 'whole' },
    async (scheme) => {
      const { origin } = await serverThread(`${scheme} answers twice`)
      const transport = openOn(open, origin, { ca: authority })
      expect((await exchange(transport).done).body).toBe('ok')
      // It is in the kernel when the next request is due, and the loop has not read it.
      busyMs(100)
      const { body, failure } = await exchange(transport).done
      expect([body, failure]).toEqual(['ok', null])
    },
  )

  test('nothing is retried once bytes were sent', async () => {
    const { origin, requests } = await scriptedServer((socket, _request, index) =>
      index === 0 ? socket.write(response(200, {}, 'ok')) : socket.destroy(),
    )
    const transport = openOn(open, origin)
    await exchange(transport).done
    const { failure } = await exchange(transport).done
    expect(['closed-early', 'reset']).toContain(failure?.code)
    expect(requests).toHaveLength(2)
  })

  test('close ends idle connections at once and busy ones when they finish', async () => {
    const { origin } = await scriptedServer(async (socket) => {
      await sleep(30)
      socket.write(response(200, {}, 'ok'))
    })
    const transport = openOn(open, origin)
    const running = exchange(transport).done
    await sleep(10)
    const closed = transport.close()
    expect((await running).body).toBe('ok')
    await closed
    const { failure } = await exchange(transport).done
    expect(failure).not.toBe(null)
  })
})

const authority = readFileSync(new URL('./tls/authority.pem', import.meta.url), 'utf8')

/** Keeps the event loop from looking at sockets. */
function busyMs(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** A server in its own thread, which continues while this one is busy. */
async function serverThread(
  does: 'http closes' | 'http answers twice' | 'https answers twice',
): Promise<{ readonly origin: string }> {
  const worker = new Worker(new URL('./late-server.worker.ts', import.meta.url), {
    workerData: does,
  })
  onTestFinished(() => worker.terminate().then(() => {}))
  const [port] = (await once(worker, 'message')) as [number]
  return {
    origin: does.startsWith('https') ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
  }
}
