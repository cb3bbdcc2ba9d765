import { expect, test } from 'vitest'
import { parseContract } from '../../../src/contract/load.ts'
import { type GatewayFault, type Played, play, type Sent, traffic } from './gateway.ts'

/**
 * A contract selects a price by what an answer says: a field of its usage, its service tier, its model, a header. Where the
 * evidence does not hold it, an honest service may have charged any of these prices.
 */

const price = { input: 4, cache_read: 0.4, cache_write: 5, output: 20 }
const contractOf = (model: object, charged: object = {}) =>
  parseContract(
    {
      name: 'gateway',
      charged: { success: 'full', refused: 'none', broken: 'none', abort: 'received', ...charged },
      models: [
        { id: 'big', price, ...model },
        { id: 'big-2026', price: { input: 2, cache_read: 0.2, cache_write: 2.5, output: 10 } },
      ],
      evidence: {
        cost: [{ header: 'x-cost' }],
        balance: { get: '/key/info', value: 'info.spend', moves: 'up' },
        log: { cost: 'spend', id: 'request_id', model: 'model', at: 'startTime' },
      },
    },
    'gateway',
  )

const [plain] = traffic as readonly [Sent]
const left: Sent = {
  ...plain,
  streamed: true,
  ended: 'aborted',
  counts: { ...plain.counts, visible: 40 },
}
const places = ['stated', 'log', 'balance'] as const

/** Charges all of some requests so many times. */
const charging = (times: bigint, isSo: (sent: Sent) => boolean, shown?: object): GatewayFault => ({
  charge: (right, sent) => (isSo(sent) ? right * times : right),
  shown: (usage, sent) => (isSo(sent) ? { ...usage, ...shown } : usage),
})

const at = (sends: readonly Sent[]) => sends.map((sent, nth) => ({ ...sent, at: 10 * nth }))
const textOf = ({ findings }: Played) =>
  JSON.stringify(findings.map(({ rule, verdict }) => [rule, verdict]))

const isFast = ({ prompt }: Sent) => prompt.startsWith('fast')
const fast = { ...plain, prompt: 'fast', asks: { speed: 'fast' } }
const bySpeed = contractOf({ by: { speed: { fast: { times: 6 } } } })

const askedFast = { asks: { speed: 'fast' } }
const both = ['chat', 'messages'] as const

for (const dialect of both) {
  test(`a fast request whose answer was not stored is no wrong charge (${dialect})`, async () => {
    const sends = at([plain, { ...plain, streamed: true }, fast, { ...fast, streamed: true }])
    const conduct = charging(6n, isFast, { speed: 'fast' })
    const played = await play(conduct, places, { dialect, sends, stored: false, of: bySpeed })
    expect(played.failed).toEqual([])
    expect(textOf(played)).toContain('usage.speed')
  })

  test(`a fast stream that the client left is no wrong charge (${dialect})`, async () => {
    const alone = { ...left, prompt: 'fast alone', ...askedFast }
    const sends = at([plain, fast, { ...left, prompt: 'fast', ...askedFast }, alone])
    const conduct: GatewayFault = {
      ...charging(6n, isFast),
      // The start of a message does not name it.
      shown: (usage, sent) =>
        isFast(sent) && sent.ended === 'ok' ? { ...usage, speed: 'fast' } : usage,
    }
    const played = await play(conduct, places, { dialect, sends, of: bySpeed })
    expect(played.failed).toEqual([])
    expect(textOf(played)).toContain('usage.speed')
  })

  test(`a fast stream that the client left beside a usual twin is no wrong charge (${dialect})`, async () => {
    const sends = at([plain, { ...left, ...askedFast }])
    const conduct = charging(6n, ({ asks }) => asks !== undefined)
    const played = await play(conduct, places, { dialect, sends, of: bySpeed })
    expect(played.failed).toEqual([])
    expect(textOf(played)).toContain('usage.speed')
  })

  test(`a field that other answers name, and no contract prices, is unknown in a stream that the client left (${dialect})`, async () => {
    const sends = at([plain, fast, { ...left, prompt: 'fast', ...askedFast }])
    const conduct: GatewayFault = {
      ...charging(6n, isFast),
      shown: (usage, sent) =>
        isFast(sent) && sent.ended === 'ok' ? { ...usage, speed: 'fast' } : usage,
    }
    const played = await play(conduct, places, { dialect, sends, of: contractOf({}) })
    expect(played.failed).toEqual([])
    expect(textOf(played)).toContain('usage.speed')
  })

  test(`a service tier that a stream names at its end is unknown once the client left (${dialect})`, async () => {
    const isPriority = ({ asks }: Sent) => asks !== undefined
    const sends = at([plain, { ...left, asks: { service_tier: 'auto' } }])
    const of = contractOf({ service: { priority: { times: 9 } } })
    const played = await play(charging(9n, isPriority), places, { dialect, sends, of })
    expect(played.failed).toEqual([])
  })

  test(`an answer of the gateway's cache whose head was not stored is no lost charge (${dialect})`, {
    tags: 'whole',
  }, async () => {
    const isCached = ({ header }: Sent) => header !== undefined
    const hit = { ...plain, prompt: 'asked yesterday', header: 'x-litellm-cache-hit: true' }
    const of = contractOf({}, { gateway_cache: 'none' })
    const sends = at([plain, hit])
    const played = await play(charging(0n, isCached), places, { dialect, sends, stored: false, of })
    expect(played.failed).toEqual([])
    expect(played.of('PRICE-04').verdict).toMatchObject({
      verdict: 'inconclusive',
      why: '1 of 2 costs are right only if a cache of the gateway answered, and no head was stored that would say so (capture: all)',
    })
    const half = await play(
      { charge: (right, { prompt }) => (prompt === hit.prompt ? right / 2n : right) },
      places,
      { dialect, sends, stored: false, of },
    )
    expect(half.failed).toContain('PRICE-04')
  })

  test(`a stream that the client left before it named its model may be any model's (${dialect})`, {
    tags: 'whole',
  }, async () => {
    const unnamed = { ...left, returned: null } as never as Sent
    for (const model of [{ served: 'any' }, { priced: 'returned' }]) {
      const played = await play(
        charging(9n, ({ returned }) => returned === null),
        places,
        { dialect, sends: at([plain, unnamed]), of: contractOf(model) },
      )
      expect(played.failed).toEqual([])
      expect(textOf(played)).toContain('the model that answered')
    }
  })
}

test('a wrong charge of a usual request is told beside those of unknown speed', async () => {
  const sends = at([plain, { ...plain, prompt: 'other' }, { ...left, ...askedFast }])
  const played = await play(
    charging(2n, ({ prompt }) => prompt === 'other'),
    places,
    { sends, of: bySpeed },
  )
  expect(played.failed).toContain('PRICE-04')
})
