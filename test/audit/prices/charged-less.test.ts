import { describe, expect, test } from 'vitest'
import { takenLess } from '../../../src/audit/evidence/prices/charged-less.ts'
import type { ReadingStretch } from '../../../src/audit/evidence/prices/stretches.ts'
import { type Rational, rational, zero } from '../../../src/money/rational.ts'
import type { PriceJudge } from '../../../src/price/judge/price-judge.ts'
import { audited, chat, contractOf, row, type Sent } from './paid.ts'

/** Charges below the price list in the order of time: an allowance of free requests, and a discount for volume. */

const evidence = {
  cost: [{ header: 'x-cost' }],
  balance: { get: '/key/info', value: 'spend', moves: 'up' },
  log: { cost: 'spend', id: 'request_id', model: 'model', at: 'startTime' },
}
const contract = contractOf({ evidence })
const page = (spend: number): Sent => ({
  ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
  answer: `{"spend": ${spend.toFixed(6)}}`,
})
const price = 0.00014

/** Every place shows these costs, and the spend takes others if they are given; a page of it is read before each so many. */
async function play(
  costs: readonly number[],
  {
    every = 1,
    takes = costs,
    by = contract,
    startS = 0,
    everyS = 1,
  }: {
    every?: number
    takes?: readonly number[]
    by?: ReturnType<typeof contractOf>
    startS?: number
    /** Seconds between a request, or a reading, and the next. */
    everyS?: number
  } = {},
) {
  let spend = 0
  const sends = costs.flatMap((cost, nth) => {
    const before = nth % every === 0 ? [page(spend)] : []
    spend += takes[nth]!
    const sent = { ...chat(`id-${nth}`), headers: `x-cost: ${cost.toFixed(6)}` }
    return [...before, { ...sent, body: `{"model":"big","messages":"Hello ${nth}"}` }]
  })
  const at = sends.flatMap(({ id }, slot) => (id === undefined ? [] : [slot]))
  const log = costs.map((cost, nth) => row(`id-${nth}`, cost, startS + everyS * at[nth]!))
  const timed = [...sends, page(spend)].map((sent, slot) => {
    const us = (startS + everyS * slot) * 1e6
    const began = { intendedUs: us, dispatchedUs: us, sentUs: us }
    const over = { headersUs: us + 1e3, doneUs: us + 1e5, closedUs: us + 1e5 }
    return { ...sent, ended: { ...began, ...over } }
  })
  return audited(timed, null, { log, contract: by })
}
const rules = ['PRICE-03', 'PRICE-04', 'PRICE-06', 'PRICE-08'] as const
const verdicts = (found: Awaited<ReturnType<typeof play>>) =>
  rules.map((rule) => found[rule]!.verdict)
const times = (count: number, cost: number) => Array.from({ length: count }, () => cost)
const inconclusive = times(4, 0).map(() => 'inconclusive')

describe('free requests a day', () => {
  test.each([1, 4])('are no fault of the service, read every %d requests', async (every) => {
    const found = await play([...times(5, 0), ...times(7, price)], { every })
    expect(verdicts(found)).toEqual(inconclusive)
    for (const rule of rules)
      expect(found[rule]).toMatchObject({
        why: expect.stringContaining('the first 5 requests of a day cost nothing'),
      })
  })

  test('may pay a part of the request after them', async () => {
    expect(verdicts(await play([...times(5, 0), 0.00006, ...times(7, price)]))).toEqual(
      inconclusive,
    )
  })

  test('excuse no balance that takes more than the price list says', async () => {
    const costs = [...times(5, 0), ...times(7, price)]
    const found = await play(costs, { takes: times(12, 2 * price) })
    expect(verdicts(found)).toEqual(['inconclusive', 'inconclusive', 'fail', 'fail'])
    expect(found['PRICE-08']).toMatchObject({ observed: expect.stringContaining('what was taken') })
  })

  test.each([
    ['are charges that are missing if they are in no order', [2, 5, 9]],
    ['are charges that are missing if they are the last ones', [8, 9, 10, 11]],
    ['are a missing charge if it is one', [0]],
  ])('%s', async (_, free) => {
    const found = await play(times(12, price).map((cost, nth) => (free.includes(nth) ? 0 : cost)))
    expect([_, verdicts(found)]).toEqual([_, times(4, 0).map(() => 'fail')])
  })

  test('are a fault if each is free', async () => {
    const found = await play(times(12, 0))
    expect(found['PRICE-03']).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining('free'),
    })
    expect(found['PRICE-06']!.verdict).toBe('fail')
  })

  // The run begins twelve seconds before 09:15 UTC, which is midnight where the clock is 14:45 ahead or 9:15 behind.
  const startS = 9 * 3600 + 15 * 60 - 12

  test.each([
    ['and end before the run does', [...times(6, price), ...times(4, 0), ...times(6, price)]],
    ['and end after the run', [...times(6, price), ...times(8, 0)]],
  ])('may begin anew within the run, %s', async (_, costs) => {
    const found = await play(costs, { startS })
    expect(verdicts(found)).toEqual(inconclusive)
    expect(found['PRICE-03']).toMatchObject({
      why: expect.stringMatching(/the first \d requests of a day cost nothing/),
    })
  })

  test('do not begin anew within a quarter of an hour', async () => {
    const costs = [...times(6, price), ...times(4, 0), ...times(6, price)]
    expect(verdicts(await play(costs, { startS: startS + 60 }))).toEqual(
      times(4, 0).map(() => 'fail'),
    )
  })

  test('may be more than were sent where the contract says that some are free', async () => {
    const open = contractOf({ evidence, allowance: 'open' })
    const found = await play(times(12, 0), { by: open })
    expect(verdicts(found)).toEqual(inconclusive)
    expect(found['PRICE-03']).toMatchObject({
      why: expect.stringContaining('all 12 requests cost nothing: an allowance'),
    })
  })

  const open = contractOf({ evidence, allowance: 'open' })

  test.each([
    ['one is left', [0, ...times(5, price)], 1],
    ['the last pays a part', [...times(3, 0), price / 2], 1],
    ['a balance is read before and after', [...times(5, 0), ...times(7, price)], 12],
    ['there are few', [...times(3, 0), ...times(3, price)], 1],
  ])('that the contract leaves open are no fault if %s', async (_, costs, every) => {
    expect([_, verdicts(await play(costs, { by: open, every }))]).toEqual([_, inconclusive])
  })

  test.each([
    ['in no order', [price, 0, price, price, 0, price, price, 0, price]],
    ['at the end', [...times(6, price), ...times(3, 0)]],
    ['and each costs a half', times(9, price / 2)],
  ])('that the contract leaves open are lost charges %s', async (_, costs) => {
    expect([_, verdicts(await play(costs, { by: open }))]).toEqual([
      _,
      times(4, 0).map(() => 'fail'),
    ])
  })

  test.each([
    ['an hour', 300, [...times(2, 0), ...times(10, price)]],
    ['a day', 7200, [...times(3, 0), ...times(9, price)]],
  ])('are as likely in a run of %s as in a short one', async (_, everyS, costs) => {
    expect([_, verdicts(await play(costs, { everyS, startS: 60, every: 12 }))]).toEqual([
      _,
      ['inconclusive', 'inconclusive', 'fail', 'inconclusive'],
    ])
  })

  // From a quarter of an hour on, in some zone a day begins.
  test.each([
    ['half of the charges are lost', [0, price / 2, 0, price / 2, 0, price / 2, price / 2]],
    ['a part comes first', [price / 2, 0, 0, 0, 0, 0, 0]],
  ])('are no new day if %s', async (_, costs) => {
    const found = await play([...times(6, price), ...costs], { startS })
    expect([_, verdicts(found)]).toEqual([_, times(4, 0).map(() => 'fail')])
  })

  test('of a whole day are lost if the next day begins with charges', async () => {
    const costs = [...times(8, price), ...times(8, 0), ...times(8, price)]
    const found = await play(costs, { everyS: 5400, startS: 4 * 3600 })
    expect(verdicts(found)).toEqual(times(4, 0).map(() => 'fail'))
  })

  // A day begins before the last request of the third stretch.
  test.each([
    ['two of a stretch before it are lost', [8, 9], 'fail'],
    ['the one after it is free', [11], 'inconclusive'],
  ])('over a midnight are judged by it: %s', async (_, free, verdict) => {
    const listed = [...times(4, 0), ...times(12, price)]
    const costs = listed.map((cost, nth) => (free.includes(nth) ? 0 : cost))
    const found = await play(costs, { every: 4, startS: startS - 2 })
    expect([_, found['PRICE-06']!.verdict]).toEqual([_, verdict])
  })

  test('are a fault where the contract says that none are free', async () => {
    const none = contractOf({ evidence, allowance: 'none' })
    const costs = [...times(5, 0), ...times(7, price)]
    expect(verdicts(await play(costs, { by: none }))).toEqual(times(4, 0).map(() => 'fail'))
  })

  test('excuse no later charge that is too high', async () => {
    const found = await play([...times(5, 0), ...times(6, price), 2 * price])
    expect(verdicts(found)).toEqual(times(4, 0).map(() => 'fail'))
  })
})

describe('a discount for what was used before', () => {
  const dearer = [...times(6, price), ...times(6, 1.25 * price)]

  test.each([1, 3])('is no fault of the service, read every %d requests', async (every) => {
    const found = await play([...times(6, price), ...times(6, 0.8 * price)], { every })
    expect(verdicts(found)).toEqual(inconclusive)
    expect(found['PRICE-03']).toMatchObject({
      why: expect.stringMatching(
        /charged less than listed from 2026-11-\d\d \d\d:\d\d:\d\d UTC on/,
      ),
    })
  })

  test('is none if another model of the contract has the price, whatever its name', async () => {
    const models = [
      { id: 'big', price: { input: 4, output: 20 } },
      { id: '0.5 times the cost', price: { input: 2, output: 10 } },
    ]
    const halved = [...times(6, price), ...times(6, 0.5 * price)]
    const found = await play(halved, { by: contractOf({ evidence, models }) })
    expect(found['PRICE-03']).toMatchObject({ verdict: 'fail' })
    expect(verdicts(found)).toEqual(times(4, 0).map(() => 'fail'))
  })

  test('is none if it charges more', async () => {
    expect(verdicts(await play(dearer))).toEqual(times(4, 0).map(() => 'fail'))
  })

  test('is a lower price if it is in no order', async () => {
    const mixed = times(12, price).map((cost, nth) => (nth % 3 === 1 ? 0.8 * cost : cost))
    expect(verdicts(await play(mixed))).toEqual(times(4, 0).map(() => 'fail'))
  })
})

test('what was taken beyond the costs needs no look at right stretches, and no cause', () => {
  const never = () => {
    throw new Error('this was not needed')
  }
  const one = rational(1n)
  const stretch = (taken: Rational, isRight: boolean) =>
    ({ taken, low: one, slack: zero, isRight, isWhole: false, requests: never }) as never
  const stretches: ReadingStretch[] = [stretch(one, true), stretch(rational(2n), false)]
  expect(takenLess(stretches, {} as PriceJudge, null, never)).toBe(null)
})
