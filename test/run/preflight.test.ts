import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { createServer } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { reach as reachWithin } from '../../src/run/start/preflight.ts'

const reach = (baseUrl: string, ca?: string) =>
  reachWithin(baseUrl, ca === undefined ? {} : { ca }, 5000)

const pem = (name: string) =>
  readFileSync(new URL(`../client/tls/${name}.pem`, import.meta.url), 'utf8')

/** A TLS server for `localhost` with a certificate of `authority.pem`. */
async function secureServer(certificate = 'server'): Promise<number> {
  const server = createServer(
    { key: pem(`${certificate}-key`), cert: pem(certificate) },
    (socket) => void socket.on('error', () => {}),
  ).listen(0, '127.0.0.1')
  server.on('tlsClientError', () => {})
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

test('a TLS service with a trusted certificate is reached', async () => {
  const port = await secureServer()
  await expect(reach(`https://localhost:${port}`, pem('authority'))).resolves.toBe(undefined)
})

test('an untrusted certificate is refused before anything is sent, with the remedy', async () => {
  const port = await secureServer()
  await expect(reach(`https://localhost:${port}`)).rejects.toThrow(
    new RegExp(
      `^localhost:${port} was never reached: its certificate is not trusted \\(.+\\)\\. Name the authority's PEM file in ca_file of the scenario \\(--ca-file of bench\\), or in NODE_EXTRA_CA_CERTS\\.$`,
    ),
  )
})

test('a certificate for another name has its own remedy', async () => {
  const port = await secureServer('other')
  await expect(reach(`https://localhost:${port}`, pem('authority'))).rejects.toThrow(
    /its certificate is for another name \(Hostname\/IP does not match certificate's altnames.*\)\. Use a base URL with a name in the certificate/,
  )
})

test('a service without TLS is recognised, and http is suggested', async () => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  await expect(reach(`https://127.0.0.1:${port}`)).rejects.toThrow(
    /^127\.0\.0\.1:\d+ was never reached: it does not use TLS there \(.+\)\. Correct the base URL; perhaps it begins with http:\/\/\.$/,
  )
})

test('a stalled handshake ends after timeouts.connect, and is not reported as a missing service', async () => {
  const server = createTcpServer((socket) => void socket.on('error', () => {})).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  await expect(reachWithin(`https://127.0.0.1:${port}`, {}, 100)).rejects.toThrow(
    'was never reached: it accepts connections, but no TLS handshake ended within 0.1 s. Raise timeouts.connect',
  )
})

test('an expired certificate has its own remedy', async () => {
  const port = await secureServer('expired')
  await expect(reach(`https://localhost:${port}`, pem('expired'))).rejects.toThrow(
    /its certificate has expired\. Renew it at the service; if it is valid there, correct this machine's clock\.$/,
  )
})

test('a certificate that is not valid yet has its own remedy', async () => {
  const port = await secureServer('future')
  await expect(reach(`https://localhost:${port}`, pem('future'))).rejects.toThrow(
    /its certificate is not valid yet\. Correct this machine's clock; if it is right, renew the certificate at the service\.$/,
  )
})
