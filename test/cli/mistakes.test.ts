import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { assay } from '../e2e/command.ts'

const pem = (name: string) =>
  readFileSync(new URL(`../client/tls/${name}.pem`, import.meta.url), 'utf8')

const error = (message: string) => JSON.stringify({ error: { message } })

/** A service under the path /llm, with one key and one model, and the requests that it got. */
async function listen(secure: boolean) {
  const sent: string[] = []
  const answer: RequestListener = (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece) => pieces.push(piece))
    request.on('end', () => {
      // bench looks for the metrics of the service, which cost nothing.
      if (!request.url!.endsWith('/metrics')) sent.push(`${request.method} ${request.url}`)
      const [status, body] = answerTo(request.headers.authorization, request.url!, pieces)
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    })
  }
  const server: Server = secure
    ? createTlsServer({ key: pem('server-key'), cert: pem('server') }, answer)
    : createServer(answer)
  server.on('tlsClientError', () => {})
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  return { sent, port: (server.address() as AddressInfo).port, server }
}

function answerTo(key: string | undefined, url: string, pieces: readonly Buffer[]) {
  if (key !== 'Bearer right') return [401, error('No such key.')] as const
  if (url === '/llm/v1/models') return [200, JSON.stringify({ data: [] })] as const
  if (url !== '/llm/v1/chat/completions') return [404, error('Not found.')] as const
  const { model } = JSON.parse(Buffer.concat(pieces).toString())
  return [404, error(`The model ${model} does not exist.`)] as const
}

async function bench(key: string, ...words: readonly string[]) {
  const cwd = mkdtempSync(join(tmpdir(), 'assay-mistake-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const { code, stdout, stderr } = await assay(['bench', ...words], {
    cwd,
    env: { ASSAY_API_KEY: key },
  }).ended
  // A busy machine shows progress.
  return { code, out: stdout, error: stderr.replace(/^\d+ s \| .*\n/gm, '') }
}

const list = 'GET /llm/v1/models'
const chat = 'POST /llm/v1/chat/completions'

type Mistake = readonly [
  what: string,
  words: string,
  key: string,
  sent: string | null,
  summary: string,
]

const unknownModel = `POST http://HOST/llm/v1/chat/completions (step chat-stream) answered 404: {"error":{"message":"The model m does not exist."}}
Correct the model; the service lists those that it has.
The load was not sent; the request is in run RUN.
`

test.each<Mistake>([
  [
    'a wrong key',
    ...(['http://HOST/llm', 'wrong', list] as const),
    'GET http://HOST/llm/v1/models answered 401: {"error":{"message":"No such key."}}\nSet ASSAY_API_KEY to a key that the service accepts.\n',
  ],
  [
    'a wrong path',
    ...(['http://HOST/v1', 'right', 'GET /v1/models'] as const),
    'http://HOST has no list of models at /v1/models: it answered 404. Correct the base URL, or name a model with --model.\n',
  ],
  [
    'a service that lists no model',
    ...(['http://HOST/llm/v1/', 'right', list] as const),
    'http://HOST/llm lists no models at /v1/models. Name one with --model.\n',
  ],
  ['an unknown model and /v1', 'http://HOST/llm/v1 --model m', 'right', chat, unknownModel],
  ['an unknown model', 'http://HOST/llm --model m', 'right', chat, unknownModel],
  [
    'https for http',
    ...(['https://HOST/llm', 'right', null] as const),
    'HOST was never reached: it does not use TLS there (ERR_SSL_WRONG_VERSION_NUMBER). Correct the base URL; perhaps it begins with http://.\n',
  ],
])(
  'bench with %s sends one request and prints the remedy',
  { tags: 'whole' },
  async (_, words, key, sent, summary) => {
    const service = await listen(false)
    const host = `127.0.0.1:${service.port}`
    const { code, out, error } = await bench(key, ...words.replace('HOST', host).split(' '))
    const shown = error.replace(/\b\d{8}-\d{6}-[0-9a-f]{4}\b/, 'RUN')
    expect(shown).toBe(summary.replaceAll('HOST', host))
    expect(service.sent).toEqual(sent === null ? [] : [sent])
    expect({ code, out }).toEqual({ code: summary.includes('lists no models') ? 2 : 4, out: '' })
  },
)

test.each([
  [
    'an untrusted certificate',
    'https://HOST/llm',
    "HOST was never reached: its certificate is not trusted (WHY). Name the authority's PEM file in ca_file of the scenario (--ca-file of bench), or in NODE_EXTRA_CA_CERTS.\n",
  ],
  [
    'http for https',
    'http://HOST/llm',
    'GET http://HOST/llm/v1/models got no HTTP answer (WHY). Correct the base URL; perhaps it begins with https://.\n',
  ],
])('bench with %s sends nothing and prints the remedy', async (_, url, summary) => {
  const service = await listen(true)
  const host = `127.0.0.1:${service.port}`
  const { error, ...ended } = await bench('right', url.replace('HOST', host))
  expect(error.replace(/\(.*?\)/, '(WHY)')).toBe(summary.replaceAll('HOST', host))
  expect(service.sent).toEqual([])
  expect(ended).toEqual({ code: 4, out: '' })
})

test('bench with --ca-file reaches a service of that authority', { tags: 'whole' }, async () => {
  const { port, sent } = await listen(true)
  const authority = new URL('../client/tls/authority.pem', import.meta.url).pathname
  const { error } = await bench('right', `https://127.0.0.1:${port}/llm`, '--ca-file', authority)
  expect(error).toContain('lists no models')
  expect(sent).toEqual([list])
})

test('bench of a closed port says so in one sentence', { tags: 'whole' }, async () => {
  const { port, server } = await listen(false)
  await new Promise((closed) => server.close(closed))
  expect(await bench('right', `http://127.0.0.1:${port}/llm`)).toEqual({
    ...{ code: 4, out: '' },
    error: `127.0.0.1:${port} was never reached: nothing listens there (connection refused). Start the service, or correct the base URL.\n`,
  })
})
