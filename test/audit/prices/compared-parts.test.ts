import { describe, expect, test } from 'vitest'
import { novemberUs } from '../../report/attempts.ts'
import { audited, chat, contractOf, spendPage as page, row, type Sent } from './paid.ts'

/** A pass of a rule of prices needs amounts that were compared. */

const sends = ['a', 'b'].map(chat)
const spends = ['0', '0.00028'] as const
const log = [row('a', 0.00014, 1), row('b', 0.00014, 2)]

describe('what compares nothing is not observed', () => {
  test('PRICE-01: counts of answers that were not stored', { tags: 'whole' }, async () => {
    const kept: Sent = { ...chat('a'), isStored: false }
    expect((await audited([kept], spends))['PRICE-01']!.verdict).toBe('not-observed')
    expect((await audited(sends, spends))['PRICE-01']).toMatchObject({ observations: 2 })
  })

  test('PRICE-02: equal requests whose prompts are not counted', async () => {
    const uncounted = (id: string): Sent => ({
      ...chat(id),
      answer: `{"id": "${id}", "usage": {"completion_tokens": 5}}`,
    })
    const found = await audited([uncounted('a'), uncounted('b')], spends)
    expect(found['PRICE-02']!.verdict).toBe('not-observed')
    expect((await audited(sends, spends))['PRICE-02']).toMatchObject({ observations: 2 })
  })

  test('PRICE-08: a sum of some requests beside one of others', async () => {
    const named = (id: string, model: string): Sent => ({ ...chat(id), model })
    // The log has the row of a model without a price, and the contract the price of one without a row.
    const found = await audited([named('a', 'big'), named('b', 'other')], null, {
      log: [{ ...row('b', 0.5, 2), model: 'other' }],
    })
    expect(found['PRICE-08']!.verdict).toBe('not-observed')
  })
})

describe('a part of the log', () => {
  test('PRICE-05: that ends long before the requests is inconclusive', {
    tags: 'whole',
  }, async () => {
    const many = Array.from({ length: 100 }, (_, nth) => chat(`id-${nth}`))
    const rows = many.map((_, nth) => row(`id-${nth}`, 0.00014, nth))
    const found = async (some: typeof rows) =>
      (await audited(many, null, { log: some }))['PRICE-05']!
    expect(await found(rows)).toMatchObject({ verdict: 'pass', observations: 100 })
    expect(await found(rows.slice(0, 20))).toMatchObject({ verdict: 'fail' })
    // Of the requests up to a minute after its last row, none is missing.
    const sparse = [
      ...many.slice(0, 3),
      ...Array.from({ length: 80 }, () => page),
      ...many.slice(3, 6),
    ]
    const cut = await audited(sparse, null, { log: rows.slice(0, 3) })
    expect(cut['PRICE-05']).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('before 3 of 6 requests with a cost'),
    })
  })

  test('PRICE-04: rows that state no cost are inconclusive', async () => {
    const silent = { ...row('b', 0, 2), spend: null }
    expect((await audited(sends, spends, { log }))['PRICE-04']!.verdict).toBe('pass')
    expect((await audited(sends, spends, { log: [log[0]!, silent] }))['PRICE-04']).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('1 of 2 requests with a cost have a row that states none'),
    })
    // Also beside a row with a cost, which may be five times what it should be.
    const overcharged = [log[0]!, row('b', 0.0007, 2), { ...row('b', 0, 2, 0, 0), spend: null }]
    expect((await audited(sends, spends, { log: overcharged }))['PRICE-04']!.verdict).toBe(
      'inconclusive',
    )
  })
})

test('PRICE-03 says how many answers state no cost', async () => {
  const contract = contractOf({ evidence: { cost: [{ header: 'x-cost' }] } })
  const costly = (id: string): Sent => ({ ...chat(id), headers: 'x-cost: 0.00014' })
  const all = await audited([costly('a'), costly('b')], null, { contract })
  expect(all['PRICE-03']).toEqual({ verdict: 'pass', observations: 2 })
  const some = await audited([costly('a'), chat('b'), chat('c')], null, { contract })
  expect(some['PRICE-03']).toEqual({
    verdict: 'pass',
    observations: 1,
    note: '2 of 3 answers state no cost',
  })
})

test('prices of hours are those of the clock of the service, as the Date of its answers shows', async () => {
  const contract = contractOf({
    models: [
      {
        ...{ id: 'big', price: { input: 4, output: 20 } },
        hours: [{ utc: ['00:04-01:00'], price: { input: 8, output: 40 } }],
      },
    ],
  })
  const date = new Date(novemberUs / 1000 + 301_000).toUTCString()
  const dated: Sent = { ...chat('a'), headers: `date: ${date}` }
  const found = async (sent: Sent) =>
    (await audited([sent], null, { contract, log: [row('a', 0.00028, 0)] }))['PRICE-04']!
  expect((await found(dated)).verdict).toBe('pass')
  expect((await found(chat('a'))).verdict).toBe('fail')
})

test('PRICE-08 names the currency of what was taken', async () => {
  expect((await audited(sends, ['0', '0.5']))['PRICE-08']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      'what was taken differs from the costs, 0.00028 USD by the contract',
    ),
  })
})
