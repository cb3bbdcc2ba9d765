import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, type Ended, withFolder } from './command.ts'

/** A service that is none of ours: it keeps when each request came, and answers as `answer` says. */
interface Shop {
  readonly baseUrl: string
  readonly askedMs: readonly number[]
}

async function withShop<T>(
  answer: (response: ServerResponse, nth: number, request: IncomingMessage) => void,
  use: (shop: Shop) => Promise<T>,
): Promise<T> {
  const askedMs: number[] = []
  const server = createServer((request, response) => {
    askedMs.push(performance.now())
    request.resume()
    request.on('end', () => answer(response, askedMs.length, request))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  try {
    return await use({ baseUrl: `http://127.0.0.1:${port}`, askedMs })
  } finally {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
}

const json = (response: ServerResponse, status: number, body: object, headers = {}) =>
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body))

const plain = (response: ServerResponse) =>
  json(response, 200, {
    ...{ id: 'c', object: 'chat.completion', created: 0, model: 'big' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'length' }],
    usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 },
  })

const contract = (more = '') => `extends: none
name: shop
currency: USD
models:
  - id: big
    price: { input: 1, output: 4 }
    tokenizer: cl100k
    template_tokens: 7
    max_reasoning_tokens: 400
${more}`

const scenario = (requests: number, step: string, more = '') => `name: words
question: Is a hidden prompt counted?
model: big
capture: all
retries: specification
${more}
steps:
  word: { endpoint: chat, max_tokens: 1, prompt: { synthetic: 1 }${step} }
phases:
  - { name: word, load: concurrency, users: 1, think: 1ms, max_requests: ${requests}, steps: [word] }
`

const key = 'sk-of-the-shop-0123456789'

interface Case {
  readonly contract?: string
  readonly scenario?: string
  readonly key?: string | undefined
}

const withRun = <T>(
  { baseUrl }: Pick<Shop, 'baseUrl'>,
  given: Case,
  use: (ran: Ended, audit: () => Promise<Ended>) => Promise<T>,
) =>
  withFolder(async (cwd) => {
    writeFileSync(join(cwd, 'shop.yaml'), given.contract ?? contract())
    writeFileSync(join(cwd, 'words.yaml'), given.scenario ?? scenario(10, ''))
    const env = { ASSAY_API_KEY: 'key' in given ? given.key : key }
    const run = ['run', 'words.yaml', '--base-url', baseUrl, '--contract', 'shop.yaml']
    const ran = await assay(run, { cwd, env }).ended
    return use(ran, () => {
      const audit = ['audit', '--contract', 'shop.yaml', '--rule', 'SOLD', '--format', 'json']
      return assay(audit, { cwd, env }).ended
    })
  })

const whole = { tags: 'whole', timeout: 120_000 }

test(
  'a stream without usage is not observed: nothing is judged of counts that nobody stated',
  whole,
  () =>
    withShop(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const chunk = (choice: object) =>
          `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'big', choices: [{ index: 0, ...choice }] })}\n\n`
        response.write(chunk({ delta: { role: 'assistant', content: 'a' } }))
        response.end(`${chunk({ delta: {}, finish_reason: 'length' })}data: [DONE]\n\n`)
      },
      (shop) =>
        withRun(shop, { scenario: scenario(10, ', stream: true') }, async (_, audit) => {
          const { findings } = JSON.parse((await audit()).stdout) as {
            readonly findings: readonly { rule: string; verdict: { verdict: string } }[]
          }
          const verdicts = new Map(findings.map(({ rule, verdict }) => [rule, verdict.verdict]))
          expect(shop.askedMs.length).toBeGreaterThanOrEqual(10)
          for (const rule of ['SOLD-01', 'SOLD-02', 'SOLD-09', 'SOLD-10'])
            expect([rule, verdicts.get(rule)]).toEqual([rule, 'not-observed'])
        }),
    ),
)

const wrongKey = (response: ServerResponse) =>
  json(response, 401, { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } })

test(
  'a reference with a wrong key ends after one refused request, before the load, and says that it is the key',
  whole,
  () =>
    withShop(wrongKey, (shop) =>
      withRun(shop, { key: 'sk-wrong-0123456789' }, async ({ code, stdout, stderr }) => {
        expect(shop.askedMs.length).toBe(1)
        expect(code).not.toBe(0)
        expect(stdout + stderr).toMatch(/401/)
        expect(stdout + stderr).toMatch(/key/i)
        expect(stdout + stderr).not.toContain('sk-wrong-0123456789')
      }),
    ),
)

test('a reference without any key is an error before anything is sent', whole, () =>
  withShop(plain, (shop) =>
    withRun(shop, { key: undefined }, async ({ code, stderr }) => {
      expect(shop.askedMs).toEqual([])
      expect(code).toBe(2)
      expect(stderr).toContain('ASSAY_API_KEY')
    }),
  ),
)

test.each([
  [
    'in the reference',
    '    reference: { base_url: https://official.example, key: sk-inline-0123456789 }\n',
  ],
  [
    'in its URL',
    '    reference: { base_url: "https://me:sk-inline-0123456789@official.example" }\n',
  ],
])('a key %s of a contract is refused before anything is sent, and is not said', whole, (_, more) =>
  withShop(plain, (shop) =>
    withRun(shop, { contract: contract(more) }, async ({ code, stdout, stderr }) => {
      expect(shop.askedMs).toEqual([])
      expect(code).toBe(2)
      expect(stderr).toContain('reference')
      expect(stdout + stderr).not.toContain('sk-inline')
    }),
  ),
)

test(
  'a rate limit is kept: nothing is sent before the time that it names, and all requests are answered',
  whole,
  () => {
    const refusedAt: number[] = []
    return withShop(
      (response, nth) => {
        if (nth !== 4) return plain(response)
        refusedAt.push(performance.now())
        return json(response, 429, { error: { message: 'Slow down' } }, { 'retry-after': '3' })
      },
      (shop) =>
        withRun(shop, {}, async ({ code }) => {
          expect([0, 4]).toContain(code)
          const next = shop.askedMs.find((ms) => ms > refusedAt[0]!)
          expect(next! - refusedAt[0]!).toBeGreaterThanOrEqual(2_990)
          // One first request, ten of the load, and the repeat.
          expect(shop.askedMs.length).toBe(12)
        }),
    )
  },
)

test(
  'an answer that does not come ends at the time limit, and the requests after it are sent',
  whole,
  () =>
    withShop(
      (response, nth) => (nth === 4 ? undefined : plain(response)),
      (shop) =>
        withRun(
          shop,
          { scenario: scenario(10, '', 'timeouts: { first_byte: 1s, total: 2s }') },
          async (_, audit) => {
            expect(shop.askedMs.length).toBe(11)
            const waited = shop.askedMs[4]! - shop.askedMs[3]!
            expect(waited).toBeGreaterThanOrEqual(990)
            expect(waited).toBeLessThan(20_000)
            expect((await audit()).stdout).toContain('"SOLD-02"')
          },
        ),
    ),
)

test(
  'a shop that counts a thousand times as much gets no more requests than max_cost pays for',
  whole,
  () =>
    withShop(
      (response) =>
        json(response, 200, {
          ...{ id: 'c', object: 'chat.completion', created: 0, model: 'big' },
          choices: [
            { index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'length' },
          ],
          usage: { prompt_tokens: 8_000, completion_tokens: 1, total_tokens: 8_001 },
        }),
      (shop) =>
        withRun(shop, { scenario: scenario(100, '', 'max_cost: "0.02"') }, async (ran) => {
          // 0.008 USD each: two are 0.016 USD, and a third would be above.
          expect(ran.code).not.toBe(0)
          expect(shop.askedMs.length).toBeLessThanOrEqual(3)
          expect(shop.askedMs.length).toBeGreaterThan(0)
          expect(ran.stdout + ran.stderr).toMatch(/max.cost/i)
        }),
    ),
)

test('the shipped scenarios state a limit of their cost', () => {
  for (const name of ['integrity', 'context', 'cache', 'tools', 'tier'])
    expect(readFileSync(`scenarios/audit-${name}.yaml`, 'utf8')).toMatch(/^max_cost: "1"$/m)
})
