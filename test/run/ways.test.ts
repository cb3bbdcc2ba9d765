import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createSecureServer } from 'node:http2'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { run } from '../../src/run/run.ts'
import { openStore } from '../../src/store/session/open.ts'
import { answerChat, chatScenario, key, startTarget, withStorePath } from './target.ts'

/** Other transports than our HTTP/1.1: undici, HTTP/2 and a proxy. */

const keys = { default: key }
const tls = (name: string) => new URL(`../client/tls/${name}.pem`, import.meta.url).pathname
const phase = '  - { name: steady, load: constant, rate: 100/s, max_requests: 20 }'

/** A TLS service that records the protocol of each request. */
async function secureTarget(asks = false) {
  const spoken = new Set<string>()
  const server = createSecureServer(
    {
      ...{ key: readFileSync(tls('server-key')), cert: readFileSync(tls('server')) },
      ...{ ca: readFileSync(tls('authority')), requestCert: asks, allowHTTP1: true },
    },
    (request, response) => {
      spoken.add(`${request.httpVersion} ${request.headers.authorization}`)
      request.resume()
      request.on('end', () => answerChat(response as never))
    },
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { baseUrl: `https://localhost:${(server.address() as AddressInfo).port}`, spoken, server }
}

test.each([
  ['own', '1.1'],
  ['undici', '1.1'],
  ['http2', '2.0'],
])(
  'transport: %s speaks HTTP/%s over verified TLS, and every request is a row',
  { tags: 'whole' },
  async (transport, version) => {
    const { baseUrl, spoken } = await secureTarget()
    await withStorePath(async (dbPath) => {
      const scenario = chatScenario(phase, `transport: ${transport}\nca_file: ${tls('authority')}`)
      const { counts } = await run(scenario, { baseUrl, dbPath, keys })
      expect(counts).toMatchObject({ planned: 20, ok: 20 })
      expect([...spoken]).toEqual([`${version} Bearer ${key}`])
      const store = await openStore(dbPath)
      const [row] = await store.rows(
        `SELECT bool_and(sent_us >= dispatched_us AND headers_us >= sent_us AND done_us >= headers_us) AS ordered,
         min(credits_remaining)::INTEGER AS credits, sum(completion_tokens)::INTEGER AS tokens
       FROM attempts`,
      )
      store.close()
      expect(row).toEqual({ ordered: true, credits: 99, tokens: 40 })
    })
  },
)

test('an untrusted certificate is refused before a row is made', async () => {
  const { baseUrl, spoken } = await secureTarget()
  await withStorePath(async (dbPath) => {
    await expect(run(chatScenario(phase), { baseUrl, dbPath, keys })).rejects.toThrow(
      'was never reached: its certificate is not trusted',
    )
    expect(existsSync(dbPath)).toBe(false)
  })
  expect(spoken.size).toBe(0)
})

test('a service whose certificate becomes untrusted gets no request on any transport, and is unreachable', {
  tags: 'whole',
}, async () => {
  for (const transport of ['own', 'undici', 'http2']) {
    const { baseUrl, spoken, server } = await secureTarget()
    // The first connection only checks that the service is there.
    server.once('connection', () =>
      server.setSecureContext({
        key: readFileSync(tls('other-key')),
        cert: readFileSync(tls('other')),
      }),
    )
    await withStorePath(async (dbPath) => {
      const few = phase.replace('20 }', '3 }')
      const scenario = chatScenario(few, `transport: ${transport}\nca_file: ${tls('authority')}`)
      const { counts, stopped } = await run(scenario, { baseUrl, dbPath, keys })
      expect(counts).toMatchObject({ planned: 3, broken: 3 })
      expect(stopped).toBe('unreachable')
      const store = await openStore(dbPath)
      const reasons = await store.rows('SELECT DISTINCT reason FROM attempts')
      store.close()
      expect(reasons).toEqual([{ reason: 'tls' }])
    })
    expect(spoken.size).toBe(0)
  }
})

test('a service that was never reached is unreachable, whichever stop condition applied first', {
  tags: 'whole',
}, async () => {
  const gone = createTcpServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(gone, 'listening')
  gone.once('connection', (knock) => {
    gone.close()
    // Our end of the probe connection stays open, so no other test gets the port.
    onTestFinished(() => void knock.destroy())
  })
  const baseUrl = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      '  - { name: steady, load: constant, rate: 20/s, duration: 20s }',
      'stop: { consecutive_failures: 5 }',
    )
    const { counts, stopped } = await run(scenario, { baseUrl, dbPath, keys })
    expect(counts.planned).toBeLessThan(400)
    expect(counts.broken).toBe(counts.planned)
    expect(stopped).toBe('unreachable')
  })
})

/** An HTTP proxy that opens tunnels and records its requests. */
async function startProxy() {
  const asked: { readonly to: string; readonly as: string | undefined }[] = []
  const proxy = createServer().listen(0, '127.0.0.1')
  proxy.on('connect', (request, socket) => {
    asked.push({ to: request.url ?? '', as: request.headers['proxy-authorization'] })
    const { hostname, port } = new URL(`http://${request.url}`)
    const through = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      through.pipe(socket).pipe(through)
    })
    through.on('error', () => socket.destroy())
    socket.on('error', () => through.destroy())
  })
  await once(proxy, 'listening')
  onTestFinished(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  return { port: (proxy.address() as AddressInfo).port, asked }
}

test('requests go through the proxy of the variable, and its URL is not stored', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => answerChat(response))
  onTestFinished(() => target.close())
  const secure = await secureTarget()
  const { port, asked } = await startProxy()
  process.env.ASSAY_TEST_PROXY = `http://me:secret-word@127.0.0.1:${port}`
  for (const baseUrl of [target.baseUrl, secure.baseUrl]) {
    await withStorePath(async (dbPath) => {
      const scenario = chatScenario(
        phase,
        `proxy_env: ASSAY_TEST_PROXY\nca_file: ${tls('authority')}`,
      )
      const { counts } = await run(scenario, { baseUrl, dbPath, keys })
      expect(counts).toMatchObject({ planned: 20, ok: 20 })
      expect(asked.at(-1)).toEqual({
        to: new URL(baseUrl).host,
        as: `Basic ${Buffer.from('me:secret-word').toString('base64')}`,
      })
      expect(readFileSync(dbPath).includes('secret-word')).toBe(false)
    })
  }
})

test.each(['own', 'undici', 'http2'])(
  'transport: %s presents the client certificate to a service that requires one',
  { tags: 'whole' },
  async (transport) => {
    const { baseUrl, spoken, server } = await secureTarget(true)
    const named = `transport: ${transport}\nca_file: ${tls('authority')}`
    const pair = `cert_file: ${tls('other')}\nkey_file: ${tls('other-key')}`
    await withStorePath(async (dbPath) => {
      const few = phase.replace('20 }', '3 }')
      const { counts } = await run(chatScenario(few, named), { baseUrl, dbPath, keys })
      expect(counts).toMatchObject({ planned: 3, broken: 3 })
    })
    expect(spoken.size).toBe(0)
    const shown = new Set<string>()
    server.on('secureConnection', (socket) => shown.add(socket.getPeerCertificate().subject.CN))
    await withStorePath(async (dbPath) => {
      const { counts } = await run(chatScenario(phase, `${named}\n${pair}`), {
        ...{ baseUrl, dbPath, keys },
      })
      expect(counts).toMatchObject({ planned: 20, ok: 20 })
      const secret = readFileSync(tls('other-key'), 'utf8').split('\n')[1]!
      expect(readFileSync(dbPath).includes(secret)).toBe(false)
    })
    expect([...shown]).toEqual(['elsewhere.test'])
  },
)

test('a key that does not match the certificate, or no key, is refused before anything is sent', async () => {
  const told = (pair: string) =>
    run(chatScenario(phase, pair), { baseUrl: 'http://127.0.0.1:9', dbPath: 'x', keys })
  const cert = `cert_file: ${tls('other')}`
  await expect(told(`${cert}\nkey_file: ${tls('server-key')}`)).rejects.toThrow(
    /^The key in .+server-key\.pem is not the one of the certificate in .+other\.pem, or is encrypted\./,
  )
  await expect(told(`${cert}\nkey_file: ${tls('other')}`)).rejects.toThrow(
    /^The client's key comes from the file .+other\.pem, which holds no private key\. key_file/,
  )
  expect(() => chatScenario(phase, cert)).toThrow('cert_file also needs key_file')
})

test('unreadable authorities are refused before anything is sent', async () => {
  const scenario = chatScenario(phase, 'ca_file: /no/such/authority.pem')
  await expect(run(scenario, { baseUrl: 'http://127.0.0.1:9', dbPath: 'x', keys })).rejects.toThrow(
    'The authorities come from the file /no/such/authority.pem, which cannot be read.',
  )
  const noPem = chatScenario(phase, `ca_file: ${import.meta.filename}`)
  await expect(run(noPem, { baseUrl: 'http://127.0.0.1:9', dbPath: 'x', keys })).rejects.toThrow(
    'which holds no certificate. ca_file names a PEM file',
  )
})

test('a proxy is named by its variable, and a variable without a URL is refused', async () => {
  const scenario = chatScenario(phase, 'proxy_env: ASSAY_TEST_NO_SUCH_PROXY')
  await expect(run(scenario, { baseUrl: 'http://127.0.0.1:9', dbPath: 'x', keys })).rejects.toThrow(
    'The proxy comes from the variable ASSAY_TEST_NO_SUCH_PROXY, which holds no URL.',
  )
})

test('with an unreachable proxy, the row of each request has the reason', {
  tags: 'whole',
}, async () => {
  process.env.ASSAY_TEST_NO_PROXY_THERE = 'http://127.0.0.1:9'
  await withStorePath(async (dbPath) => {
    const scenario = chatScenario(
      phase.replace('20 }', '3 }'),
      'proxy_env: ASSAY_TEST_NO_PROXY_THERE',
    )
    const { counts } = await run(scenario, { baseUrl: 'http://127.0.0.1:9', dbPath, keys })
    expect(counts).toMatchObject({ planned: 3, broken: 3 })
    const store = await openStore(dbPath)
    const reasons = await store.rows('SELECT DISTINCT reason FROM attempts')
    store.close()
    expect(reasons).toEqual([{ reason: 'connect-refused' }])
  })
})
