import { describe, expect, test } from 'vitest'
import { audited, chat, contractOf, type Sent } from './paid.ts'

/** Balances that are kept in several places, or that come late: the finding says so, and honest ones are not accused. */

const cost = 0.00014
const sends = Array.from({ length: 16 }, (_, nth) => ({
  ...chat(`chatcmpl-${nth}-7f3a9c41d2`),
  body: `{"model":"big","messages":"Ask ${nth}"}`,
}))
/** Each answer shows a balance in its header: what was charged by then, as this place knows it. */
const shown = (knows: (nth: number) => number): readonly Sent[] =>
  sends.map((sent, nth) => ({ ...sent, headers: `x-left: ${(10 - knows(nth) * cost).toFixed(5)}` }))
const contract = (within?: string, moves = 'down') =>
  contractOf({
    evidence: { balance: { header: 'x-left', moves, ...(within === undefined ? {} : { within }) } },
  })
const verdictOf = async (knows: (nth: number) => number, within?: string) =>
  (await audited(shown(knows), null, { contract: contract(within) }))['PRICE-06']!

test('a balance that all answers share passes', async () => {
  expect((await verdictOf((nth) => nth + 1)).verdict).toBe('pass')
})

describe.each([
  ['by each of two workers in turn', (nth: number) => Math.floor(nth / 2) + 1],
  [
    'by two workers, one of which is asked twice as often',
    (nth: number) => (nth % 3 === 0 ? Math.floor(nth / 3) + 1 : nth - Math.floor(nth / 3)),
  ],
  [
    'by each of three regions',
    (nth: number) => Math.floor(nth / 3) + 1 + (nth % 3 === 0 ? 0 : nth),
  ],
  [
    'by replicas of which one is five requests behind',
    (nth: number) => (nth % 2 === 0 ? nth + 1 : Math.max(0, nth - 4)),
  ],
] as const)('a balance that is kept %s', (_, knows) => {
  test('is told as several, and never passes', async () => {
    expect(await verdictOf(knows)).toMatchObject({
      verdict: expect.stringMatching(/fail|inconclusive/),
    })
  })
})

test('values that jump between replicas are told by their cause', async () => {
  expect(await verdictOf((nth) => (nth % 2 === 0 ? nth + 1 : Math.max(0, nth - 4)))).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('not those of one balance at one time'),
  })
})

test('values that are as late as the contract says pass', async () => {
  const verdict = await verdictOf((nth) => (nth % 2 === 0 ? nth + 1 : Math.max(0, nth - 4)), '10s')
  expect(verdict.verdict).toBe('inconclusive')
})

test('a charge of three times its cost among values of one balance has its own cause', async () => {
  expect(await verdictOf((nth) => nth + 1 + (nth >= 6 ? 2 : 0))).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('charged three times'),
  })
})

describe('credit that is paid in advance, and then what is due', () => {
  const page = (prepaid: number, due: number) =>
    JSON.stringify({ prepaid: prepaid.toFixed(5), due: due.toFixed(5) })
  const audit = (pages: readonly [string, string], balance: object) =>
    audited([chat('a'), chat('b')], pages, {
      contract: contractOf({ evidence: { balance: { get: '/key/info', ...balance } } }),
    })
  const net = { value: 'prepaid - due', moves: 'down' }
  const [before, after] = [page(0.0002, 0), page(0, 0.00008)]

  test('a balance may be a sum of places', { tags: 'whole' }, async () => {
    const right = await audit([before, after], { ...net, lowest: 'open' })
    expect(right['PRICE-06']).toMatchObject({ verdict: 'pass' })
    const wrong = await audit([before, page(0, 0.00022)], { ...net, lowest: 'open' })
    expect(wrong['PRICE-06']).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining('0.00042 USD between two readings'),
    })
  })

  test('it may fall as low as the contract says', { tags: 'whole' }, async () => {
    const lowest = async (balance: object) =>
      (await audit([before, after], { ...net, ...balance }))['PRICE-07']
    expect(await lowest({ lowest: 'open' })).toMatchObject({ verdict: 'not-observed' })
    expect(await lowest({ lowest: -1 })).toMatchObject({
      ...{ verdict: 'pass', note: 'compared: 2 balances with what it may fall to' },
    })
    for (const balance of [{}, { lowest: -0.00007 }])
      expect(await lowest(balance)).toMatchObject({
        verdict: 'fail',
        observed: 'a balance of -0.00008 USD',
      })
  })

  test('a place of the sum that the page lacks is no value', async () => {
    const found = await audit([before, after], { ...net, value: 'prepaid - owed' })
    expect(found['PRICE-06']).toMatchObject({ verdict: 'inconclusive' })
    const wrong = () => contractOf({ evidence: { balance: { get: '/me', ...net, lowest: 'low' } } })
    expect(wrong).toThrow(
      'evidence.balance.lowest: expected an amount such as -50, or open; got "low"',
    )
  })
})
