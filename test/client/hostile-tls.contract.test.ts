import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { exchange, openOn, transports } from './transports.ts'

const pem = (name: string) => readFileSync(new URL(`./tls/${name}.pem`, import.meta.url), 'utf8')
const ok = 'HTTP/1.1 200 OK\r\n'

/** Speaks TLS by hand: the connection below it can then end without close_notify. */
async function tlsServer(
  script: (secure: TLSSocket, raw: Socket) => void,
): Promise<{ readonly origin: string; readonly resumed: boolean[] }> {
  const resumed: boolean[] = []
  const ticketKeys = Buffer.alloc(48, 7)
  const server = createServer((raw) => {
    const secure = new TLSSocket(raw, {
      isServer: true,
      key: pem('server-key'),
      cert: pem('server'),
      ticketKeys,
    } as ConstructorParameters<typeof TLSSocket>[1])
    for (const end of [raw, secure]) end.on('error', () => {})
    secure.on('secure', () => resumed.push(secure.isSessionReused()))
    secure.on('data', () => script(secure, raw))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { origin: `https://localhost:${(server.address() as AddressInfo).port}`, resumed }
}

/** Ends the connection without close_notify. */
async function cut(raw: Socket): Promise<void> {
  await sleep(20)
  raw.destroySoon()
}

describe.each(transports)('%s', (name, open) => {
  test.each([
    ['within a length', `${ok}Content-Length: 9\r\n\r\nhalf`, 'closed-early'],
    ['after a body with a length', `${ok}Content-Length: 4\r\n\r\nhalf`, 'ok'],
    // Node takes it for an end: the cut is only visible in the incomplete document.
    ['in a body without a length', `${ok}\r\nhalf`, 'ok'],
    ['in a chunk', `${ok}Transfer-Encoding: chunked\r\n\r\n9\r\nhalf`, 'closed-early'],
    ['in the head', ok, 'closed-early'],
    ['before the head', '', 'closed-early'],
  ] as const)('an end without close_notify %s', async (_where, bytes, is) => {
    const { origin } = await tlsServer((secure, raw) => {
      if (bytes !== '') secure.write(bytes)
      void cut(raw)
    })
    const { failure } = await exchange(openOn(open, origin, { ca: pem('authority') })).done
    expect(failure?.code ?? 'ok').toBe(is)
  })

  test('an end with close_notify ends a body without a length', async () => {
    const { origin } = await tlsServer((secure) => secure.end(`${ok}\r\nwhole`))
    const { failure, body } = await exchange(openOn(open, origin, { ca: pem('authority') })).done
    expect([failure, body]).toEqual([null, 'whole'])
  })

  test('a TLS session is resumed', async () => {
    const { origin, resumed } = await tlsServer((secure) =>
      secure.end(`${ok}Content-Length: 2\r\nConnection: close\r\n\r\nok`),
    )
    const transport = openOn(open, origin, { ca: pem('authority') })
    for (let time = 0; time < 3; time++) await exchange(transport).done
    expect([name, resumed]).toEqual([name, [false, true, true]])
  })
})
