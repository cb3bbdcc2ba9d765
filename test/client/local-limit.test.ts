import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import { codeOf, localLimitOf } from '../../src/client/wire/local-limit.ts'
import { exchange, openOn } from './transports.ts'

test('error codes of exhausted local resources are distinguished from those of the service', () => {
  expect(
    ['EADDRNOTAVAIL', 'EADDRINUSE', 'EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'].map(localLimitOf),
  ).toEqual([
    'no-local-port',
    'no-local-port',
    'no-open-file',
    'no-open-file',
    'no-local-memory',
    'no-local-memory',
  ])
  expect(['ECONNREFUSED', 'ETIMEDOUT', 'ENETUNREACH', ''].map(localLimitOf)).toEqual([
    null,
    null,
    null,
    null,
  ])
})

test('own HTTP/1.1 opens no more connections than it may, and those requests are not sent', async () => {
  const server = createServer((_request, response) => {
    setTimeout(() => response.end('{}'), 100)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => server.closeAllConnections())
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const transport = openOn((options) => new Http1Transport(options), `http://127.0.0.1:${port}`, {
    openConnections: 3,
  })
  const ask = () => Promise.all(Array.from({ length: 5 }, () => exchange(transport).done))
  const first = await ask()
  expect(first.map(({ status }) => status)).toEqual([200, 200, 200, null, null])
  expect(first.map(({ failure }) => failure?.code)).toEqual([
    ...[undefined, undefined, undefined],
    ...['no-open-file', 'no-open-file'],
  ])
  // The open connections are used again.
  expect((await ask()).map(({ status }) => status)).toEqual([200, 200, 200, null, null])
})

test('a service that refuses is told where one of its addresses cannot be used here', () => {
  const failed = (code: string, address = '127.0.0.1') =>
    Object.assign(new Error(`connect ${code}`), { code, address })
  const all = (...errors: readonly { readonly code: string }[]) =>
    Object.assign(new AggregateError(errors), { code: errors[0]!.code })
  const noIpv6 = failed('EADDRNOTAVAIL', '::1')
  expect(codeOf(all(noIpv6, failed('ECONNREFUSED')))).toBe('ECONNREFUSED')
  expect(codeOf(all(failed('ECONNREFUSED'), noIpv6))).toBe('ECONNREFUSED')
  // Without a port or a file here, nothing else was tried in earnest.
  expect(codeOf(all(failed('EADDRNOTAVAIL'), failed('ECONNREFUSED', '::1')))).toBe('EADDRNOTAVAIL')
  expect(codeOf(all(failed('ECONNREFUSED', '::1'), failed('EMFILE')))).toBe('EMFILE')
  expect(codeOf(all(noIpv6, failed('EADDRNOTAVAIL')))).toBe('EADDRNOTAVAIL')
  expect(codeOf(noIpv6)).toBe('EADDRNOTAVAIL')
  expect(codeOf(new Error('no code'))).toBe('')
})
