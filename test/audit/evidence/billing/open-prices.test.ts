import { expect, test } from 'vitest'
import type { AttemptRow } from '../../../../src/attempt/columns.ts'
import { inFlight, read } from '../../in-flight.ts'
import { verdictOver } from '../../verdict-over.ts'

/** What BILL-10 and BILL-11 say of rows after two lone reads of the balance, which show that these are free. */
async function verdictsOf(rows: readonly AttemptRow[]) {
  const all = [read(100, 0, 100), read(101, 0.5, 100), ...rows]
  const [sums, history] = [await verdictOver('BILL-10', all), await verdictOver('BILL-11', all)]
  return { sums: sums.verdict, history: history.verdict }
}

const models = (slot: number, fromS: number, toS: number, balance: number | null) =>
  inFlight(slot, fromS, toS, balance, { endpoint: 'models', model: null })

/** Three times a read of the models beside a success, the second read taking so much. */
const besideSuccesses = (second: number) => [
  inFlight(0, 1, 3.6, 99),
  models(1, 2, 4, 99),
  inFlight(2, 3.5, 5, 98),
  inFlight(3, 6, 8, 97),
  models(4, 7, 9, 97 - second),
  inFlight(5, 8.5, 10, 96 - second),
  inFlight(6, 11, 13, 95 - second),
  models(7, 12, 14, 95 - second),
  inFlight(8, 13.5, 15, 94 - second),
  read(9, 16, 94 - second),
]

test('a credit that one of three reads alone may have taken is a failure: a price is the same for all', async () => {
  expect(await verdictsOf(besideSuccesses(0))).toEqual({ sums: 'pass', history: 'pass' })
  expect(await verdictsOf(besideSuccesses(1))).toEqual({ sums: 'fail', history: 'fail' })
})

test('a service that charges a credit for each read of the models is not accused, seen alone or not', async () => {
  const charged = [
    inFlight(0, 1, 3.6, 99),
    models(1, 2, 4, 98),
    inFlight(2, 3.5, 5, 97),
    inFlight(3, 6, 8, 96),
    models(4, 7, 9, 95),
    inFlight(5, 8.5, 10, 94),
    inFlight(6, 11, 13, 93),
    models(7, 12, 14, 92),
    inFlight(8, 13.5, 15, 91),
    read(9, 16, 91),
  ]
  expect(await verdictsOf(charged)).toEqual({ sums: 'pass', history: 'pass' })
  const unseen = charged.map((row) =>
    row.endpoint === 'models' ? { ...row, creditsRemaining: null } : row,
  )
  expect(await verdictsOf(unseen)).toEqual({ sums: 'pass', history: 'pass' })
})

test('one read that may have cost the credit that is missing leaves it open', async () => {
  const rows = [
    inFlight(0, 1, 3.6, 99),
    models(1, 2, 4, 98),
    inFlight(2, 3.5, 5, 97),
    read(3, 6, 97),
  ]
  expect(await verdictsOf(rows)).toEqual({ sums: 'inconclusive', history: 'inconclusive' })
})

test('a read that was over takes no credit that is missing later', async () => {
  const rows = [
    inFlight(0, 1, 3.6, 99),
    models(1, 2, 4, null),
    inFlight(2, 3.5, 5, 98),
    inFlight(3, 6, 8, 97),
    inFlight(4, 7, 9, 95),
    read(5, 10, 95),
  ]
  expect(await verdictsOf(rows)).toEqual({ sums: 'fail', history: 'fail' })
})

test('credits that some of the attempts that were left alone can have taken, by no policy, are no pass', async () => {
  const left = (slot: number, fromS: number) =>
    inFlight(slot, fromS, fromS + 1, null, {
      outcome: 'aborted',
      reason: 'first-event',
      streamed: 1,
    })
  const rows = (taken: number) => [
    ...[0, 1, 2, 3].flatMap((at) => [
      left(2 * at, 1 + 3 * at),
      inFlight(2 * at + 1, 1.5 + 3 * at, 3 + 3 * at, 99 - at - Math.min(taken, at)),
    ]),
    inFlight(8, 12.5, 14, 95 - taken),
    inFlight(9, 13, 15, 94 - taken),
    read(10, 700, 94 - taken),
    read(11, 701, 94 - taken),
  ]
  expect(await verdictsOf(rows(0))).toEqual({ sums: 'pass', history: 'pass' })
  expect(await verdictsOf(rows(2))).toEqual({ sums: 'inconclusive', history: 'inconclusive' })
})
