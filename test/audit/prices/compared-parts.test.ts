import { describe, expect, test } from 'vitest'
import { novemberUs } from '../../report/attempts.ts'
import { audited, chat, contractOf, row, type Sent } from './paid.ts'

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
  })
})

/** A read of the spend, which names no model. */
const page: Sent = {
  ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
  answer: '{"spend": 0}',
}

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

/** A row of a request that was sent some seconds after its run began, and took 100 ms. */
const sentAt = (seconds: number): NonNullable<Sent['ended']> => {
  const us = seconds * 1e6
  return {
    ...{ intendedUs: us, dispatchedUs: us, sentUs: us },
    ...{ headersUs: us + 1e3, doneUs: us + 1e5, closedUs: us + 1e5 },
  }
}

describe('the clock of a log', () => {
  const at = (nth: number, aheadS: number) => novemberUs / 1000 + (nth + aheadS) * 1000
  const many = ['a', 'b', 'c'].map(chat)
  const found = async (
    startTime: (nth: number) => string,
    sent: readonly Sent[] = many,
    contract = contractOf(),
  ) => {
    const rows = many.map((_, nth) => ({
      ...row('abc'[nth]!, 0.00014, nth),
      startTime: startTime(nth),
    }))
    return (await audited(sent, null, { log: rows, contract }))['PRICE-05']!
  }
  const local = (nth: number, hours: number) =>
    new Date(at(nth, hours * 3600)).toISOString().replace('Z', '').replace('T', ' ')

  test.each([2, -5, 5.5])(
    'without a zone may be that of any, such as %d hours ahead',
    async (hours) => {
      expect(await found((nth) => local(nth, hours))).toMatchObject({
        verdict: 'pass',
        note: `joined by id; its times have no zone, and are ${Math.abs(hours) * 60} minutes ${hours > 0 ? 'ahead of' : 'behind'} UTC`,
      })
    },
  )

  test('without a zone is wrong if not all of its times are of one, and the others alone are told', async () => {
    const one = { verdict: 'fail', observed: expect.stringMatching(/^[^(]* \(1\); joined/) }
    expect(await found((nth) => local(nth, nth === 1 ? 3 : 2))).toMatchObject(one)
    expect(await found((nth) => local(nth, nth === 1 ? 2 : 0))).toMatchObject(one)
    expect((await found((nth) => local(nth, 0.11))).verdict).toBe('fail')
  })

  test('without a zone is none that no clock on earth has', async () => {
    expect((await found((nth) => local(nth, 0.25))).verdict).toBe('fail')
    expect((await found((nth) => local(nth, 5.75))).verdict).toBe('pass')
  })

  test('without a zone may be late by what the contract says', async () => {
    const slow = contractOf({
      evidence: {
        log: {
          ...{ cost: 'spend', id: 'request_id', model: 'model', at: 'startTime' },
          within: '10m',
        },
      },
    })
    const late = (nth: number) => local(nth, 2 + (8 + nth / 2) / 60)
    const isNote = expect.stringContaining('120 minutes ahead of UTC')
    expect(await found(late, many, slow)).toMatchObject({ verdict: 'pass', note: isNote })
    expect((await found(late)).verdict).toBe('fail')
  })

  test('without a zone may change with the summer time of a place', async () => {
    // On 2026-11-01, at 06:00 UTC, the clocks of New York went back from 4 hours behind UTC to 5.
    const sentS = [3600, 7200, 3 * 86_400]
    const sent = sentS.map((at, nth) => ({ ...many[nth]!, ended: sentAt(at) }))
    const clock = (hours: readonly number[]) => (nth: number) => local(sentS[nth]!, hours[nth]!)
    expect(await found(clock([-4, -4, -5]), sent)).toMatchObject({
      verdict: 'pass',
      note: expect.stringMatching(/have no zone, and are those of a place such as America\//),
    })
    // No clock changed before, or went forward, or by two hours.
    expect((await found(clock([-4, -5, -5]), sent)).verdict).toBe('fail')
    expect((await found(clock([-5, -5, -4]), sent)).verdict).toBe('fail')
    expect((await found(clock([-4, -4, -6]), sent)).verdict).toBe('fail')
  })

  test('with a zone is wrong if its times are those of another', async () => {
    const written = (nth: number) => new Date(at(nth, 7200)).toISOString()
    expect((await found(written)).verdict).toBe('fail')
  })

  test('may be apart from that of the client, as the Date of the answers shows', {
    tags: 'whole',
  }, async () => {
    const ahead = (nth: number) => new Date(at(nth, 300)).toISOString()
    const dated = many.map((each, nth) => ({
      ...each,
      headers: `date: ${new Date(at(nth, 300)).toUTCString()}`,
    }))
    expect((await found(ahead, dated)).verdict).toBe('pass')
    expect((await found(ahead)).verdict).toBe('fail')
    // A log that is not of the service's clock is still wrong.
    const before = (nth: number) => new Date(at(nth, -300)).toISOString()
    expect((await found(before, dated)).verdict).toBe('fail')
  })

  test('of the service says where a log ends, and which rows are of the run', {
    tags: 'whole',
  }, async () => {
    const aheadS = 300
    const dateOf = (nth: number) => `date: ${new Date(at(nth, aheadS)).toUTCString()}`
    const dated = (each: Sent, nth: number): Sent => ({ ...each, headers: dateOf(nth) })
    const timed = (nth: number) => ({
      ...row('abcdef'[nth]!, 0.00014, nth),
      startTime: new Date(at(nth, aheadS)).toISOString(),
    })
    // The log ends with the first three of six requests, the others of which came more than a minute later.
    const sparse = [
      ...['a', 'b', 'c'].map(chat),
      ...Array.from({ length: 80 }, () => page),
      ...['d', 'e', 'f'].map(chat),
    ].map(dated)
    const cut = await audited(sparse, null, { log: [0, 1, 2].map(timed) })
    expect(cut['PRICE-05']).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('before 3 of 6 requests with a cost'),
    })
    // Three minutes after the run by the service's clock is two minutes before it by the client's.
    const stray = (afterS: number) => ({
      ...row('other', 0.5, 9),
      startTime: new Date(at(3, aheadS + afterS)).toISOString(),
    })
    const beside = async (afterS: number) =>
      (await audited(many.map(dated), null, { log: [0, 1, 2].map(timed).concat(stray(afterS)) }))[
        'PRICE-05'
      ]!.verdict
    expect(await beside(0)).toBe('fail')
    expect(await beside(180)).toBe('pass')
    expect(await beside(-310)).toBe('pass')
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
