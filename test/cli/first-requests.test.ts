import { readFileSync, writeFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { assay } from '../e2e/command.ts'
import {
  answerChat,
  key,
  query,
  refuse,
  startTarget,
  type Target,
  withStorePath,
} from '../run/target.ts'

const scenario = `
name: launch
question: Does it hold?
model: svc-k2
steps:
  chat: { endpoint: chat, prompt: Hello }
  twice: { endpoint: chat, prompt: Hello again }
  wrong: { endpoint: chat, wrong: unknown-model }
phases: [{ name: load, load: constant, rate: 50/s, max_requests: 30 }]
`

/**
 * Runs the scenario in real processes. First requests are sent one at a time, then the load at 50
 * per second.
 */
async function runAgainst(
  baseUrl: string,
  dbPath: string,
  ...more: readonly (string | { readonly text: string })[]
) {
  const file = join(dirname(dbPath), 'launch.yaml')
  const [given] = more.filter((each) => typeof each === 'object')
  writeFileSync(file, given?.text ?? scenario)
  const options = more.filter((each) => typeof each === 'string')
  const words = ['run', file, '--base-url', baseUrl, '--db', dbPath, ...options]
  const { code, stdout, stderr } = await assay(words, { env: { ASSAY_API_KEY: key } }).ended
  return { code, out: stdout, error: stderr }
}

async function target(...handle: Parameters<typeof startTarget>): Promise<Target> {
  const started = await startTarget(...handle)
  onTestFinished(() => started.close())
  return started
}

test.each([
  [
    'a wrong path',
    404,
    'not_found',
    'Correct the base URL, the model, or the paths of the --contract.',
  ],
  ['a wrong key', 401, 'invalid_api_key', 'Set ASSAY_API_KEY to a key that the service accepts.'],
  ['an unknown model', 400, 'unknown_model', 'Correct the model and the fields of the step.'],
  ['a missing header', 400, 'config_required', 'Correct the model and the fields of the step.'],
])(
  '%s ends a run after one request, with the response and the remedy',
  { tags: 'whole' },
  async (_, status, code, remedy) => {
    const service = await target((_, response) => refuse(response, status, `${code} ${key}`))
    await withStorePath(async (dbPath) => {
      const ended = await runAgainst(service.baseUrl, dbPath)
      expect(service.requests).toBe(1)
      expect(ended.out).toBe('')
      const [sent, whatToDo, kept] = ended.error.trimEnd().split('\n').slice(-3)
      expect(sent).toContain(
        `POST ${service.baseUrl}/v1/chat/completions (step chat) answered ${status}: {"error":{"message":"${code} `,
      )
      expect(whatToDo).toBe(remedy)
      expect(kept).toMatch(/^The load was not sent; the request is in run [\w-]+\.$/)
      expect(ended.error).not.toContain(key)
      expect(ended.code).toBe(4)
      expect(await query(dbPath, 'SELECT phase, part, status FROM attempts')).toEqual([
        { phase: 'first requests', part: 'warmup', status },
      ])
    })
  },
)

const reading = `
name: priced
question: Does it bill?
model: m
steps:
  money: { endpoint: other, method: GET, path: /key/info, model: null }
  chat: { endpoint: chat, prompt: Hello, max_tokens: 8 }
phases:
  - { name: before, load: concurrency, users: 1, max_requests: 1, steps: [money] }
  - { name: load, load: constant, rate: 50/s, max_requests: 5, steps: [chat] }
`
const priced = `
name: priced
currency: USD
models: [{ id: m, price: { input: 1, output: 2 } }]
evidence: { balance: { get: /key/info, value: info.spend, moves: up } }
`

test.each([
  [404, 1, '/key/info'],
  [500, 3, '/key/info'],
  // The audit reads the page whatever its query is.
  [403, 1, '/key/info?details=true'],
])(
  'a balance that cannot be read (status %i, %i times) is said before a request is paid (%s)',
  async (status, reads, page) => {
    const paths: (string | undefined)[] = []
    const service = await target((request, response) => {
      paths.push(request.url)
      if (request.url === '/key/info') refuse(response, status, 'no_such_page')
      else answerChat(response)
    })
    await withStorePath(async (dbPath) => {
      const contract = join(dirname(dbPath), 'priced-contract.yaml')
      writeFileSync(contract, priced.replace('/key/info', page))
      const { code, error } = await runAgainst(
        service.baseUrl,
        dbPath,
        ...['--contract', contract],
        { text: reading },
      )
      expect(paths).toEqual(Array.from({ length: reads }, () => '/key/info'))
      expect(error).toContain(`GET ${service.baseUrl}/key/info (step money) answered ${status}`)
      expect(error).toContain('The load was not sent')
      expect(code).toBe(4)
    })
  },
)

test.each([
  ['the value is not there', '{"info": {"spent": 3}}', 'info.spend'],
  ['it has a comma', '{"info": {"spend": "1,499"}}', 'info.spend'],
  ['it is a list', '{"info": {"spend": []}}', 'info.spend'],
  ['it is a page for people', '<html>Sign in</html>', 'info.spend'],
  ['a second value is not there', '{"info": {"spend": 1.5, "left": true}}', 'info.left'],
])(
  'a page that answers 200 without the promised balance is said before a request is paid: %s',
  { tags: 'whole' },
  async (_, body, place) => {
    const paths: (string | undefined)[] = []
    const service = await target((request, response) => {
      paths.push(request.url)
      if (request.url === '/key/info') response.end(body)
      else answerChat(response)
    })
    await withStorePath(async (dbPath) => {
      const contract = join(dirname(dbPath), 'priced-contract.yaml')
      const also = place === 'info.left' ? ', also: [{ value: info.left, moves: down }]' : ''
      writeFileSync(contract, priced.replace('moves: up', `moves: up${also}`))
      const { code, error } = await runAgainst(
        service.baseUrl,
        dbPath,
        ...['--contract', contract],
        { text: reading },
      )
      expect(new Set(paths)).toEqual(new Set(['/key/info']))
      expect(error).toContain(`answered 200 without a number at ${place}`)
      expect(error).toContain('The load was not sent')
      expect(code).toBe(4)
    })
  },
)

test.each([
  ['0', '{"info": {"spend": 0}}'],
  ['a text', '{"info": {"spend": "0.25"}}'],
  ['null until something is charged', '{"info": {"spend": null}}'],
])('a page whose balance is %s lets the load begin', { tags: 'whole' }, async (_, body) => {
  const service = await target((request, response) => {
    if (request.url === '/key/info') response.end(body)
    else answerChat(response)
  })
  await withStorePath(async (dbPath) => {
    const contract = join(dirname(dbPath), 'priced-contract.yaml')
    writeFileSync(contract, priced)
    const { out } = await runAgainst(
      service.baseUrl,
      dbPath,
      ...['--contract', contract, '--json'],
      { text: reading },
    )
    expect(JSON.parse(out)).toMatchObject({ stopped: null, refusal: null })
  })
})

test('a service that accepts the first request gets the whole load, with or without /v1', {
  tags: 'whole',
}, async () => {
  const paths: (string | undefined)[] = []
  const service = await target((request, response) => {
    paths.push(request.url)
    answerChat(response)
  })
  await withStorePath(async (dbPath) => {
    const { out } = await runAgainst(`${service.baseUrl}/v1`, dbPath, '--json')
    expect(JSON.parse(out)).toMatchObject({ stopped: null, refusal: null })
    expect(
      await query(
        dbPath,
        'SELECT phase, count(*)::INTEGER AS n FROM attempts GROUP BY phase ORDER BY n',
      ),
    ).toEqual([
      { phase: 'first requests', n: 1 },
      { phase: 'load', n: 30 },
    ])
    expect(new Set(paths)).toEqual(new Set(['/v1/chat/completions']))
  })
})

test.each([
  [429, 'rate_limit_exceeded'],
  [503, 'overloaded'],
])(
  'a first request with status %i %s does not prevent the load',
  { tags: 'whole' },
  async (status, code) => {
    const service = await target((_, response) => refuse(response, status, code))
    await withStorePath(async (dbPath) => {
      const { out } = await runAgainst(service.baseUrl, dbPath, '--json')
      expect(JSON.parse(out)).toMatchObject({ stopped: null, counts: { planned: 31 } })
    })
  },
)

test('a first request with status 500 three times ends a run, with what the service said', {
  tags: 'whole',
}, async () => {
  const service = await target((_, response) => refuse(response, 500, 'config_missing'))
  await withStorePath(async (dbPath) => {
    const { error } = await runAgainst(service.baseUrl, dbPath)
    expect(error).toContain('answered 500')
    expect(error).toContain('config_missing')
    expect(
      await query(dbPath, 'SELECT phase, count(*)::INTEGER AS n FROM attempts GROUP BY phase'),
    ).toEqual([{ phase: 'first requests', n: 3 }])
  })
})

test('a first request with status 500 once does not prevent the load', {
  tags: 'whole',
}, async () => {
  let count = 0
  const service = await target((_, response) =>
    count++ === 0 ? refuse(response, 500, 'hiccup') : answerChat(response),
  )
  await withStorePath(async (dbPath) => {
    const { out } = await runAgainst(service.baseUrl, dbPath, '--json')
    expect(JSON.parse(out)).toMatchObject({ stopped: null, counts: { planned: 32 } })
  })
})

test('steps with wrong fields on purpose do not stop a run whose plain steps are served', {
  tags: 'whole',
}, async () => {
  const service = await target((_, response, text) => {
    const body = JSON.parse(text) as { model?: string; temperature?: number }
    if (body.model === undefined || (body.temperature ?? 1) > 2) refuse(response, 400, 'invalid')
    else answerChat(response)
  })
  await withStorePath(async (dbPath) => {
    const file = join(dirname(dbPath), 'wrong.yaml')
    writeFileSync(
      file,
      scenario.replace(
        'steps:\n',
        `steps:
  hot: { endpoint: chat, prompt: Hello, body: { temperature: 2.01 } }
  bare: { endpoint: chat, prompt: Hello, model: null }
`,
      ),
    )
    const words = ['run', file, '--base-url', service.baseUrl, '--db', dbPath]
    await assay(words, { env: { ASSAY_API_KEY: key } }).ended
    expect(
      await query(
        dbPath,
        'SELECT phase, count(*)::INTEGER AS n FROM attempts GROUP BY phase ORDER BY n',
      ),
    ).toEqual([
      { phase: 'first requests', n: 1 },
      { phase: 'load', n: 30 },
    ])
  })
})

test('--no-first-requests sends only the load', { tags: 'whole' }, async () => {
  const service = await target((_, response) => refuse(response, 404, 'not_found'))
  await withStorePath(async (dbPath) => {
    const { out } = await runAgainst(service.baseUrl, dbPath, '--json', '--no-first-requests')
    expect(JSON.parse(out)).toMatchObject({ stopped: null, counts: { planned: 30 } })
    expect(service.requests).toBe(30)
  })
})

test('http to an https port is reported after three requests', { tags: 'whole' }, async () => {
  const pem = (name: string) =>
    readFileSync(new URL(`../client/tls/${name}.pem`, import.meta.url), 'utf8')
  const server = createTlsServer({ key: pem('server-key'), cert: pem('server') })
  server.on('tlsClientError', () => {})
  let connections = 0
  server.on('connection', () => connections++)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await withStorePath(async (dbPath) => {
    const { code, error } = await runAgainst(baseUrl, dbPath)
    expect(error).toMatch(
      /got no HTTP answer \(.*\)\. Correct the base URL; perhaps it begins with https:\/\/\.\n/,
    )
    expect(code).toBe(4)
    // One connection to see whether anything listens, and three for the request: a cut may be by chance.
    expect(connections).toBe(4)
  })
})

test('a first request that is cut once is sent again, and the load follows', {
  tags: 'whole',
}, async () => {
  const service = await target((_, response) => {
    if (service.requests === 1) response.socket?.destroy()
    else answerChat(response)
  })
  await withStorePath(async (dbPath) => {
    const { out } = await runAgainst(service.baseUrl, dbPath, '--json')
    // Two first requests, of which the first was cut, and the load.
    expect(JSON.parse(out)).toMatchObject({ stopped: null, counts: { planned: 32 } })
    expect(service.requests).toBe(32)
  })
})

test('a kind of request that is always cut is not blamed on the base URL if others are answered', {
  tags: 'whole',
}, async () => {
  const service = await target((_, response) => {
    if (service.requests > 1) response.socket?.destroy()
    else refuse(response, 503, 'busy')
  })
  await withStorePath(async (dbPath) => {
    const twoKinds = scenario.replace('twice: {', 'twice: { stream: true,')
    const { code, error } = await runAgainst(service.baseUrl, dbPath, { text: twoKinds })
    expect(error).toContain('3 times in a row. The service answered other requests')
    expect(error).not.toContain('https')
    expect(code).toBe(4)
  })
})

test('health rows are kept once a second during a slow first request', {
  tags: 'whole',
}, async () => {
  const service = await target((_, response) => {
    if (service.requests > 1) answerChat(response)
    else setTimeout(() => answerChat(response), 1200)
  })
  await withStorePath(async (dbPath) => {
    const ended = await runAgainst(service.baseUrl, dbPath)
    // On a busy machine the run is invalid (4), with its rows all the same.
    expect([0, 4]).toContain(ended.code)
    const [kept] = await query<{ rows: number; seconds: number }>(
      dbPath,
      `SELECT count(*)::INTEGER AS rows, (SELECT max(closed_us) / 1e6 FROM attempts) AS seconds
       FROM health WHERE shard = 0`,
    )
    // In addition to one per second: one as the first request ends, and one at the end.
    expect(kept!.rows).toBeGreaterThanOrEqual(Math.floor(kept!.seconds))
    expect(kept!.rows).toBeLessThanOrEqual(Math.ceil(kept!.seconds) + 2)
  })
})
