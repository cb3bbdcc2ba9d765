import { describe, expect, test } from 'vitest'
import { audited, chat, contractOf, type Sent } from './paid.ts'

/** What makes values of a balance too low and too high, and is not several balances: each is told by its own pattern. */

const contract = (within = '0s') =>
  contractOf({
    charged: { success: 'full', refused: 'none' },
    models: [{ id: 'big', price: { request: 1 } }],
    currency: 'credits',
    evidence: { balance: { get: '/key/info', value: 'spend', moves: 'up', within } },
  })
const page = (spend: number): Sent => ({
  ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
  answer: `{"spend": ${spend}}`,
})
let nth = 0
const ask = (): Sent => ({
  ...chat(`chatcmpl-${nth++}-7f3a9c41d2`),
  body: JSON.stringify({ model: 'big', messages: `Ask ${nth}`, max_tokens: 100 }),
})
const refused = (): Sent => ({
  ...ask(),
  id: null,
  answer: '{"error":{"message":"failed"}}',
  ended: { outcome: 'http_error', status: 500 },
})
const times = (count: number, of: () => Sent): readonly Sent[] => Array.from({ length: count }, of)

const told = async (sends: readonly Sent[], within?: string) => {
  const found = (await audited(sends, null, { contract: contract(within) }))['PRICE-06']!
  expect(found.verdict).toBe('fail')
  return found.verdict === 'fail' ? found.observed : ''
}

test('refunds that never come are told by the requests that were not given back, though most were', async () => {
  // Four fail, of which two are given back; then four are served, and four fail, of which two are given back.
  const words = await told(
    [
      ...[page(0), ...times(2, ask), page(2), page(2)],
      ...[...times(4, refused), page(6), page(4), page(4)],
      ...[...times(4, ask), ...times(4, refused), page(12), page(10), page(10)],
    ],
    '1s',
  )
  expect(words).toContain('answers that were refused were charged, which cost nothing')
  expect(words).not.toContain('several workers')
})

test('a deposit that is kept is told as the same amount for each request', async () => {
  const money = contractOf({
    models: [
      { id: 'big', price: { request: 0.01 } },
      { id: 'small', price: { request: 0.004 } },
    ],
    evidence: { balance: { get: '/key/info', value: 'spend', moves: 'up' } },
  })
  const small = (): Sent => ({ ...ask(), model: 'small' })
  const paid = (spend: string): Sent => ({ ...page(0), answer: `{"spend": ${spend}}` })
  const found = await audited(
    [
      ...[paid('0.000000'), ...times(3, ask), paid('0.630000')],
      ...[...times(2, small), paid('1.038000'), ask(), small(), paid('1.452000')],
    ],
    null,
    { contract: money },
  )
  expect(found['PRICE-06']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      '0.2 more for each request: a fee, or a deposit that was kept',
    ),
  })
})

describe('what somebody else takes', () => {
  test('while no request ran, again and again, is told as the use of another key', async () => {
    const words = await told([
      ...[page(0), ask(), page(1), page(4), ask(), page(5), page(7), ask(), page(8)],
    ])
    expect(words).toContain('3 credits and 2 credits taken without a request: another key')
  })

  test('once, is told as a fee or a grant', async () => {
    const words = await told([page(0), ask(), page(1), page(4), ask(), page(5)])
    expect(words).toMatch(/taken without a request.*: a fee, or/)
    expect(words).not.toContain('another key')
  })
})

test('what requests of another key cost is told as theirs, also where both keys are of one account', async () => {
  const by = (sent: Sent, keyFp: string): Sent => ({ ...sent, ended: { keyFp } })
  const [main, two] = [(sent: Sent) => by(sent, 'main'), (sent: Sent) => by(sent, 'two')]
  const words = await told([
    ...[main(page(0)), two(page(0)), main(ask()), main(page(1)), two(page(0))],
    ...[two(ask()), two(ask()), two(ask()), two(page(3)), main(page(4)), main(ask())],
    ...[main(page(5)), two(ask()), two(page(4)), main(page(6)), main(page(6))],
  ])
  expect(words).toContain('requests of another key or account counted, too')
})

test('values that go up and down between two totals while nothing runs are those of several balances', async () => {
  const words = await told([
    ...[page(0), ...times(6, ask), page(2), page(4), page(2), page(4)],
    ...[...times(6, ask), page(4), page(8), page(4), page(8)],
  ])
  expect(words).toContain('several workers')
})

test('values that are later than promised are told so also where the last one has not everything', async () => {
  // One request a second, and each value is that of eight seconds ago, where two are promised.
  const sends = Array.from({ length: 30 }, (_, at) =>
    at % 2 === 0 ? ask() : page(Math.max(0, at / 2 - 4.5)),
  )
  // Nothing is shown for a while, and then all of it at once.
  const late = sends.map((sent, at) => (sent.method === 'GET' && at < 16 ? page(0) : sent))
  expect(await told(late, '2s')).toMatch(
    /values may be up to [78](\.\d)? s late, and the last one, too, or charges are missing at the end/,
  )
})
