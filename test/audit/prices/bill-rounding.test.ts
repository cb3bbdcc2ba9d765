import { describe, expect, test } from 'vitest'
import { audited, chat, contractOf, type Sent } from './paid.ts'

/** A service that rounds what it books once for each bill, of several requests, and not once for each request. */

const page = (spend: number, digits: number): Sent => ({
  ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
  answer: `{"spend": ${spend.toFixed(digits)}}`,
})
/** A request that costs 0.000144 USD. */
const asked = (id: string): Sent => ({
  ...chat(id),
  body: JSON.stringify({ model: 'big', messages: id }),
  answer: `{"id": "${id}", "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}}`,
})
const cost = 0.000144

/** Bills of so many requests each, with a read after each, and what is booked for one. */
const found = (bills: number, of: number, booked: (bill: number) => number, digits: number) => {
  let spend = 0
  const sends = Array.from({ length: bills }, (_, bill) => {
    spend += booked(of)
    return [...Array.from({ length: of }, (_, nth) => asked(`${bill}-${nth}`)), page(spend, digits)]
  })
  return audited([page(0, digits), ...sends.flat()], null, {
    contract: contractOf({
      ...{ currency: 'USD', digits },
      evidence: { balance: { get: '/key/info', value: 'spend', moves: 'up' } },
    }),
  })
}
const rounded = (value: number, digits: number, how: (value: number) => number) =>
  how(value * 10 ** digits) / 10 ** digits

describe('rounding of a bill', () => {
  test.each([
    ['to the nearest', Math.round],
    ['down', Math.floor],
    ['up', Math.ceil],
  ])('%s, once for each of twelve bills, is not accused', async (_, how) => {
    const judged = await found(12, 5, (of) => rounded(of * cost, 4, how), 4)
    expect(judged['PRICE-06']!.verdict).toBe('pass')
    expect(judged['PRICE-08']!.verdict).toBe('pass')
  })

  test('hides less than a unit for each request', { tags: 'whole' }, async () => {
    const judged = await found(12, 5, (of) => rounded(of * cost, 4, Math.ceil) + of * 0.0001, 4)
    expect(judged['PRICE-06']!.verdict).toBe('fail')
  })

  test('to a place that costs do not have is exact', { tags: 'whole' }, async () => {
    const judged = await found(12, 5, (of) => of * cost, 6)
    expect(judged['PRICE-06']!.verdict).toBe('pass')
    const twice = await found(12, 5, (of) => of * cost + 0.000001, 6)
    expect(twice['PRICE-06']!.verdict).toBe('fail')
  })
})
