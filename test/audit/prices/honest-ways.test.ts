import { describe, expect, test } from 'vitest'
import { audited, chat, contractOf, row, type Sent } from './paid.ts'

/** Services that keep their contract in ways that look odd: units, rounding, delays, and money that comes back. */

const page: Sent = {
  ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
  answer: '{"spend": 0}',
}
const shows = (spend: string): Sent => ({ ...page, answer: `{"spend": ${spend}}` })
const verdictsOf = (found: Record<string, { verdict: string }>, ...rules: readonly string[]) =>
  rules.map((rule) => found[rule]!.verdict)

describe('a balance in whole millionths, of requests that cost 4.5 of them', () => {
  const models = [{ id: 'big', price: { input: '0.15', output: '0.6' } }]
  const evidence = {
    balance: { get: '/key/info', value: 'spend', moves: 'up', times: '0.000001' },
  }
  const ten = Array.from({ length: 10 }, (_, nth) => chat(`id-${nth}`))
  const takes = async (each: number, more: object) =>
    (
      await audited(ten, ['1000', `${1000 + 10 * each}`], {
        contract: contractOf({ models, evidence, ...more }),
      })
    )['PRICE-06']!.verdict

  test.each([
    ['half_even', 4],
    ['half_up', 5],
    ['half_down', 4],
    ['up', 5],
    ['down', 4],
  ] as const)(
    'with the promised rounding %s each takes %d',
    { tags: 'whole' },
    async (mode, each) => {
      const round = { at: 'request', digits: 6, mode }
      expect(await takes(each, { round })).toBe('pass')
      expect(await takes(9 - each, { round })).toBe('fail')
    },
  )

  test.each([4, 5])(
    'where the contract has no finer unit, each may take %d',
    { tags: 'whole' },
    async (each) => {
      expect(await takes(each, { digits: 6 })).toBe('pass')
      expect(await takes(each === 4 ? 3 : 6, { digits: 6 })).toBe('fail')
    },
  )
})

describe('money that comes back after an error', () => {
  const charged = { success: 'full', refused: 'none', broken: 'none', abort: 'received' }
  const broken: Sent = {
    ...chat('b'),
    ended: { outcome: 'broken', reason: 'error-in-stream', status: 200 },
  }

  test('is no fault in a log that has the charge and its refund', { tags: 'whole' }, async () => {
    const rows = [row('a', 0.00014, 1), row('b', 0.00014, 2), row('b', -0.00014, 2, 0, 0)]
    const found = await audited([chat('a'), broken], ['0', '0.00014'], {
      log: rows,
      contract: contractOf({ charged }),
    })
    expect(verdictsOf(found, 'PRICE-04', 'PRICE-06')).not.toContain('fail')
    const kept = await audited([chat('a'), broken], ['0', '0.00028'], {
      log: rows.slice(0, 2),
      contract: contractOf({ charged }),
    })
    expect(verdictsOf(kept, 'PRICE-04', 'PRICE-06')).toEqual(['fail', 'fail'])
  })
})

describe('a log that comes late', () => {
  test('may have its times as late as the contract promises, and no later', async () => {
    const late = [row('a', 0.00014, 100), row('b', 0.00014, 101)]
    const within = (time: string) =>
      contractOf({
        evidence: {
          log: { cost: 'spend', id: 'request_id', model: 'model', at: 'startTime', within: time },
        },
      })
    const found = (contract: ReturnType<typeof contractOf>) =>
      audited([chat('a'), chat('b')], null, { log: late, contract })
    expect((await found(within('60s')))['PRICE-05']!.verdict).toBe('pass')
    expect((await found(within('10s')))['PRICE-05']!.verdict).toBe('fail')
  })
})

test('PRICE-06 says how many stretches have a cost that is open', async () => {
  const unknown: Sent = { ...chat('b'), model: 'nobody' }
  const found = await audited([chat('a'), shows('0.00014'), unknown], ['0', '0.5'])
  expect(found['PRICE-06']).toMatchObject({
    verdict: 'pass',
    note: expect.stringMatching(/^1 of 2 stretches have a cost that is open/),
  })
})

describe('an account without a limit', () => {
  const terms = { get: '/key/info', value: 'left', moves: 'down' }
  const contract = contractOf({ evidence: { balance: terms } })
  const left = (value: number, more: object = {}): Sent => ({
    ...page,
    answer: JSON.stringify({ left: value, ...more }),
  })
  const verdicts = async (sends: readonly Sent[]) =>
    verdictsOf(await audited(sends, null, { contract }), 'PRICE-06', 'PRICE-07')

  test('may show -1 for its balance', async () => {
    const found = await verdicts([left(-1), chat('a'), left(-1), chat('b'), left(-1)])
    expect(found[0]).toBe('inconclusive')
    expect(found[1]).toBe('not-observed')
  })

  test('may show -1 beside an account with one, whose balance is judged', async () => {
    const of = (account: string, sent: Sent): Sent => ({ ...sent, ended: { account } })
    const found = async (last: number) =>
      audited(
        [
          ...[of('main', left(5)), of('free', left(-1)), of('main', chat('a'))],
          ...[of('free', chat('b')), of('main', left(last)), of('free', left(-1))],
        ],
        null,
        { contract },
      )
    const right = await found(4.99986)
    expect(verdictsOf(right, 'PRICE-06', 'PRICE-07')).toEqual(['pass', 'pass'])
    expect(right['PRICE-06']).toMatchObject({ note: expect.stringContaining('-1 at each read') })
    expect(verdictsOf(await found(4.99972), 'PRICE-06', 'PRICE-07')).toEqual(['fail', 'pass'])
  })

  test('moves no sum, and a debt that stays is none', async () => {
    const sends = (value: number) => [left(value), chat('a'), left(value), chat('b'), left(value)]
    const sums = async (value: number) =>
      verdictsOf(await audited(sends(value), null, { contract }), 'PRICE-07', 'PRICE-08')
    expect(await sums(-1)).toEqual(['not-observed', 'not-observed'])
    expect((await sums(-0.05))[0]).toBe('fail')
  })

  test('may fall below 0 where the page says that it is unlimited, and else may not', async () => {
    const below = (more: object) => [left(-5, more), chat('a'), left(-5.00014, more)]
    expect(await verdicts(below({ unlimited_quota: true }))).toEqual(['pass', 'pass'])
    expect(await verdicts(below({ unlimited_quota: false }))).toEqual(['pass', 'fail'])
  })
})

test('a log of debits, each with a minus, is open, and one that is wrong as well fails', async () => {
  const judged = async (...costs: readonly number[]) => {
    const log = costs.map((cost, at) => row(`id-${at}`, cost, at + 1))
    const sends = costs.map((_, at) => chat(`id-${at}`))
    return verdictsOf(await audited(sends, null, { log }), 'PRICE-04', 'PRICE-08')
  }
  const each = -0.00014
  expect(await judged(each, each, each)).toEqual(['inconclusive', 'inconclusive'])
  expect(await judged(each, each, -0.0002)).toEqual(['fail', 'fail'])
  expect(await judged(-each, -each, each)).toEqual(['fail', 'fail'])
})
