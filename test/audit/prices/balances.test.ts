import { expect, test } from 'vitest'
import { audited, chat, contractOf, type Sent } from './paid.ts'

/** Balances of several values, in other units, with periods, and of several keys. */

const cents = (balance: object, more: object = {}) =>
  contractOf({
    evidence: {
      balance: {
        ...{ get: '/key/info', value: 'left_cents', moves: 'down', times: '0.01' },
        also: [{ value: 'used', moves: 'up' }],
        ...balance,
      },
    },
    ...more,
  })

const sends = ['a', 'b'].map((id) => ({ ...chat(id), body: `{"model":"big","messages":"${id}"}` }))
const verdictsOf = (found: Record<string, { verdict: string }>) =>
  ['PRICE-06', 'PRICE-07'].map((rule) => found[rule]!.verdict)

test.each([
  ['an amount, in the unit of the first value', { limit: 10_000 }],
  ['a place, in the unit of the first value', { limit: 'total_cents' }],
  ['a place with its own unit', { limit: { value: 'total', in: 'USD' } }],
  ['an amount with its own unit', { limit: { value: 100, in: 'USD' } }],
  ['a place in thousandths', { limit: { value: 'mills', times: '0.001' } }],
])(
  'what remains in cents and what is used in dollars add up to a limit: %s',
  { tags: 'whole' },
  async (_, limit) => {
    const page = (left: string, used: string, dollars = 100) =>
      JSON.stringify({ total: dollars, total_cents: dollars * 100, mills: dollars * 1000 }).replace(
        '{',
        `{"left_cents": ${left}, "used": ${used}, `,
      )
    const before = page('9990.000', '0.10000')
    const right = await audited(sends, [before, page('9989.972', '0.10028')], {
      contract: cents(limit),
    })
    expect(verdictsOf(right)).toEqual(['pass', 'pass'])
    const wrong = await audited(sends, [page('8990.000', '0.10000'), page('8989.972', '0.10028')], {
      contract: cents(limit),
    })
    expect(wrong['PRICE-07']).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining('where the limit has 100'),
    })
  },
)

test('a limit of another shape is refused with its path', () => {
  expect(() => cents({ limit: { in: 'USD' } })).toThrow(/evidence\.balance\.limit/)
  expect(() => cents({ limit: { value: 3, in: 'EUR' } })).toThrow(/evidence\.balance\.limit\.in/)
})

const dollars = (limit: object = {}) =>
  contractOf({
    evidence: {
      balance: {
        ...{ get: '/key/info', value: 'left', moves: 'down' },
        ...{ also: [{ value: 'used', moves: 'up' }], ...limit },
      },
    },
  })

test('what is used of a month that begins anew, beside what remains for good, is no contradiction', async () => {
  const found = await audited(
    sends,
    ['{"left": 60.00000, "used": 40.00000}', '{"left": 59.99972, "used": 0.00028}'],
    { contract: dollars() },
  )
  expect(found['PRICE-07']).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('began anew'),
  })
  expect(found['PRICE-06']!.verdict).toBe('inconclusive')
})

test('a quota that begins anew with what was used of it passes', async () => {
  const found = await audited(
    sends,
    ['{"left": 60.00000, "used": 40.00000}', '{"left": 99.99972, "used": 0.00028}'],
    { contract: dollars({ limit: 100 }) },
  )
  expect(found['PRICE-07']!.verdict).toBe('pass')
  expect(found['PRICE-06']!.verdict).toBe('inconclusive')
})

test('a request after the last page that shows 0 may have been paid for; before it, it was served at 0', {
  tags: 'whole',
}, async () => {
  const shows = (left: string): Sent => ({
    ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
    answer: `{"left": ${left}, "used": 1.00000}`,
  })
  const judged = async (inBetween: readonly Sent[]) => {
    const order = [shows('0.50000'), ...inBetween]
    const found = await audited(
      order,
      ['{"left": 1.00000, "used": 0.5}', '{"left": 5.0, "used": 1.0}'],
      {
        contract: contractOf({
          evidence: { balance: { get: '/key/info', value: 'left', moves: 'down' } },
        }),
      },
    )
    return found['PRICE-07']!
  }
  expect((await judged([shows('0.00000'), ...sends])).verdict).toBe('pass')
  const [first, second] = sends
  // What is sent after the second page is not among them.
  expect(await judged([shows('0.00000'), first!, shows('0.00000'), second!])).toMatchObject({
    observed: expect.stringMatching(/^1 requests for .* served at a balance of 0/),
  })
  expect(await judged([shows('0.00000'), ...sends, shows('0.00000')])).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('served at a balance of 0'),
  })
})

/** A page that a key reads: what it spent itself. */
const pageOf = (keyFp: string, spend: string): Sent => ({
  ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
  answer: `{"spend": ${spend}}`,
  ended: { account: 'main', keyFp },
})
const of = (id: string, keyFp: string): Sent => ({
  ...chat(id),
  body: `{"model":"big","messages":"${id}"}`,
  ended: { account: 'main', keyFp },
})

test.each([
  ['each page shows what its own key spent', ['0', '0', '0.00028', '0.00014'], 'pass'],
  ['each page shows what the account spent', ['0', '0', '0.00042', '0.00042'], 'pass'],
  ['one key was charged twice', ['0', '0', '0.00056', '0.00014'], 'fail'],
  ['the account was charged twice', ['0', '0', '0.00084', '0.00084'], 'fail'],
] as const)('two keys of an account: %s', async (_, [a0, b0, a1, b1], is) => {
  const found = await audited(
    [
      ...[pageOf('one', a0), pageOf('two', b0)],
      ...[of('a', 'one'), of('b', 'one'), of('c', 'two')],
      ...[pageOf('one', a1), pageOf('two', b1)],
    ],
    null,
  )
  expect(found['PRICE-06']).toMatchObject({ verdict: is })
})

test('requests after the last page, or of an account that nobody read, are no pass', {
  tags: 'whole',
}, async () => {
  const page = (spend: string, account = 'main'): Sent => ({
    ...{
      path: '/key/info',
      method: 'GET',
      model: null,
      endpoint: 'other',
      ended: { account, keyFp: account },
    },
    answer: `{"spend": ${spend}}`,
  })
  const paid = (count: number, mark: string, account = 'main') =>
    Array.from({ length: count }, (_, nth) => ({
      ...of(`${mark}${nth}`, 'one'),
      ended: { account, keyFp: account },
    }))
  const found = async (...sends: readonly Sent[]) => (await audited(sends, null))['PRICE-06']!
  const beside = (some: number, all: number) =>
    expect.stringContaining(`${some} of ${all} requests with a cost have no value`)
  const begun = [page('0'), ...paid(8, 'a'), page('0.00112')]
  expect(await found(...begun)).toEqual({ verdict: 'pass', observations: 1 })
  // A few are said, and more decide nothing.
  expect(await found(...begun, ...paid(1, 'b'))).toMatchObject({
    verdict: 'pass',
    note: beside(1, 9),
  })
  expect(await found(...begun, ...paid(8, 'b'))).toMatchObject({
    verdict: 'inconclusive',
    why: beside(8, 16),
  })
  const other = paid(8, 'c', 'other')
  expect(await found(...begun, ...other)).toMatchObject({
    verdict: 'inconclusive',
    why: beside(8, 16),
  })
  expect(await found(page('0', 'other'), ...begun, ...other)).toMatchObject({
    verdict: 'inconclusive',
    why: beside(8, 16),
  })
  // Where both were read, a double charge of the other one fails.
  const all = [page('0', 'other'), ...begun, ...other, page('0.00126', 'other')]
  expect(await found(...all)).toMatchObject({ verdict: 'fail' })
})
