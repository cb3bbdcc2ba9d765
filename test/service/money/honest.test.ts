import { describe, expect, test } from 'vitest'
import { contractWith, type Gateway, gateway, type Json, long, user } from './gateway.ts'

const messages = { path: '/v1/messages' }
const hello = { messages: user('Hello') }

/** Traffic of every kind, one after the other. */
const requests: readonly [string, object, { path?: string; headers?: Record<string, string> }][] = [
  ['plain', hello, {}],
  ['stream', { ...hello, stream: true }, {}],
  ['message', hello, messages],
  ['message stream', { ...hello, stream: true }, messages],
  ['first long prompt', { messages: long(2000, 'a') }, {}],
  ['the same again', { messages: long(2000, 'a') }, {}],
  ['above the tier', { messages: long(4000, 'b') }, {}],
  ['flex', { ...hello, service_tier: 'flex' }, {}],
  ['group', hello, { headers: { 'x-group': 'vip' } }],
  ['free group', hello, { headers: { 'x-group': 'free' } }],
  ['image', { ...hello, modalities: ['text', 'image'] }, {}],
  ['search', { ...hello, web_search_options: {} }, {}],
  ['another model', { messages: user('Please fall back') }, {}],
  ['inner failures', { messages: user('Please fail 2 times inside') }, {}],
  ['empty', { messages: user('Please say nothing') }, {}],
  ['filtered', { messages: user('Please hold it back') }, {}],
]

describe.each([
  'openai-chat',
  'deepseek',
  'gemini',
  'xai-chat',
  'openrouter',
  'litellm',
  'moonshot',
  'new-api',
])('an honest service with usage as %s', (usage) => {
  test('states, logs and takes the same cost for every request', async () => {
    const target = await gateway({ contract: contractWith({}, { usage }) })
    for (const [name, body, more] of requests) {
      const { status, stated, logged, spent } = await target.ask(body, more)
      expect([name, status, logged]).toEqual([name, 200, [spent]])
      if (stated !== null) expect([name, stated]).toEqual([name, spent])
      const isFree = ['free group', 'empty', 'filtered'].includes(name)
      expect([name, spent > 0]).toEqual([name, !isFree])
    }
  })
})

test('a service that sells images alone refuses audio', async () => {
  const price = { input: 4, output: 20, output_image: 100 }
  const target = await gateway({
    contract: contractWith({}, { price, tiers: undefined, changes: undefined }),
  })
  const statusOf = async (modalities: readonly string[]) =>
    (await target.ask({ ...hello, modalities })).status
  expect(await statusOf(['text', 'image'])).toBe(200)
  expect(await statusOf(['text', 'audio'])).toBe(400)
  expect(await statusOf(['image', 'video'])).toBe(400)
})

test('a path of the log whose id is no text of a URL has no rows', async () => {
  const log = { get: '/generation/{response.id}/cost', id: 'request_id', cost: 'spend' }
  const target = await gateway({ contract: contractWith({ evidence: { log } }) })
  const asked = await target.send('/v1/chat/completions', hello)
  const { id } = (await asked.json()) as Json
  expect(await target.get(`/generation/${encodeURIComponent(id)}/cost`)).toHaveLength(1)
  expect(await target.get('/generation/%zz/cost')).toEqual([])
})

test.each([false, true])(
  'an answer that the filter stops ends with a refusal (messages, stream %j)',
  async (stream) => {
    const target = await gateway()
    const { body } = await target.ask(
      { messages: user('Please hold it back'), stream },
      { path: '/v1/messages' },
    )
    expect(stream ? body.delta.stop_reason : body.stop_reason).toBe('refusal')
  },
)

test('a row of the log is found by the id of its response, and says what was charged for', async () => {
  const target = await gateway()
  await target.ask(hello)
  const { body, logged } = await target.ask(hello, { headers: { 'x-group': 'vip' } })
  const [row, ...more] = await target.rows(body.id as string)
  expect(more).toEqual([])
  expect(row).toMatchObject({ request_id: body.id, spend: logged[0], ratio: 0.8, group: 'vip' })
  const parts = Object.values(row!.parts as Record<string, number>)
  expect(parts.reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(logged[0]!, 12)
})

test('money is read with a key only', async () => {
  const target = await gateway()
  expect((await fetch(`${target.baseUrl}/key/info`)).status).toBe(401)
})

describe('conduct that is right and looks wrong', () => {
  test('N1 float-cost: the stated cost is the exact one as a double', async () => {
    const target = await gateway({ conducts: ['float-cost'] })
    const costs: number[] = []
    for (let nth = 1; nth <= 8; nth++) {
      const { stated, logged } = await target.ask({ messages: user(`Say: ${'word '.repeat(nth)}`) })
      expect(Math.abs(stated! - logged[0]!)).toBeLessThanOrEqual(1e-12 * logged[0]!)
      costs.push(stated!)
    }
    expect(costs.some((cost) => String(cost).length > 15)).toBe(true)
  })

  test('N2 gateway-cache: a repeated body is free, with the tokens of the first', async () => {
    const target = await gateway({ conducts: ['gateway-cache'] })
    const body = { messages: long(2000, 'a') }
    const first = await target.ask(body)
    const again = await target.ask(body)
    expect([first.spent > 0, again.spent, again.stated]).toEqual([true, 0, 0])
    expect({ ...again.usage, cost: 0 }).toEqual({ ...first.usage, cost: 0 })
  })

  test('N3 late-spend: the spend rises later, in a batch, to the sum of the log', {
    tags: 'whole',
  }, async () => {
    const target = await gateway({ conducts: ['late-spend'], timeScale: 5 })
    await target.ask(hello)
    await target.ask(hello)
    const logged = (await target.rows()).reduce((sum, { spend }) => sum + spend, 0)
    expect(await target.spend()).toBeLessThan(logged)
    await expect.poll(() => target.spend()).toBeCloseTo(logged, 12)
  })

  test.each([
    ['deposit', 'key', true],
    ['rich-no-deposit', 'key', false],
    ['rich-no-deposit', 'poorKey', true],
  ] as const)(
    'N4, N5 %s: the balance of the %s falls in between: %s',
    { tags: 'whole' },
    async (conduct, which, falls) => {
      const slow = { timeToFirstUs: { kind: 'constant', value: 400_000 } } as const
      const contract = contractWith({}, { price: { input: 400, output: 20_000 } })
      const target = await gateway({ contract, conducts: [conduct], shape: slow })
      const key = target[which]
      const authorization = `Bearer ${key}`
      const answer = target.send('/v1/chat/completions', hello, { authorization })
      const held = async () => (await target.spend(key)) > 0
      if (falls) await expect.poll(held).toBe(true)
      else expect(await held()).toBe(false)
      const { usage } = (await (await answer).json()) as Json
      expect(await target.spend(key)).toBe(usage.cost)
    },
  )

  test('N6: a stream has no cost in its head', async () => {
    const target = await gateway()
    const stream = await target.send('/v1/chat/completions', { ...hello, stream: true })
    expect(stream.headers.get('x-cost')).toBeNull()
    expect((await target.send('/v1/chat/completions', hello)).headers.get('x-cost')).toMatch(/^0\./)
  })

  test('N7: a request with a key of its own costs a share', async () => {
    const contract = contractWith({}, { times: { own_key: { default: 1, yes: 0.05 } }, hours: [] })
    const target = await gateway({ contract })
    const full = await target.ask(hello)
    const own = await target.ask(hello, { headers: { 'x-own-key': 'yes' } })
    expect(own.spent).toBeCloseTo(full.spent * 0.05, 12)
  })

  test('N9: a request that another model served has its price and its name', async () => {
    const { body, spent } = await (await gateway()).ask({ messages: user('Please fall back') })
    const usage = body.usage as Json
    expect(body.model).toBe('big-2025')
    expect(spent).toBeCloseTo((9 * usage.prompt_tokens + 90 * usage.completion_tokens) / 1e6, 12)
  })

  test('N10 cache-loses: equal prompts have other cached counts', async () => {
    const target = await gateway({ conducts: ['cache-loses'] })
    const counts = new Set<number>()
    for (let nth = 0; nth < 12; nth++) {
      const { usage, spent, logged } = await target.ask({ messages: long(2000, 'a') })
      counts.add(usage!.prompt_tokens_details.cached_tokens)
      expect(logged).toEqual([spent])
    }
    expect(counts.size).toBe(2)
  })

  test('N11: a price that is rounded up costs up to a unit more', async () => {
    const round = { at: 'request', digits: 0, mode: 'up' }
    const contract = contractWith({ currency: 'quota' }, { round, hours: [], times: 1 })
    const { spent, stated } = await (await gateway({ contract })).ask(hello)
    expect([spent, stated]).toEqual([1, 1])
  })

  test('N12 usage-twice: the last chunk has its usage in two places', async () => {
    const target = await gateway({ conducts: ['usage-twice'] })
    const { body, logged, spent } = await target.ask({ ...hello, stream: true })
    expect(body.choices[0].usage).toEqual(body.usage)
    expect(logged).toEqual([spent])
  })
})

test.each([
  [{ conducts: ['float'] }, '--conduct: expected one of float-cost'],
  [{ faults: ['stream-fre@logged'] }, 'Did you mean stream-free'],
  [{ faults: ['stream-free@header'] }, 'expected stated, logged, balance'],
  [
    { faults: ['stream-free=2'] },
    '(the 300th request alone) or a probability above 0 and at most 1; got "2"',
  ],
  [{ dataPath: '/tmp/ledger.sqlite' }, '--data: a service that bills in money'],
])('an option that money does not have is refused: %j', async (options, words) => {
  await expect(gateway(options)).rejects.toThrow(words)
})

test.each([{ faults: ['stream-free@logged'] }, { conducts: ['deposit'] }])(
  'without prices, an option of money is refused: %j',
  async (options) => {
    const { contract: _, ...rest } = { contract: null, ...options }
    const { startService } = await import('../../../src/service/start.ts')
    await expect(startService(rest)).rejects.toThrow('expected --contract with prices')
  },
)

test('a fault with a rate strikes that share of the requests that it can strike', async () => {
  const target: Gateway = await gateway({ faults: ['stream-free@logged=0.3'] })
  for (let nth = 0; nth < 60; nth++) {
    const answer = await target.send('/v1/chat/completions', { ...hello, stream: nth % 2 === 0 })
    await answer.text()
  }
  const costs = (await target.rows()).map(({ spend }) => spend as number)
  const free = costs.filter((cost) => cost === 0).length
  expect(free).toBeGreaterThan(3)
  expect(free).toBeLessThan(18)
  expect(costs.length).toBe(60)
})
