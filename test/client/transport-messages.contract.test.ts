import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { WireRequest } from '../../src/client/wire/transport.ts'
import { chunk, lastChunk, response, scriptedServer } from './scripted-server.ts'
import { exchange, openOn, transports } from './transports.ts'

const post = (body: string): WireRequest => ({
  method: 'POST',
  path: '/v1/chat/completions?x=1',
  headers: [
    ['content-type', 'application/json'],
    ['x-api-key', 'k'],
  ],
  body: Buffer.from(body),
})

const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

/** Messages: requests, heads and bodies, complete, in pieces and broken. */
describe.each(transports)('%s', (name, open) => {
  test('a request arrives complete, in one piece, with its own headers', async () => {
    const { origin, requests, port } = await scriptedServer((socket) =>
      socket.write(response(200, {}, 'ok')),
    )
    const body = JSON.stringify({ text: 'Grüße 🙂' })
    const { status } = await exchange(openOn(open, origin), post(body)).done
    expect(status).toBe(200)
    const [head, sentBody] = requests[0]!.split('\r\n\r\n')
    const lines = head!.split('\r\n')
    expect(lines[0]).toBe('POST /v1/chat/completions?x=1 HTTP/1.1')
    const headers = lines.slice(1).map((line) => line.toLowerCase())
    expect(headers).toContain(`host: 127.0.0.1:${port}`)
    expect(headers).toContain('content-type: application/json')
    expect(headers).toContain('x-api-key: k')
    expect(headers).toContain(`content-length: ${Buffer.byteLength(body)}`)
    expect(Buffer.from(sentBody!, 'latin1').toString()).toBe(body)
  })

  test('callbacks come in order, and each of the last ones once', async () => {
    const { origin } = await scriptedServer((socket) => socket.write(response(200, {}, 'ok')))
    const { calls } = await exchange(openOn(open, origin)).done
    expect(calls).toEqual(['sent', 'head', 'body', 'end'])
  })

  test('headers are passed on as lines', async () => {
    const { origin } = await scriptedServer((socket) =>
      socket.write(response(429, { 'Retry-After': '7', 'X-Ü': 'ä' }, '').replace('X-Ü', 'X-U')),
    )
    const { status, head, body } = await exchange(openOn(open, origin)).done
    expect(status).toBe(429)
    expect(head).toBe('Retry-After: 7\r\nX-U: Ã¤\r\nContent-Length: 0\r\n')
    expect(body).toBe('')
  })

  test('a body without a length ends with the connection', async () => {
    const { origin } = await scriptedServer((socket) =>
      socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'),
    )
    const { body, failure } = await exchange(openOn(open, origin)).done
    expect([body, failure]).toEqual(['all of it', null])
  })

  test('interim responses are skipped', async () => {
    const { origin } = await scriptedServer((socket) =>
      socket.write(
        `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${response(200, {}, 'ok')}`,
      ),
    )
    const { status, body, calls } = await exchange(openOn(open, origin)).done
    expect([status, body]).toEqual([200, 'ok'])
    expect(calls).toEqual(['sent', 'head', 'body', 'end'])
  })

  test('204 and 304 have no body, and the connection stays open', async () => {
    const { origin, connections } = await scriptedServer((socket, _request, index) =>
      socket.write(
        index === 2 ? response(200, {}, 'ok') : `HTTP/1.1 ${index === 0 ? 204 : 304} X\r\n\r\n`,
      ),
    )
    const transport = openOn(open, origin)
    const results = [1, 2, 3].map(() => () => exchange(transport).done)
    const statuses: (number | null)[] = []
    for (const next of results) statuses.push((await next()).status)
    expect(statuses).toEqual([204, 304, 200])
    expect(connections()).toBeLessThanOrEqual(name === 'http1' ? 1 : 2)
  })

  test('chunk extensions and trailers are not part of the body', async () => {
    const { origin } = await scriptedServer((socket) =>
      socket.write(`${chunkedHead}3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n`),
    )
    const { body } = await exchange(openOn(open, origin)).done
    expect(body).toBe('abc0123456789')
  })

  test('chunks that arrive together are passed on together', async () => {
    const { origin } = await scriptedServer((socket) =>
      socket.write(chunkedHead + 'abcdef'.split('').map(chunk).join('') + lastChunk),
    )
    const { pieces } = await exchange(openOn(open, origin)).done
    expect(pieces).toEqual(['abcdef'])
  })

  test('a response that arrives byte by byte is read the same', async () => {
    const { origin } = await scriptedServer(async (socket) => {
      const bytes = `HTTP/1.1 200 OK\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n${chunk('hello')}${chunk('world')}${lastChunk}`
      for (const byte of bytes) {
        socket.write(byte)
        await sleep(0)
      }
    })
    const { head, body, failure } = await exchange(openOn(open, origin)).done
    expect([head, body, failure]).toEqual([
      'X-A: b\r\nTransfer-Encoding: chunked\r\n',
      'helloworld',
      null,
    ])
  })

  test('a response of a megabyte to a prompt of fifty kilobytes arrives complete', async () => {
    const answer = 'x'.repeat(1024 * 1024)
    const { origin, requests } = await scriptedServer((socket) =>
      socket.write(response(200, {}, answer)),
    )
    const prompt = 'p'.repeat(50_000)
    const { body } = await exchange(openOn(open, origin), post(prompt)).done
    expect(body.length).toBe(answer.length)
    expect(requests[0]!.endsWith(prompt)).toBe(true)
  })

  test.each([
    ['nothing', ''],
    ['half a head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'],
    ['half a chunk', `${chunkedHead}a\r\nhalf`],
    ['chunks without the last one', `${chunkedHead}4\r\nhalf\r\n`],
  ])('a connection closed after %s is closed-early', async (_what, bytes) => {
    const { origin } = await scriptedServer((socket) => socket.end(bytes))
    const { failure, calls } = await exchange(openOn(open, origin)).done
    expect(failure?.code).toBe('closed-early')
    expect(calls.at(-1)).toBe('failure')
  })

  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a non-numeric length', 'HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a non-numeric chunk size', `${chunkedHead}zz\r\n`],
    ['a chunk longer than its size', `${chunkedHead}2\r\nabc\r\n`],
    ['a name with a space', 'HTTP/1.1 200 OK\r\nX A: b\r\n\r\n'],
    ['a line without a colon', 'HTTP/1.1 200 OK\r\nnonsense\r\n\r\n'],
  ])('%s is a breach of the protocol, detected at once', async (_what, bytes) => {
    // The connection stays open: the client must detect it without a deadline.
    const { origin } = await scriptedServer((socket) => socket.write(bytes))
    const { failure } = await exchange(openOn(open, origin)).done
    expect(failure?.code).toBe('protocol')
  })

  test('an endless head is too large', async () => {
    const { origin } = await scriptedServer((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${'X-Long: y\r\n'.repeat(20_000)}`),
    )
    const { failure } = await exchange(openOn(open, origin)).done
    expect(failure?.code).toBe('too-large')
  })
})
