import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import type { Clock } from '../../src/service/clock.ts'
import { parseFaults } from '../../src/service/faults/fault.ts'
import { faults } from '../../src/service/faults/list.ts'
import { manualClock } from './manual-clock.ts'
import { hello, serving } from './serving.ts'

/** These need concurrent requests or real time: `timing.test.ts` shows them. */
const timed = ['check-then-act', 'rate-non-atomic', 'lost-update', 'stream-buffered']
/** These need longer prompts than the contract below allows: the matrix shows them. */
const long = ['long-prompts-double', 'context-lost']
/** These need a client that leaves: the matrix shows them. */
const left = ['aborts-stay-held']
/** These need a repeated prompt, a tool with given arguments, a tier that is sold, or many words: `test/matrix/sold.test.ts` shows them. */
const asked = [
  ...['cached-not-told', 'tool-rewritten', 'tool-broken', 'tier-ignored'],
  ...['model-swap-after', 'other-model-under-load', 'quantized'],
]

/** Time jumps to the next event, so slow answers take no time and all are alike. */
function skippingClock() {
  const clock = manualClock(Date.parse('2026-05-05T10:00:00Z') * 1000)
  const skipping: Clock = {
    nowUs: clock.nowUs,
    at(dueUs, callback) {
      const cancel = clock.at(dueUs, callback)
      // Far events, such as an expiry, are not waited for.
      if (dueUs - clock.nowUs() < 3e6) {
        setImmediate(() => clock.advance(Math.max(0, dueUs - clock.nowUs())))
      }
      return cancel
    },
    pace(dueUs, step) {
      let cancel = () => {}
      const go = (nextUs: number | null) => {
        if (nextUs !== null) cancel = skipping.at(nextUs, () => go(step(clock.nowUs())))
      }
      go(dueUs)
      return () => cancel()
    },
    catchUp: clock.catchUp,
  }
  return { ...skipping, advance: clock.advance }
}

/** Limits that a test can reach: windows of tokens, requests per hour and day. */
const contract = {
  ...defaultContract,
  limits: { ...defaultContract.limits, maxInputTokens: 300, maxTotalTokens: 8_300 },
  bands: defaultContract.bands.map((band) => ({
    ...band,
    requests: { minute: band.requests.minute, hour: band.requests.hour / 20, day: 45 },
  })),
}

const word = 'word '
const echo = (text: string) => [{ role: 'user', content: `Repeat after me: ${text}` }]

/** The random half of an id changes when a fault draws; that alone must not count as visible. */
const steady = (text: string) => text.replace(/\b([0-9a-f]{10})[0-9a-f]{8}\b/g, '$1')

class Different extends Error {}

/**
 * Everything that a service shows to one client, from every angle that some fault affects.
 *
 * @param expected ends with `Different` at the first line that differs
 */
async function transcript(
  fault: string | null,
  slow: boolean,
  expected: readonly string[] | null = null,
): Promise<readonly string[]> {
  const clock = skippingClock()
  const target = await serving({
    clock,
    contract,
    faults: fault === null ? [] : [fault],
    shape: {
      timeToFirstUs: { kind: 'constant', value: slow ? 1e6 : 0 },
      betweenTokensUs: { kind: 'constant', value: slow ? 2e6 : 0 },
      lengthTokens: { kind: 'constant', value: 12 },
    },
    accounts: [
      { name: 'rich', balance: 20_000 },
      { name: 'poor', balance: 100 },
      { name: 'other', balance: 6_000 },
    ],
  })
  const { operator, keys, customers } = target.service
  const [rich, poor, other] = keys as [(typeof keys)[0], (typeof keys)[0], (typeof keys)[0]]
  const seen: string[] = []
  const note = (...what: readonly unknown[]) => {
    const line = steady(JSON.stringify(what))
    if (expected !== null && line !== expected[seen.length]) throw new Different()
    seen.push(line)
  }
  const see = async (promise: Promise<Response>) => {
    const response = await promise
    const { connection, 'keep-alive': _, ...headers } = Object.fromEntries(response.headers)
    const body = await response.arrayBuffer().then(
      (bytes) => Buffer.from(bytes).toString('latin1'),
      () => 'cut',
    )
    note(response.status, headers, body)
  }
  const chat = (body: object, key = rich.apiKey, headers = {}) =>
    see(target.chat(body, key, headers))
  const messages = (body: object, key = rich.apiKey) => see(target.messages(body, key))
  if (slow) {
    await chat({ stream: true, messages: echo(word.repeat(60)) })
    return seen
  }
  // Access
  for (const path of ['/v1/models', '/v1/nope', '/v1/user/credits'])
    await see(target.get(path, rich.apiKey))
  const revoked = operator.issueKey(rich.account, 'revoked')
  await chat({}, revoked)
  operator.revokeKey(rich.account, revoked)
  for (const key of [revoked, `${rich.apiKey.slice(0, -1)}_`, rich.apiKey.toUpperCase(), '']) {
    await chat({}, key)
    await messages({}, key)
  }
  await see(target.post('/v1/chat/completions', { ...hello, stream: true }, {}))
  // Chat
  for (const body of [
    ...[{ n: 2 }, { max_tokens: 1 }, { stop: ['b'], messages: echo('a b c') }],
    ...[{ model: 'svc-k2-0905' }, { model: 'svc-k2.5' }, { model: 'SVC-K2.5' }, { model: 'no' }],
    ...[{ model: 'svc-k2-thinking' }, { model: null }, { messages: null }, { temperature: 2 }],
    ...[{ temperature: '0.5' }, { stop: ['1', '2', '3', '4', '5'] }, { max_tokens: 9_000 }],
    { messages: [{ role: 'tool', content: 'x' }] },
    { messages: echo(word.repeat(500)) },
    { messages: echo(word.repeat(280)), max_tokens: 8_192 },
    { stream: true, n: 2, messages: echo('one café two') },
    ...[{ stream: true }, { stream: true, max_tokens: 1 }],
    ...[
      { stop: ['b'], messages: echo('a b') },
      { stop: ['b'], messages: echo('b') },
    ],
  ]) {
    await chat(body)
  }
  for (let retry = 0; retry < 3; retry++) await chat({}, rich.apiKey, { 'idempotency-key': 'k' })
  // Messages
  for (const body of [
    ...[{}, { stream: true }, { max_tokens: null }, { temperature: 1.5 }, { system: 'Be brief.' }],
    { stop_sequences: ['b', 'x'], messages: echo('a b c') },
    { stop_sequences: ['1', '2', '3', '4', '5'] },
    { messages: [{ role: 'system', content: 'x' }] },
  ]) {
    await messages(body, other.apiKey)
  }
  // Balances and bands
  for (const balance of [0, 1, 100, 101, 3_000]) {
    operator.setBalance(poor.account, balance)
    await chat({ model: 'svc-k2.5' }, poor.apiKey)
    await chat({}, poor.apiKey)
    await see(target.get('/user/credits', poor.apiKey))
  }
  // Limits: a minute, the next, an hour, a day
  const twin = operator.issueKey(poor.account, 'twin')
  operator.setBalance(poor.account, 99)
  for (const aheadUs of [0, 61e6, 61e6, 7_200e6, 90_000e6]) {
    clock.advance(aheadUs)
    for (let request = 0; request < 22; request++) {
      await (request % 4 ? chat({}, poor.apiKey) : messages({}, poor.apiKey))
    }
    await chat({}, twin)
    await chat({}, other.apiKey)
    if (aheadUs === 0) {
      clock.advance(50e6)
      await chat({}, poor.apiKey)
    }
  }
  // Customers
  const invitee = customers.register('invitee', 'code-1')
  const inviter = customers.register('inviter', 'code-2')
  customers.redeemInvite(invitee, 'code-2')
  try {
    customers.redeemInvite(inviter, 'code-2')
  } catch (error) {
    note(String(error))
  }
  for (const name of ['Starter', 'Standard']) customers.buy(invitee, name)
  note(operator.balance(inviter))
  clock.advance(40 * 86_400e6)
  note(operator.balance(invitee), operator.balance(inviter))
  // Usage
  for (const query of ['', 'from=2026-05-05', '']) {
    await see(target.get(`/user/credits?${query}`, rich.apiKey))
    const page = await (await target.get('/my-credits', rich.apiKey)).text()
    note(/id="remaining">([^<]*)/.exec(page)?.[1])
    await chat({})
  }
  return seen
}

test('the same seed and the same requests give the same service, byte for byte', {
  tags: 'whole',
}, async () => {
  expect(await transcript(null, false)).toEqual(await transcript(null, false))
})

test('every fault is visible to a client', { tags: 'whole', timeout: 60_000 }, async () => {
  const clean = await transcript(null, false)
  const cleanSlow = await transcript(null, true)
  const invisible: string[] = []
  for (const { name, probability } of faults) {
    if ([...timed, ...long, ...left, ...asked].includes(name)) continue
    const slow = name === 'stream-cut-60s'
    const share = probability === 1 ? name : `${name}=1`
    try {
      await transcript(share, slow, slow ? cleanSlow : clean)
      invisible.push(name)
    } catch (error) {
      if (!(error instanceof Different)) throw error
    }
  }
  expect(invisible).toEqual([])
})

test('fault names are unique, and each names its rule', () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length)
  for (const { rule } of faults) expect(rule).toMatch(/^[A-Z]+-\d\d$/)
})

test('an unknown fault and a wrong share are refused with the nearest valid value', () => {
  expect(() => parseFaults(['double-ch'], faults)).toThrow('Did you mean double-charge?')
  expect(() => parseFaults(['double-charge=2'], faults)).toThrow('at most 1; got "2"')
  expect(() => parseFaults(['double-charge=0.5=1'], faults)).toThrow('got "0.5=1"')
  expect(parseFaults(['double-charge'], faults)).toMatchObject([{ befalls: { probability: 0.02 } }])
})

test.each([
  ['html-503', 503],
  ['charge-on-503', 503],
  ['refund-forgotten', 500],
  ['failed-attempt-charged', 500],
])('%s fails only the selected request, or all of them', async (name, status) => {
  const statuses = async (share: string) => {
    const target = await serving({ faults: [`${name}=${share}`] })
    const all = []
    for (let nth = 0; nth < 4; nth++) all.push((await target.chat()).status)
    return all
  }
  expect(await statuses('#2')).toEqual([200, status, 200, 200])
  expect(await statuses('1')).toEqual([status, status, status, status])
})
