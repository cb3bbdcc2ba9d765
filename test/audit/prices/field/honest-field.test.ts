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
    .map(({ rule, verdict }) => [rule, verdict.verdict === 'fail' ? verdict.came : ''])

describe('an honest service raises no alarm with the traffic that shows each fault', () => {
  test.each(kinds)('%s', async (_, each) => {
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
  // N2: an answer from the gateway's cache is known by its id or its headers; this service shows neither.
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
]

describe('conduct that is right and looks wrong raises no alarm', () => {
  test.each(conducts)('%s', async (_, each, options) => {
    expect(alarms((await played(each, options)).failed)).toEqual([])
  })

  test('N3 late-spend: a spend that is late within its promise', async () => {
    const evidence = {
      cost: [{ body: 'usage.cost' }],
      balance: { get: '/key/info', value: 'info.spend', moves: 'up', within: '6s' },
      log: { get: '/spend/logs', id: 'request_id', cost: 'spend' },
    }
    const contract = contractWith({ evidence })
    const target = await gateway({ contract, ...conduct('late-spend') })
    const client = new RecordedClient(target.baseUrl, target.key)
    await client.read('/key/info')
    await all.send(client)
    await client.read('/key/info')
    const findings = await client.audit(contract, await target.rows())
    expect(alarms(findings.filter(({ verdict }) => verdict.verdict === 'fail'))).toEqual([])
  })
})
