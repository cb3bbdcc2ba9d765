import { randomUUID } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import { type Place, places } from '../../../src/service/money/charge.ts'
import { moneyFaults } from '../../../src/service/money/faults/list.ts'
import { contractWith, type Gateway, gateway, long, type Seen, user } from './gateway.ts'

const messages = '/v1/messages'
const vip = { headers: { 'x-group': 'vip' } }
const marked = [
  {
    type: 'text',
    text: long(2000, 'marked')[0]!.content as string,
    cache_control: { type: 'ephemeral', ttl: '1h' },
  },
]
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }

/** The least traffic that shows each fault. The last answer is looked at. */
const traffic: Readonly<Record<string, (target: Gateway) => Promise<Seen>>> = {
  'stream-free': (t) => t.ask({ stream: true, messages: user('Hello') }),
  'log-total-zero': (t) => t.ask({ stream: true, messages: user('Hello') }),
  'alias-stream-free': (t) => t.ask({ model: 'big-latest', stream: true, messages: user('Hello') }),
  'header-zero': (t) => t.ask({ messages: user('Hello') }, { path: messages }),
  'chunk-sum-output': (t) => t.ask({ stream: true, messages: user('Hello') }, { path: messages }),
  'chunk-sum-input': (t) => t.ask({ stream: true, messages: long(2000, 'a') }, { path: messages }),
  'delta-row': (t) => t.ask({ stream: true, messages: user('Hello') }, { path: messages }),
  'stream-cached-full': (t) => twice(t, { stream: true, messages: long(2000, 'a') }),
  'cached-double': (t) => twice(t, { messages: long(2000, 'a') }),
  'write-double': (t) => t.ask({ messages: long(2000, 'a') }),
  'cached-full': (t) => twice(t, { messages: long(2000, 'a') }),
  'cached-negative': (t) => twice(t, { messages: user(marked) }, { path: messages }),
  'cache-price-ignored': (t) => twice(t, { messages: long(2000, 'a') }),
  'ttl-short': (t) => t.ask({ messages: user(marked) }, { path: messages }),
  'write-unseen': (t) => t.ask({ messages: long(2000, 'a') }),
  'tier-marginal': (t) => t.ask({ messages: long(4000, 'a') }),
  'tier-misses-read': (t) => twice(t, { messages: long(4000, 'a') }),
  'flex-full': (t) => t.ask({ service_tier: 'flex', messages: user('Hello') }),
  'batch-flat': (t) => t.ask({ service_tier: 'batch', messages: long(4000, 'a') }),
  'price-stale': (t) => t.ask({ messages: user('Hello') }),
  'no-hours': (t) => t.ask({ messages: user('Hello') }),
  'snapshot-price': (t) => t.ask({ messages: user('Hello') }),
  'unknown-free': (t) => t.ask({ model: 'big-latest', messages: user('Hello') }),
  'component-free': (t) => t.ask({ modalities: ['text', 'audio'], messages: user('Hello') }),
  'fallback-free': (t) => t.ask({ messages: user('Please fall back') }),
  'failed-attempt-charged': (t) => t.ask({ messages: user('Please fail 2 times inside') }),
  'reasoning-double': (t) => t.ask({ messages: user('Hello') }),
  'reasoning-free': (t) => t.ask({ messages: user('Hello') }),
  'reasoning-at-output': (t) => t.ask({ messages: user('Hello') }),
  'image-as-text': (t) => t.ask({ modalities: ['text', 'image'], messages: user('Hello') }),
  'image-input-free': (t) =>
    t.ask({ messages: user([{ type: 'text', text: 'What is it?' }, image]) }),
  'search-free': (t) => t.ask({ web_search_options: {}, messages: user('Hello') }),
  'empty-charged': (t) => aborted(t, 'at the start'),
  'abort-estimated': (t) => t.ask({ stream: true, messages: user('Please break off') }),
  'abort-free': (t) => aborted(t, 'half'),
  'abort-full': (t) => aborted(t, 'half'),
  'late-close-free': closedAtOnce,
  'zero-estimated': (t) => aborted(t, 'at the start'),
  'filtered-charged': (t) => t.ask({ messages: user('Please hold it back') }),
  'reservation-kept': (t) => t.ask({ messages: user('Hello') }),
  'refund-twice': (t) => t.ask({ stream: true, messages: user('Please break off') }),
  'abort-refund-all': (t) => aborted(t, 'half'),
  'ratio-shown-only': (t) => t.ask({ messages: user('Hello') }, vip),
  'balance-without-ratio': (t) => t.ask({ messages: user('Hello') }, vip),
  'zero-ratio-is-one': (t) =>
    t.ask({ messages: user('Hello') }, { headers: { 'x-group': 'free' } }),
  'truncate-cents': (t) => t.ask({ messages: user('Hello') }),
  'round-component-up': (t) => t.ask({ messages: user('Hello') }),
  'log-twice': (t) => t.ask({ messages: user('Hello') }),
  'row-missing': (t) => t.ask({ messages: user('Hello') }),
  'resend-charged': (t) => resent(t),
  'per-call-is-per-second': (t) => t.ask({ messages: user('Hello') }),
  'visible-free': (t) => t.ask({ messages: user('Hello') }),
  'unit-mistaken': (t) => t.ask({ messages: user('Hello') }),
  'settled-twice': (t) => t.ask({ stream: true, messages: user('Hello') }),
  'search-always': (t) => t.ask({ messages: user('Hello') }),
  'output-is-total': (t) => t.ask({ messages: user('Hello') }),
  'stream-unmetered': (t) => t.ask({ stream: true, messages: user('Hello') }, { path: messages }),
  'tier-by-uncached': (t) => twice(t, { messages: long(4000, 'a') }),
  'tier-misses-write': (t) => t.ask({ messages: long(4000, 'a') }),
  'image-stream-free': (t) =>
    t.ask({ stream: true, messages: user([{ type: 'text', text: 'What is it?' }, image]) }),
  'input-guessed': (t) => t.ask({ stream: true, messages: user('Hello') }),
  'posting-lost': (t) => t.ask({ messages: user('Hello') }),
  'cent-at-least': (t) => t.ask({ messages: user('Hello') }),
  'discount-inverted': (t) => t.ask({ messages: user('Hello') }, vip),
}

async function twice(target: Gateway, body: object, more = {}): Promise<Seen> {
  await target.ask(body, more)
  return target.ask(body, more)
}

/** Sends a request that the client then leaves, and waits until the service, which is in this process, has got it. */
async function arrived(target: Gateway, body: object, signal: AbortSignal): Promise<void> {
  const mark = randomUUID()
  const started = 'http.server.request.start'
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = (message: unknown) => {
    if ((message as { request: IncomingMessage }).request.headers['x-mark'] === mark) resolve()
  }
  subscribe(started, look)
  target.send('/v1/chat/completions', body, { 'x-mark': mark }, signal).catch(() => {})
  await promise
  unsubscribe(started, look)
}

const someRow = (seen: () => Promise<readonly unknown[]>) =>
  vi.waitFor(async () => expect((await seen()).length).toBeGreaterThan(0), { timeout: 30_000 })

/** A stream that the client leaves. What the service then says, once it has seen that. */
async function aborted(target: Gateway, when: string): Promise<Seen> {
  const before = await target.spend()
  const leaving = new AbortController()
  const body = { stream: true, messages: user('Hello') }
  const rows = await target.rows()
  if (when === 'at the start') {
    await arrived(target, body, leaving.signal)
    await new Promise((resolve) => setTimeout(resolve, 100))
  } else {
    const answer = await target.send('/v1/chat/completions', body, {}, leaving.signal)
    let events = 0
    for await (const part of answer.body!) {
      events += Buffer.from(part).toString().split('data: ').length - 1
      if (events > 8) break
    }
  }
  leaving.abort()
  const seen = async () => (await target.rows()).slice(rows.length)
  await someRow(seen)
  const spent = (await target.spend()) - before
  const logged = (await seen()).map(({ spend }) => Number(spend))
  return { status: 0, body: {}, usage: null, stated: null, logged, spent }
}

/** A stream whose client closes the connection as soon as it is complete. */
async function closedAtOnce(target: Gateway): Promise<Seen> {
  const before = await target.spend()
  const headers = { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' }
  const request = httpRequest(`${target.baseUrl}/v1/chat/completions`, {
    ...{ method: 'POST', headers, agent: false },
  })
  request.end(JSON.stringify({ model: 'big', stream: true, messages: user('Hello') }))
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  await response.resume().toArray()
  request.destroy()
  await new Promise((resolve) => setTimeout(resolve, 50))
  const logged = (await target.rows()).map(({ spend }) => Number(spend))
  const spent = (await target.spend()) - before
  return { status: 200, body: {}, usage: null, stated: null, logged, spent }
}

async function resent(target: Gateway): Promise<Seen> {
  const leaving = new AbortController()
  const body = { messages: user('Hello') }
  await arrived(target, body, leaving.signal)
  await new Promise((resolve) => setTimeout(resolve, 50))
  leaving.abort()
  await someRow(() => target.rows())
  return target.ask(body)
}

/** Slow enough to be left. */
const slow = {
  timeToFirstUs: { kind: 'constant', value: 300_000 },
  betweenTokensUs: { kind: 'constant', value: 50_000 },
} as const
/** Slower than any pause of this machine: its client has left before the first token. */
const slowest = { ...slow, timeToFirstUs: { kind: 'constant', value: 20_000_000 } } as const
const leavesAtStart = new Set(['empty-charged', 'zero-estimated'])
const isSlow = new Set([
  ...['empty-charged', 'abort-free', 'abort-full', 'zero-estimated'],
  ...['abort-refund-all', 'resend-charged', 'per-call-is-per-second'],
])
const optionsOf = (name: string) => ({
  ...(isSlow.has(name) ? { shape: leavesAtStart.has(name) ? slowest : slow } : {}),
  ...(name === 'per-call-is-per-second'
    ? { shape: { timeToFirstUs: { kind: 'constant', value: 1_200_000 } as const } }
    : {}),
  // Where the input of an aborted request is charged anyway, this is no fault.
  ...(name === 'tier-misses-write'
    ? {
        contract: contractWith(
          {},
          { tiers: { steps: [{ above: 3000, price: { cache_write: 10 } }] } },
        ),
      }
    : {}),
  ...(name === 'empty-charged'
    ? { contract: contractWith({}, { charged: { success: 'full', abort: 'none' } }) }
    : {}),
})
const enforced = new Set(moneyFaults.flatMap((each) => (each.enforcement ? [each.name] : [])))

test('there is one fault for each of the 54 public reports, and traffic that shows it', () => {
  const ids = new Set(moneyFaults.flatMap((fault) => fault.ids))
  const all = Array.from({ length: 54 }, (_, nth) => `F${String(nth + 1).padStart(2, '0')}`)
  expect([...ids].filter((id) => /^F\d/.test(id)).sort()).toEqual(all)
  const shown = moneyFaults.map(({ name }) => name).filter((name) => !enforced.has(name))
  expect(Object.keys(traffic).sort()).toEqual(shown.sort())
})

/** Where a faulty service differs from an honest one. Aborts differ by a token or two by themselves. */
function differences(honest: Seen, faulty: Seen, tolerance: number): readonly Place[] {
  const sum = (rows: readonly number[]) => rows.reduce((all, cost) => all + cost, 0)
  const differs = (a: number, b: number) => Math.abs(a - b) > tolerance
  return places.filter((place) => {
    if (place === 'stated') return differs(honest.stated ?? 0, faulty.stated ?? 0)
    if (place === 'balance') return differs(honest.spent, faulty.spent)
    return (
      differs(sum(honest.logged), sum(faulty.logged)) ||
      honest.logged.length !== faulty.logged.length
    )
  })
}

const cases = moneyFaults
  .filter(({ name }) => !enforced.has(name))
  .flatMap(({ name, where }) => [
    [name, where] as const,
    ...where.map((place) => [name, [place]] as const),
  ])

describe('a fault shows in the places that it is told, and nowhere else', () => {
  // They wait most of the time: several run at once, each with its own services.
  test.concurrent.for(cases)(
    '%s @ %j',
    { tags: 'whole' },
    async ([name, where], { onTestFinished }) => {
      const run = async (faults: readonly string[]) =>
        traffic[name]!(await gateway({ faults, ...optionsOf(name) }, onTestFinished))
      const [honest, faulty] = await Promise.all([run([]), run([`${name}@${where.join('+')}=1`])])
      const told = where.filter((place) => place !== 'stated' || honest.stated !== null)
      const tolerance = isSlow.has(name) && name !== 'per-call-is-per-second' ? 4e-4 : 1e-11
      expect(differences(honest, faulty, tolerance)).toEqual(
        places.filter((place) => told.includes(place)),
      )
    },
  )
})

describe('limits', () => {
  const spendAll = async (target: Gateway, most: number) => {
    const poor = { authorization: `Bearer ${target.poorKey}` }
    const body = { messages: long(4000, 'a'), max_tokens: 8192 }
    const statuses: number[] = []
    let refusal = ''
    for (let nth = 0; nth < most; nth += 20) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => target.send('/v1/chat/completions', body, poor)),
      )
      for (const answer of answers) {
        const text = await answer.text()
        if (answer.status !== 200) refusal = text
        statuses.push(answer.status)
      }
    }
    return { refusal, statuses, spend: await target.spend(target.poorKey) }
  }
  // 100 units of a currency in which such a request costs a few.
  const dear = contractWith(
    {},
    {
      price: { input: 400, output: 2000, reasoning: 3000 },
      tiers: undefined,
      hours: [],
      changes: [],
    },
  )
  const bands = [
    {
      name: 'all',
      minBalance: 0,
      maxBalance: null,
      requests: { minute: 1e6, hour: 1e6, day: 1e6 },
    },
  ]
  const contract = { ...dear, bands }

  test('an honest service never spends more than there is', { tags: 'whole' }, async () => {
    const { spend, refusal } = await spendAll(await gateway({ contract }), 100)
    expect(spend).toBeLessThanOrEqual(100)
    expect(refusal).toMatch(/the request may cost [\d.]+ USD; the balance is [\d.]+ USD/)
  })

  test.each(['overdraft', 'budget-ignored'])(
    '%s spends more than there is',
    { tags: 'whole' },
    async (fault) => {
      const target = await gateway({ contract, faults: [fault] })
      expect((await spendAll(target, 100)).spend).toBeGreaterThan(100)
    },
  )

  test('counter-doubled refuses at half, and names its counter', { tags: 'whole' }, async () => {
    const target = await gateway({ contract, faults: ['counter-doubled'] })
    const { spend, refusal } = await spendAll(target, 100)
    expect(spend).toBeLessThan(90)
    expect(refusal).toMatch(/the spend is [\d.]+ of 100 USD/)
  })
})
