import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { WireRequest } from '../../src/client/wire/transport.ts'
import { scriptedServer } from './scripted-server.ts'
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

describe.each(transports)('%s', (name, open) => {
  test('a handshake that is never answered times out', { tags: 'whole' }, async () => {
    const silent = await scriptedServer(() => {})
    const origin = silent.origin.replace('http:', 'https:')
    const { failure, calls } = await exchange(openOn(open, origin, { connectTimeoutMs: 60 })).done
    expect([failure?.code, calls]).toEqual(['connect-timeout', ['failure']])
  })

  test('exchanges over TLS with a trusted certificate succeed', async () => {
    const { origin } = await tlsServer('server')
    const transport = openOn(open, origin, { ca: pem('authority') })
    for (let round = 0; round < 2; round++) {
      const { status, body, reused } = await exchange(transport, post('{}')).done
      expect([status, body]).toEqual([200, 'secure'])
      if (name === 'http1') expect(reused).toBe(round === 1)
    }
  })

  test.each([
    ['an untrusted authority', 'server', undefined],
    ['another host name', 'other', 'authority'],
  ] as const)('a certificate of %s is refused', async (_what, certificate, ca) => {
    const { origin } = await tlsServer(certificate)
    const options = ca === undefined ? {} : { ca: pem(ca) }
    const { failure, calls } = await exchange(openOn(open, origin, options)).done
    expect([failure?.code, calls]).toEqual(['tls', ['failure']])
  })
})

const pem = (name: string) => readFileSync(new URL(`./tls/${name}.pem`, import.meta.url), 'utf8')

async function tlsServer(certificate: string): Promise<{ readonly origin: string }> {
  const server = createTlsServer({ key: pem(`${certificate}-key`), cert: pem(certificate) })
  server.on('tlsClientError', () => {})
  server.on('request', (request, answer) => {
    request.resume().on('end', () => answer.end('secure'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `https://localhost:${(server.address() as AddressInfo).port}` }
}
