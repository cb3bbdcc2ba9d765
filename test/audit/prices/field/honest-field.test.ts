import { describe, expect, test } from 'vitest'
import type { Conduct } from '../../../../src/service/money/conducts.ts'
import { contractWith, gateway, long, user } from '../../../service/money/gateway.ts'
import { played } from './played.ts'
import { RecordedClient } from './recorded-client.ts'
import { type Traffic, traffic } from './traffic.ts'

/** Some by day, all by night. */
const isNight = process.env.NIGHTLY !== undefined
const kinds = Object.entries(traffic).filter((_, at) => isNight || at % 10 === 6)

/** What failed, if it binds. */
const alarms = (failed: Awaited<ReturnType<typeof played>>['failed']) =>
  failed
    .filter(({ severity }) => severity !== 'advice')
    .map(({ rule, verdict }) => [rule, verdict.verdict === 'fail' ? verdict.observed : ''])

describe('an honest service raises no alarm with the traffic that shows each fault', () => {
  test.each(kinds)('%s', { tags: 'whole' }, async (_, each) => {
    expect(alarms((await played(each, {})).failed)).toEqual([])
  })
})

const hello = { messages: user('Hello') }
const again = { messages: long(2000, 'a') }
const all: Traffic = {
  is: 'plain, streamed and repeated requests',
  send: async (client) => {
    for (const body of [hello, { ...hello, stream: true }, again, again, again, hello])
      await client.ask(body)
  },
}
const ofContract = (model: object, send = all.send, choices = {}): Traffic => ({
  ...all,
  ...{ model, send, choices },
})
const asked =
  (body: object, headers: Record<string, string> = {}) =>
  (client: RecordedClient) =>
    client.ask(body, { headers })
const conduct = (name: Conduct) => ({ conducts: [name] })

/** Kinds of conduct that are right and look wrong. */
const conducts: readonly (readonly [string, Traffic, Parameters<typeof played>[1]])[] = [
  ['N1 float-cost', all, conduct('float-cost')],
  ['N2 gateway-cache', all, conduct('gateway-cache')],
  ['N4 deposit', all, conduct('deposit')],
  ['N5 rich-no-deposit', all, conduct('rich-no-deposit')],
  ['N6 no cost in the head of a stream', all, {}],
  [
    'N7 a key of its own',
    ofContract(
      { times: { own_key: { default: 1, yes: 0.05 } } },
      asked(hello, { 'x-own-key': 'yes' }),
      { own_key: 'yes' },
    ),
    {},
  ],
  [
    'N8 an empty answer is free',
    ofContract({}, asked({ messages: user('Please say nothing') })),
    {},
  ],
  ['N9 another model serves', ofContract({}, asked({ messages: user('Please fall back') })), {}],
  ['N10 cache-loses', all, conduct('cache-loses')],
  ['N11 rounded up', ofContract({ round: { at: 'request', digits: 4, mode: 'up' } }), {}],
  ['N12 usage-twice', all, conduct('usage-twice')],
  ['short-cost', all, conduct('short-cost')],
  ['exponent-cost', all, conduct('exponent-cost')],
  ['null-details', all, conduct('null-details')],
  ['early-usage', all, conduct('early-usage')],
  ['settled-rows', all, conduct('settled-rows')],
  [
    'attempt-rows',
    ofContract({}, asked({ messages: user('Please fail 2 times inside') })),
    conduct('attempt-rows'),
  ],
  [
    'spend-restarts',
    {
      ...all,
      send: async (client) => {
        await all.send(client)
        await client.read('/key/info')
        await all.send(client)
      },
    },
    conduct('spend-restarts'),
  ],
]

describe('conduct that is right and looks wrong raises no alarm', () => {
  test.each(conducts)('%s', async (_, each, options) => {
    expect(alarms((await played(each, options)).failed)).toEqual([])
  })

  test.each([
    ['late-spend', 'that is late within its promise'],
    ['late-worker', 'that goes back to a value within its promise'],
  ] as const)('N3 %s: a spend %s', { tags: 'whole' }, async (name, _) => {
    const evidence = {
      cost: [{ body: 'usage.cost' }],
      balance: { get: '/key/info', value: 'info.spend', moves: 'up', within: '6s' },
      log: { get: '/spend/logs', id: 'request_id', cost: 'spend' },
    }
    const contract = contractWith({ evidence })
    const target = await gateway({ contract, ...conduct(name), timeScale: 5 })
    const client = new RecordedClient(target.baseUrl, target.key)
    await client.read('/key/info')
    await all.send(client)
    // A batch of the late worker is written within a fifth of five seconds.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    for (let round = 0; round < 4; round++) {
      await client.read('/key/info')
      await all.send(client)
    }
    await client.read('/key/info')
    const findings = await client.audit(contract, await target.rows())
    expect(alarms(findings.filter(({ verdict }) => verdict.verdict === 'fail'))).toEqual([])
  })
})

describe("answers that may come from the gateway's own cache (N2)", () => {
  const stream = { ...hello, stream: true }
  const verdicts = async (
    charged: object,
    options: Parameters<typeof gateway>[0],
    bodies: readonly object[],
    evidence: object = {},
  ) => {
    const contract = (more: object) =>
      contractWith(evidence, { charged: { success: 'full', ...more } })
    const target = await gateway({ contract: contract({}), ...options })
    const client = new RecordedClient(target.baseUrl, target.key)
    await client.read('/key/info')
    for (const body of bodies) await client.ask(body)
    await client.read('/key/info')
    const hasLog = !('evidence' in evidence)
    const findings = await client.audit(contract(charged), hasLog ? await target.rows() : null)
    const of = (rule: string) => findings.find((each) => each.rule === rule)!.verdict
    return { stated: of('PRICE-03'), logged: of('PRICE-04'), balance: of('PRICE-06') }
  }
  const cache = conduct('gateway-cache')
  const why = expect.stringMatching(
    /^\d of \d requests cost 0, and each repeats .* gateway's own cache .*charged: \{ gateway_cache: none \}/,
  )

  test('are inconclusive, and the cache is named, where the contract is silent about them', {
    tags: 'whole',
  }, async () => {
    const { stated, logged, balance } = await verdicts({}, cache, [hello, hello, again, again])
    expect(stated).toMatchObject({ verdict: 'inconclusive', observations: 4, why })
    expect(logged).toMatchObject({ verdict: 'inconclusive', observations: 4, why })
    expect(balance).toMatchObject({ verdict: 'pass' })
  })

  test('are inconclusive where only the spend shows them', async () => {
    const evidence = { balance: { get: '/key/info', value: 'info.spend', moves: 'up' } }
    const { balance } = await verdicts({}, cache, [hello, hello, again, again], { evidence })
    expect(balance).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringMatching(/gateway's own cache .*charged: \{ gateway_cache: none \}/),
    })
  })

  test.each([
    ['pass if the contract says that they are free', 'none', 'pass'],
    ['fail if the contract says that they cost the full price', 'full', 'fail'],
  ] as const)('%s', async (_, gateway_cache, verdict) => {
    const found = await verdicts({ gateway_cache }, cache, [hello, hello])
    expect(Object.values(found).map((each) => each.verdict)).toEqual([verdict, verdict, verdict])
  })

  test('do not excuse an answer that is free the first time', { tags: 'whole' }, async () => {
    const options = { ...cache, faults: ['stream-free'] }
    const { stated, logged, balance } = await verdicts({}, options, [hello, hello, stream, stream])
    expect([stated.verdict, logged.verdict, balance.verdict]).toEqual(['fail', 'fail', 'fail'])
  })

  test('do not excuse a repeat that is free once, and charged later', {
    tags: 'whole',
  }, async () => {
    const bodies = Array.from({ length: 6 }, () => stream)
    const { stated, logged } = await verdicts({}, { faults: ['stream-free=#2'] }, bodies)
    expect([stated.verdict, logged.verdict]).toEqual(['fail', 'fail'])
  })

  test('do not excuse a log without the cost that the answer states', async () => {
    const options = { faults: ['stream-free@logged'] }
    const { stated, logged } = await verdicts({}, options, [stream, stream])
    expect([stated.verdict, logged.verdict]).toEqual(['pass', 'fail'])
  })
})
