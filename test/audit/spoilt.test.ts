import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

/** Alternating reads and lone successes, with this many other requests on the account each time. */
function lone(others: readonly number[], more: Partial<AttemptRow> = {}): readonly AttemptRow[] {
  let [balance, counted] = [1_000, 0]
  return others.flatMap((made, at) => {
    const before = read(2 * at, 3 * at, balance, more)
    balance -= 1 + made
    counted += 1 + made
    const rate = { rateLimit: 60, rateRemaining: 60 - counted }
    const after = inFlight(2 * at + 1, 3 * at + 1, 3 * at + 2, balance, { ...rate, ...more })
    return [before, after]
  })
}
const without = { rateLimit: null, rateRemaining: null }
const nobody = [0, 0, 0, 0, 0]

test('other traffic that the rate limit counts is named, and no price is called wrong', {
  tags: 'whole',
}, async () => {
  const rows = lone([2, 0, 3, 1, 2])
  for (const rule of ['BILL-01', 'BILL-10', 'RATE-09']) {
    expect(await verdictOver(rule, rows)).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining(
        'X-RateLimit-Remaining counts 3 requests on account main that this run did not send',
      ),
    })
  }
})

test('extra counts only beside long answers, or failures at a gateway, may be its repeats', {
  tags: 'whole',
}, async () => {
  const made = [0, 2, 0, 0, 2, 0, 0]
  const end = (row: AttemptRow, atS: number) => {
    const us = atS * 1e6
    return { ...row, headersUs: us, doneUs: us, closedUs: us }
  }
  const rows = lone(made).map((row, at) =>
    row.endpoint === 'credits' || made[(at - 1) / 2]! > 0 ? row : end(row, 3 * (at >> 1) + 1.2),
  )
  const why =
    'each while one of its own failed at a gateway or took long, and the balance falls by more than its own cost: something between here and the service may have sent them again, and the charge may be that of the repeat'
  expect(await verdictOver('BILL-10', rows)).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining(why),
  })
  // Where short answers have them, too, others use the account.
  expect(await verdictOver('BILL-10', lone(made))).toMatchObject({
    verdict: 'inconclusive',
    why: expect.not.stringContaining('something between'),
  })
})

test('a success that costs too much fails if the rate limit counts no other traffic', {
  tags: 'whole',
}, async () => {
  const counted = lone([1, 0, 2, 1, 1]).map((row, at) =>
    row.rateLimit === null ? row : { ...row, rateRemaining: 60 - at },
  )
  expect(await verdictOver('BILL-01', counted)).toMatchObject({ verdict: 'fail' })
  expect(await verdictOver('BILL-01', lone([1, 0, 2, 1, 1], without))).toMatchObject({
    verdict: 'fail',
  })
  expect(await verdictOver('BILL-01', lone(nobody))).toMatchObject({ verdict: 'pass' })
})

test("credits that are lost while idle are no request's price, and make a pass inconclusive", {
  tags: 'whole',
}, async () => {
  const rows = [read(0, 0, 100), read(1, 1, 100), read(2, 2, 97), read(3, 3, 97), read(4, 4, 92)]
  const more = [inFlight(5, 5, 6, 91), inFlight(6, 7, 8, 90), read(7, 9, 90)]
  const why = 'account main lost 8 credits in 2 stretches in which this run sent nothing but reads'
  expect(await verdictOver('BILL-10', [...rows, ...more])).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining(why),
    witnesses: [{}, {}, { slot: 2 }, { slot: 4 }],
  })
  expect(await verdictOver('BILL-01', [...rows, ...more])).toEqual({
    verdict: 'inconclusive',
    observations: 2,
    why: `nothing is wrong in what was seen; but ${why}`,
    witnesses: expect.arrayContaining([]),
  })
})

test('a single loss of credits while idle is not taken for other traffic', async () => {
  const once = [read(0, 0, 100), read(1, 1, 100), read(2, 2, 97), read(3, 3, 97)]
  expect(await verdictOver('BILL-10', once)).toMatchObject({ verdict: 'fail' })
})

test("requests on the account's own list that the store lacks are named", {
  tags: 'whole',
}, async () => {
  const entries = (...ids: readonly string[]) =>
    ids.map((id, at) => ({
      at: new Date(1_000 * (at + 1)).toISOString(),
      credits: -1,
      request_id: id,
    }))
  const body = (slot: number, remaining: number, ...ids: readonly string[]) => ({
    runId: 'a',
    slot,
    retry: 0,
    headers: '',
    body: JSON.stringify({ remaining, ledger: { entries: entries(...ids) } }),
    truncated: false,
  })
  const template = {
    ...{ runId: 'a', template: 1, step: 'balance', method: 'GET', path: '/user/credits' },
    ...{ headers: '{}', body: null, prompt: null, intended: null },
  }
  const rows = [
    read(0, 0, 100, { template: 1 }),
    inFlight(1, 1, 2, 97, { responseId: 'chatcmpl-b2' }),
    inFlight(2, 3, 4, 96, { responseId: 'msg_c3' }),
    read(3, 5, 96, { template: 1 }),
  ]
  const listed = (...ids: readonly string[]) =>
    verdictOver('BILL-10', rows, {
      templates: [template] as never,
      bodies: [body(0, 100, 'a1'), body(3, 96, 'a1', ...ids)],
    })
  expect(await listed('b2', 'x7', 'x8', 'x9', 'c3')).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining(
      'lists requests of account main that no run in this store sent: x7, x8, x9',
    ),
  })
  // Ids of another kind are no evidence.
  expect(await listed('q1', 'q2', 'q3', 'q4', 'q5')).toMatchObject({ verdict: 'fail' })
  expect(await listed('b2', 'c3')).toMatchObject({ verdict: 'fail' })
})

test.each([
  ['one key', {}],
  ['two keys', { keyFp: 'another' }],
])(
  "two concurrent runs on one account, with %s, are not accused of each other's cost",
  { tags: 'whole' },
  async (_, more) => {
    const rows = (change: Partial<AttemptRow>) => lone([1, 1, 1, 1, 1], { ...without, ...change })
    const both = [...rows({ runId: 'a' }), ...rows({ runId: 'b', ...more })]
    expect(await verdictOver('BILL-10', both)).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('run b used account main at the same time'),
    })
  },
)

test('a run with a missing part leaves billing and limit rules inconclusive, and decides other rules', {
  tags: 'whole',
}, async () => {
  const ledger = { parts: { of: 3, present: 2 } }
  const why =
    'nothing is wrong in what was seen; but 1 of 3 parts of run a are missing or did not end, whose requests used its accounts, too'
  for (const rule of ['BILL-10', 'BILL-09', 'RATE-08']) {
    expect(await verdictOver(rule, lone(nobody), { ledger })).toMatchObject({
      verdict: 'inconclusive',
      why,
    })
    const whole = { parts: { of: 3, present: 3 } }
    expect(await verdictOver(rule, lone(nobody), { ledger: whole })).toMatchObject({
      verdict: 'pass',
    })
  }
  expect(await verdictOver('BILL-10', lone([1, 1, 1], without), { ledger })).toMatchObject({
    verdict: 'inconclusive',
  })
})

test('clock differences within the bound cause no failure and hide no double charge', {
  tags: 'whole',
}, async () => {
  // Two hosts: the clock of the second is half a second behind that of the first.
  const skewed = (double: number) =>
    Array.from({ length: 20 }, (_, at) => {
      const offS = at % 2 === 0 ? 0 : -0.5
      const balance = 100 - at - (at >= 9 ? double : 0)
      return inFlight(at, at * 0.3 + 2 + offS, at * 0.3 + 2.2 + offS, balance)
    })
  const rows = (double: number) => [read(30, 0, 101), ...skewed(double), read(31, 10, 81 - double)]
  const ledger = { clockErrorUs: 500_000 }
  expect(await verdictOver('BILL-11', rows(0), { ledger })).toMatchObject({ verdict: 'pass' })
  expect(await verdictOver('BILL-11', rows(1), { ledger })).toMatchObject({ verdict: 'fail' })
  expect(await verdictOver('BILL-10', rows(1), { ledger })).toMatchObject({ verdict: 'fail' })
})
