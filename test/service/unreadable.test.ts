import { createConnection } from 'node:net'
import { expect, test } from 'vitest'
import { manualClock } from './manual-clock.ts'
import { hello, serving, type Target } from './serving.ts'

/** The response of a connection to these bytes, until it ends. */
function answerTo({ service }: Target, sent: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(Number(new URL(service.baseUrl).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    socket.on('close', () => resolve(text)).on('error', reject)
    socket.write(sent)
  })
}

function request(
  target: Target,
  head: string,
  { line = 'POST /v1/chat/completions HTTP/1.1', body = JSON.stringify(hello) } = {},
): string {
  const headers = `authorization: Bearer ${target.key()}\r\n${head}content-length: ${body.length}`
  return `${line}\r\nhost: x\r\n${headers}\r\n\r\n${body}`
}

test.each([
  ['another protocol', 'hello\r\n\r\n', 'Invalid method encountered'],
  ['a header without a name', 'GET / HTTP/1.1\r\nhost: x\r\n: y\r\n\r\n', 'Invalid header token'],
  ['a malformed chunk', 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz', ''],
  ['endless headers', `GET / HTTP/1.1\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`, 'exceed 16384 bytes'],
  ['no host', 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n', 'expected a Host'],
])('%s gets a 400 in JSON that pages of any origin can read', async (_, sent, why) => {
  const answer = await answerTo(await serving(), sent)
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(answer).toContain('\r\naccess-control-allow-origin: *\r\n')
  expect(answer).toContain('\r\naccess-control-expose-headers: x-credits-remaining, ')
  const { error } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as { error: object }
  expect(error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_request' })
  expect(error).toHaveProperty('message', expect.stringContaining(why))
})

test('a body that breaks off is refused in the format of its endpoint', async () => {
  const target = await serving()
  const refused = async (path: string) => {
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`
    const answer = await answerTo(target, head)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
  }
  const message = 'expected a request of HTTP/1.1; Invalid character in chunk size'
  const type = 'invalid_request_error'
  expect(await refused('/v1/messages')).toEqual({ type: 'error', error: { type, message } })
  expect(await refused('/v1/chat/completions')).toEqual({
    error: { type, message, code: 'invalid_request' },
  })
})

test('CONNECT is a 404, and its connection ends', async () => {
  const answer = await answerTo(
    await serving(),
    'CONNECT a.b:443 HTTP/1.1\r\nhost: a.b:443\r\n\r\n',
  )
  expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/)
  expect(answer).toContain('\r\nconnection: close\r\n')
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({
    error: {
      message: 'no such endpoint: CONNECT a.b:443',
      type: 'invalid_request_error',
      code: 'invalid_request',
    },
  })
})

test('bytes that are not a request do not spoil a response that has begun', async () => {
  // Time is stopped: the answer has begun, and is not over when they arrive.
  const clock = manualClock(Date.UTC(2026, 0) * 1000)
  const shape = { betweenTokensUs: { kind: 'constant', value: 1e5 } } as const
  const target = await serving({ clock, shape })
  const stream = request(target, '', { body: JSON.stringify({ ...hello, stream: true }) })
  const answer = new Promise<string>((resolve) => {
    const socket = createConnection(Number(new URL(target.service.baseUrl).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      if (text === '') socket.write('hello\r\n\r\n')
      text += part
    })
    socket.on('close', () => resolve(text)).on('error', () => {})
    socket.write(stream)
  })
  expect((await answer).match(/HTTP\/1\.1 /g)).toHaveLength(1)
})

test('an unknown expectation or an absolute URL does not prevent an answer', async () => {
  const target = await serving()
  const odd = request(target, 'connection: close\r\nexpect: the-best\r\n')
  expect(await answerTo(target, odd)).toMatch(/^HTTP\/1\.1 200 /)
  const line = `POST ${target.service.baseUrl}/v1/chat/completions?a=b HTTP/1.1`
  const proxied = request(target, 'connection: close\r\n', { line })
  expect(await answerTo(target, proxied)).toMatch(/^HTTP\/1\.1 200 /)
})

test('HEAD gets the headers that GET gets', async () => {
  const target = await serving()
  const headers = { authorization: `Bearer ${target.key()}` }
  for (const path of ['/v1/models', '/user/credits']) {
    const head = await fetch(target.service.baseUrl + path, { method: 'HEAD', headers })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(head.headers.get('x-credits-remaining')).toBe('1000000')
  }
  for (const path of ['/nowhere', '/v1/chat/completions', '/operator/clock', '/']) {
    const [head, get] = await Promise.all(
      ['HEAD', 'GET'].map((method) => fetch(target.service.baseUrl + path, { method })),
    )
    expect([head!.status, await head!.text()]).toEqual([404, ''])
    const bytes = Buffer.byteLength(await get!.text())
    expect([path, head!.headers.get('content-length')]).toEqual([path, String(bytes)])
  }
  const chat = `${target.service.baseUrl}/v1/chat/completions`
  expect((await fetch(chat, { method: 'HEAD', headers })).status).toBe(404)
})
