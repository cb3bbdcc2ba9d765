import { expect, test } from 'vitest'
import { readConservation } from '../../../../src/audit/evidence/billing/conservation.ts'
import { isRare, lateCharges } from '../../../../src/audit/evidence/billing/late.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

const row = (
  effect: HistoryRow['effect'],
  fromS: number,
  toS: number,
  value?: number,
): HistoryRow => ({
  ...{ slot: 0, callUs: fromS * 1e6, endUs: toS * 1e6, effect },
  costCredits: effect === 'charge' ? 1 : 0,
  ...(value === undefined ? {} : { value }),
})
const read = (atS: number, value: number) => row('read', atS, atS + 0.01, value)
const charge = (atS: number, value?: number) => row('charge', atS, atS + 0.1, value)

/** Of values that are before their own charge. */
const lateIn = (rows: readonly HistoryRow[], conflictCount = 3) => {
  const history = historyOf(rows)
  const conservation = readConservation(history, () => false)
  return lateCharges(history, conservation, { conflictCount, placed: 10 })
}

/** A charge that comes 0.3 to 0.9 s after its response, and another that is missing when the balance was last read. */
const lastReadAt = (atS: number) => [
  ...[read(0, 100), charge(1), read(1.4, 100), read(2, 99)],
  ...[charge(10), read(atS, 99)],
]

test('a charge that is missing in the end may come as late as another came', () => {
  expect(lateIn(lastReadAt(11))).toEqual({
    settleUs: 1e6,
    doubt: expect.stringContaining('which lacks 1 credits, was read before all of them had'),
  })
})

test('a charge that is missing for four times the delay of another is lost', () => {
  expect(lateIn(lastReadAt(11.6))).toBeNull()
})

/** So many charges of which each comes 1 to 5 s late, and one more at the end; no value between is idle. */
const steady = (charges: number) => [
  read(0, 100),
  row('failure', 1, 199),
  ...Array.from({ length: charges }, (_, nth) => [
    charge(10 * nth + 10),
    read(10 * nth + 11, 100 - nth),
    read(10 * nth + 15, 99 - nth),
  ]).flat(),
  charge(199.2),
  read(199.6, 100 - charges),
]

test('eight values that are behind say that all charges are late', () => {
  expect(lateIn(steady(8))).toMatchObject({ settleUs: 1e6 })
})

test('the balance at the start, and values that lack nothing, are not behind', () => {
  expect(lateIn(steady(7))).toBeNull()
})

test('where the last idle value is that of a request, its own charge is known', () => {
  const rows = [read(0, 100), charge(1), read(1.4, 100), charge(10, 99)]
  expect(lateIn(rows)).toEqual({ settleUs: 0.5e6, doubt: null })
})

test('charges outside of the idle values leave a doubt', () => {
  const around = [charge(-9), read(0, 100), charge(1), read(1.4, 100), read(2, 99), charge(3)]
  expect(lateIn(around)).toMatchObject({
    settleUs: 0.5e6,
    doubt: expect.stringContaining('around 2 of the requests'),
  })
})

test('two contradictions are rare, and more are if they are at most one of two hundred values', () => {
  const isRareOf = (conflictCount: number, placed: number) => isRare({ conflictCount, placed })
  expect([isRareOf(2, 10), isRareOf(3, 10)]).toEqual([true, false])
  expect([isRareOf(5, 1000), isRareOf(6, 1000)]).toEqual([true, false])
})

test('without two idle values, two contradictions are single errors; with more, values were read before their charge', () => {
  const rows = [charge(1, 100), charge(1.05, 99)]
  expect([lateIn(rows, 2), lateIn(rows, 3)]).toEqual([
    null,
    { settleUs: 0, doubt: expect.stringContaining('around 2 of the requests') },
  ])
})
