import { describe, expect, test } from 'vitest'
import { audited, contractOf, type Sent } from './paid.ts'

/** Money that comes in or goes without a request: payments, recharges, grants that end. */

/** A request of so many tokens, at 4 USD for a million. */
const sent = (nth: number, tokens: number): Sent => ({
  id: `chatcmpl-${nth}-7f3a9c41d2`,
  body: JSON.stringify({ model: 'big', messages: `Ask ${nth}.` }),
  answer: JSON.stringify({
    id: `chatcmpl-${nth}-7f3a9c41d2`,
    usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
  }),
})
const contract = contractOf({
  charged: { success: 'full', empty: 'full' },
  evidence: { balance: { get: '/key/info', value: 'left', moves: 'down' } },
})
const page = (left: string): Sent => ({
  ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
  answer: `{"left": ${left}}`,
})
/** Three requests of 12.001236 USD each, and what is left after them. */
const three = [1, 2, 3].map((nth) => sent(nth, 3_000_309))
const found = async (...sends: readonly Sent[]) =>
  (await audited(sends, null, { contract }))['PRICE-06']!
const leftAfter = (begins: number, paid: number) => (begins - 36.003708 + paid).toFixed(6)

describe('credits that are added while requests are charged', () => {
  test.each([100, 150])('%i that are more than the requests cost end a stretch', async (paid) => {
    const verdict = await found(
      ...[page('100.000000'), ...three, page(leftAfter(100, paid))],
      ...[
        ...three.map((_, nth) => sent(nth + 5, 250_000)),
        page((Number(leftAfter(100, paid)) - 3).toFixed(6)),
      ],
    )
    expect(verdict.verdict).toBe('pass')
  })

  test.each([5, 10, 25])('%i that are less than the requests cost decide nothing', async (paid) => {
    expect(await found(page('100.000000'), ...three, page(leftAfter(100, paid)))).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining(`right if ${paid} USD came in between`),
    })
  })

  test.each([12.001236, 3.4567, 0.9])(
    'a charge of %d that is missing is no payment',
    async (missing) => {
      expect(
        await found(page('100.000000'), ...three, page(leftAfter(100, missing))),
      ).toMatchObject({
        verdict: 'fail',
      })
    },
  )

  test('recharges in two stretches decide nothing either, and a missing charge beside one fails', {
    tags: 'whole',
  }, async () => {
    const more = [5, 6].map((nth) => sent(nth, 3_000_309))
    const first = leftAfter(100, 20)
    const second = (Number(first) - 24.002472 + 10).toFixed(6)
    expect(
      (await found(page('100.000000'), ...three, page(first), ...more, page(second))).verdict,
    ).toBe('inconclusive')
    const less = (Number(first) - 12.001236).toFixed(6)
    expect(
      (await found(page('100.000000'), ...three, page(first), ...more, page(less))).verdict,
    ).toBe('fail')
  })

  test('a spend has no payments', async () => {
    const up = contractOf({
      charged: { success: 'full', empty: 'full' },
      evidence: { balance: { get: '/key/info', value: 'left', moves: 'up' } },
    })
    const verdict = await audited([page('0.000000'), ...three, page('26.003708')], null, {
      contract: up,
    })
    expect(verdict['PRICE-06']!.verdict).toBe('fail')
  })
})

describe('what is taken without a request', () => {
  test.each([
    ['0.5', /0\.5 USD taken without a request/],
    ['1234.567891', /1234\.567891 USD taken without a request: a fee, or the rest of a grant/],
  ])('%s is told by its cause', async (taken, words) => {
    const verdict = await found(
      page('2000.000000'),
      ...[sent(1, 1_001), page((2000 - 0.004004).toFixed(6))],
      page((2000 - 0.004004 - Number(taken)).toFixed(6)),
      ...[sent(2, 1_001), page((2000 - 0.008008 - Number(taken)).toFixed(6))],
    )
    expect(verdict).toMatchObject({ verdict: 'fail', observed: expect.stringMatching(words) })
  })
})
