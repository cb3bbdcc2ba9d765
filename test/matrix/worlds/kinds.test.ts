import { describe, expect, test } from 'vitest'
import type { Ask } from './asks.ts'
import { outcomeOf, wordsOf } from './outcome.ts'
import type { Terms } from './terms.ts'
import type { Conduct, World } from './world.ts'

/** The kinds of worlds that a search found, each with as few requests as show it. */

const ask: World['asks'][number] = {
  ...{ nth: 0, at: 1, seconds: 1, model: 'big', prompt: 'a', dialect: 'chat', isStream: false },
  counts: {
    input: 1000,
    cache_read: 0,
    cache_write: 0,
    cache_write_1h: 0,
    output: 40,
    reasoning: 0,
  },
  ...{ maySearch: false, searches: 0, ended: 'ok', received: 0, generated: 0, isFlex: false },
  ...{ account: 'main', repeats: null, isStruck: false },
}
const model: Terms['models'][number] = {
  ...{
    id: 'big',
    alias: null,
    prices: { input: '2.5', output: '10' },
    request: null,
    search: null,
  },
  ...{ tier: null, flex: null, hours: null, change: null, margin: null, group: null },
  ...{ round: null, minimum: null },
}
const terms: Terms = {
  ...{ currency: 'USD', digits: 12, startMs: Date.UTC(2026, 10, 1), models: [model], isVip: false },
  charged: {
    ...{ refused: 'none', broken: 'none', abort: 'received', empty: 'none', filtered: 'none' },
    gateway_cache: 'open',
  },
  ...{ cost: null, log: true, balance: null },
}
const honest: World = {
  ...{
    seed: 0,
    terms,
    asks: [ask],
    conduct: new Set(),
    fault: null,
    isCaptured: true,
    readEvery: 1,
  },
}
const asks = (...changes: readonly Partial<Ask>[]) =>
  changes.map((change, nth) => ({ ...ask, nth, at: 1 + 10 * nth, ...change }))

/** What fails in an honest world. */
async function alarms(change: Partial<Omit<World, 'terms'>>, ofTerms: Partial<Terms> = {}) {
  const { findings } = await outcomeOf({ ...honest, ...change, terms: { ...terms, ...ofTerms } })
  return findings
    .filter(({ verdict }) => verdict.verdict === 'fail')
    .map((finding) => [finding.rule, wordsOf(finding)])
}

const charged = (change: Partial<Terms['charged']>) => ({
  charged: { ...terms.charged, ...change },
})
const doing = (...conduct: readonly Conduct[]) => ({ conduct: new Set(conduct) })

describe('an honest service is not failed', () => {
  test('where a messages stream is left, whose first event has an output count of its own', async () => {
    const left = {
      dialect: 'messages',
      isStream: true,
      ended: 'abort',
      received: 5,
      generated: 6,
    } as const
    expect(
      await alarms({ asks: asks({ dialect: 'messages' }, left) }, charged({ abort: 'full' })),
    ).toEqual([])
  })

  test('where it searched, and the answer was not stored', async () => {
    const searched = { maySearch: true, searches: 2 }
    const models = [{ ...model, search: '0.01' }]
    expect(await alarms({ asks: asks(searched, searched), isCaptured: false }, { models })).toEqual(
      [],
    )
  })

  test('where its answers show fewer decimals than its costs have', async () => {
    const prices = { input: '2.5017', output: '10' }
    const short = { cost: 'header', models: [{ ...model, prices }] } as const
    expect(await alarms({ asks: asks({}, {}, {}, {}), ...doing('short costs') }, short)).toEqual([])
  })
})
