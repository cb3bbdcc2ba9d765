import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { constants, createSecureServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { FailureCode } from '../../src/client/wire/transport.ts'
import { UndiciTransport } from '../../src/client/wire/undici/transport.ts'
import { exchange, openOn } from './transports.ts'

const pem = (name: string) => readFileSync(new URL(`./tls/${name}.pem`, import.meta.url), 'utf8')

/** Serves each stream by the script. */
async function http2Server(
  script: (stream: ServerHttp2Stream, index: number) => void,
): Promise<{ readonly origin: string; readonly streams: () => number }> {
  let streams = 0
  const server = createSecureServer({ key: pem('server-key'), cert: pem('server') })
  server.on('sessionError', () => {})
  server.on('session', (session) => {
    session.on('error', () => {})
    onTestFinished(() => session.destroy())
  })
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    script(stream, streams++)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    streams: () => streams,
  }
}

const open = (options: ConstructorParameters<typeof UndiciTransport>[0]) =>
  new UndiciTransport({ ...options, http2: true })
const head = (stream: ServerHttp2Stream, more: object = {}) =>
  stream.respond({ ':status': 200, 'content-type': 'application/json', ...more })
const {
  NGHTTP2_CANCEL,
  NGHTTP2_ENHANCE_YOUR_CALM,
  NGHTTP2_INTERNAL_ERROR,
  NGHTTP2_NO_ERROR,
  NGHTTP2_REFUSED_STREAM,
} = constants

interface Case {
  readonly name: string
  readonly does: (stream: ServerHttp2Stream) => void
  readonly is: FailureCode | 'ok' | 'waits'
}

const whole = (stream: ServerHttp2Stream) => {
  head(stream)
  stream.end('{}')
}
const half = (stream: ServerHttp2Stream, then: () => void) => {
  head(stream)
  stream.write('{"half":')
  setTimeout(then, 20)
}

const cases: readonly Case[] = [
  { name: 'a whole answer', does: whole, is: 'ok' },
  {
    name: 'an answer without a body',
    does: (stream) => stream.respond({ ':status': 204 }, { endStream: true }),
    is: 'ok',
  },
  {
    name: 'an interim answer first',
    does: (stream) => {
      stream.additionalHeaders({ ':status': 103 })
      whole(stream)
    },
    is: 'ok',
  },
  { name: 'a refused stream', does: (stream) => stream.close(NGHTTP2_REFUSED_STREAM), is: 'reset' },
  {
    name: 'a reset before the head',
    does: (stream) => stream.close(NGHTTP2_INTERNAL_ERROR),
    is: 'reset',
  },
  { name: 'a cancel before the head', does: (stream) => stream.close(NGHTTP2_CANCEL), is: 'reset' },
  {
    name: 'NO_ERROR without a response',
    does: (stream) => stream.close(NGHTTP2_NO_ERROR),
    is: 'closed-early',
  },
  {
    name: 'a reset in the body',
    does: (stream) => half(stream, () => void stream.destroy(new Error('x'))),
    is: 'reset',
  },
  {
    name: 'a GOAWAY that lets the stream finish',
    does: (stream) => {
      stream.session!.goaway(NGHTTP2_NO_ERROR)
      whole(stream)
    },
    is: 'ok',
  },
  {
    name: 'a GOAWAY with an error',
    does: (stream) => stream.session!.destroy(new Error('x'), NGHTTP2_ENHANCE_YOUR_CALM),
    is: 'reset',
  },
  {
    name: 'a GOAWAY with an error in the body',
    does: (stream) =>
      half(stream, () => stream.session!.destroy(new Error('x'), NGHTTP2_INTERNAL_ERROR)),
    is: 'reset',
  },
  {
    name: 'a connection that ends before the head',
    does: (stream) => void stream.session!.socket.destroy(),
    is: 'closed-early',
  },
  {
    name: 'a connection that ends in the body',
    does: (stream) => half(stream, () => void stream.session!.socket.destroy()),
    is: 'closed-early',
  },
  {
    name: 'less than the length',
    does: (stream) => {
      head(stream, { 'content-length': '9' })
      stream.end('{}')
    },
    is: 'protocol',
  },
  {
    name: 'more than the length',
    does: (stream) => {
      head(stream, { 'content-length': '1' })
      stream.end('{}')
    },
    is: 'protocol',
  },
  { name: 'nothing', does: () => {}, is: 'waits' },
  { name: 'a head and nothing else', does: (stream) => head(stream), is: 'waits' },
  { name: 'half a body', does: (stream) => half(stream, () => {}), is: 'waits' },
]

test.each(cases)('over HTTP/2 $name: $is', async ({ does, is }) => {
  const { origin, streams } = await http2Server(does)
  const { done, handle } = exchange(openOn(open, origin, { ca: pem('authority') }))
  const waited = sleep(is === 'waits' ? 150 : 4000).then(() => 'waits' as const)
  const ended = await Promise.race([done, waited])
  handle.abort()
  const seen = ended === 'waits' ? ended : (ended.failure?.code ?? 'ok')
  expect(seen).toBe(is)
  expect(streams()).toBe(1)
})

test('a refused stream is sent once, because an attempt is one request', async () => {
  const { origin, streams } = await http2Server((stream, index) =>
    index === 0 ? stream.close(NGHTTP2_REFUSED_STREAM) : whole(stream),
  )
  const transport = openOn(open, origin, { ca: pem('authority') })
  const { failure, calls } = await exchange(transport).done
  expect([failure?.code, calls]).toEqual(['reset', ['sent', 'failure']])
  await sleep(50)
  expect(streams()).toBe(1)
  expect((await exchange(transport).done).failure).toBe(null)
})

test('other streams of a connection survive the reset of one', async () => {
  const { origin } = await http2Server((stream, index) => {
    if (index === 0) half(stream, () => void stream.destroy(new Error('x')))
    else {
      head(stream)
      setTimeout(() => stream.end('{}'), 60)
    }
  })
  const transport = openOn(open, origin, { ca: pem('authority'), maxConnections: 1 })
  const all = await Promise.all([1, 2, 3].map(() => exchange(transport).done))
  expect(all.map(({ failure, body }) => failure?.code ?? body)).toEqual(['reset', '{}', '{}'])
})
