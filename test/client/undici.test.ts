import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { UndiciTransport } from '../../src/client/wire/undici/transport.ts'
import { response, scriptedServer } from './scripted-server.ts'
import { exchange } from './transports.ts'

const pem = (name: string) => readFileSync(new URL(`./tls/${name}.pem`, import.meta.url), 'utf8')
const options = { maxConnections: Number.POSITIVE_INFINITY, connectTimeoutMs: 5000 }

test('HTTP/2 is used if it is requested and offered', async () => {
  const seen: string[] = []
  const server = createSecureServer(
    { key: pem('server-key'), cert: pem('server') },
    (request: Http2ServerRequest, answer: Http2ServerResponse) => {
      seen.push(request.httpVersion)
      answer.writeHead(200, { 'x-credits-remaining': '7', 'content-type': 'application/json' })
      answer.end('{"ok":true}')
    },
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`
  const transport = new UndiciTransport({ ...options, origin, ca: pem('authority'), http2: true })
  const { status, head, body, failure } = await exchange(transport).done
  expect([status, body, failure]).toEqual([200, '{"ok":true}', null])
  expect(head).toContain('x-credits-remaining: 7\r\n')
  expect(seen).toEqual(['2.0'])
  await transport.close()
})

test('requests go through a proxy if one is given', async () => {
  const target = await scriptedServer((socket) => socket.write(response(200, {}, 'through')))
  const tunnels: string[] = []
  const proxy = createHttpServer().listen(0, '127.0.0.1')
  proxy.on('connect', (request, socket) => {
    tunnels.push(request.url ?? '')
    const onward = connect(target.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    for (const end of [onward, socket]) end.on('error', () => {})
  })
  await once(proxy, 'listening')
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const transport = new UndiciTransport({
    ...options,
    origin: target.origin,
    proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  })
  const { status, body, failure } = await exchange(transport).done
  expect([status, body, failure]).toEqual([200, 'through', null])
  expect(tunnels).toEqual([`127.0.0.1:${target.port}`])
  await transport.close()
})
