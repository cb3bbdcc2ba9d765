import { expect, test } from 'vitest'
import { readAbandoned } from '../../../../../src/audit/evidence/billing/abandoned/read.ts'
import { tileOperations } from '../../../../../src/audit/evidence/billing/balance-reading.ts'
import { readConservation } from '../../../../../src/audit/evidence/billing/conservation.ts'
import { readTiles } from '../../../../../src/audit/evidence/billing/tiles.ts'
import { type HistoryRow, historyOf } from '../made-history.ts'

const read = (callUs: number, value: number): HistoryRow => ({
  ...{ slot: callUs, callUs, endUs: callUs + 10, effect: 'read', costCredits: 0, value },
})
const left = (callUs: number, more: Partial<HistoryRow> = {}): HistoryRow => ({
  ...{ slot: callUs, callUs, endUs: callUs + 10, effect: 'ambiguous', costCredits: 1 },
  ...{ abandonment: 'aborted', ...more },
})
const text = { contentEvents: 1 }
const streamed = { streamed: true }

function reading(rows: readonly HistoryRow[], fits: 'exact' | 'loose' | 'none' = 'exact') {
  const history = historyOf(rows)
  const operations = () => tileOperations(history, { plain: 'after', stream: 'after' }, true)
  const conservation = readConservation(history, () => true)
  return readAbandoned(history, readTiles(operations()), fits, conservation, operations)
}

/** An abandoned attempt before each read, and the value that each read shows. */
const between = (values: readonly number[], kinds: readonly Partial<HistoryRow>[]) => [
  read(0, 100),
  ...values.flatMap((value, at) => [left(50 + at * 100, kinds[at]), read(100 + at * 100, value)]),
]

test.each([
  ['none', [100, 100, 100], [{}, {}, {}], 0],
  ['all', [99, 98, 97], [{}, text, streamed], 0],
  ['attempts with text', [99, 98, 98], [text, { ...streamed, ...text }, streamed], 0],
  ['streams', [100, 99, 98], [text, { ...streamed, ...text }, streamed], 0],
  ['plain attempts', [99, 99, 98], [text, { ...streamed, ...text }, {}], 0],
  ['some by no policy', [99, 99, 99], [{}, {}, {}], 1],
  ['others by no policy', [99, 98, 98], [{}, {}, {}], 2],
] as const)(
  'the likeliest policy decides the open credits if a service charges %s',
  (_, values, kinds, open) => {
    expect(reading(between(values, kinds)).openCredits).toBe(open)
    expect(reading(between(values, kinds), 'loose').openCredits).toBe(open)
    expect(reading(between(values, kinds), 'none').openCredits).toBe(0)
  },
)

test('an attempt is charged no later than the longest response would have come', () => {
  const rows = (endUs: number) => [
    ...[read(0, 100), left(50), { ...read(60, 100), endUs }, read(200, 100), read(300, 99)],
  ]
  // It was called at 50 us; the credit was taken after 200 us.
  expect(reading(rows(70)).openCredits).toBe(1)
  expect(reading([...rows(70), left(301, { endUs: 450 })]).openCredits).toBe(1)
  // The longest response lasts 150 us, and a charge may be as late.
  expect(reading([...rows(70), left(301, { endUs: 451 })]).openCredits).toBe(0)
})

test('loose values leave no credit open if the balance fell by no more than its successes', () => {
  const rows = [read(0, 100), left(50), read(100, 101)]
  expect(reading(rows, 'loose').openCredits).toBe(0)
  // One value alone shows no fall.
  expect(reading([left(50), read(100, 99)], 'loose').openCredits).toBe(0)
})

test('attempts abandoned before the first value or after the last are not counted', () => {
  const rows = [left(-50, { costCredits: 3 }), ...between([99, 99], [{}, {}]), left(300)]
  expect(reading(rows, 'loose').openCredits).toBe(1)
  expect(reading(between([97], [{ costCredits: 3 }]), 'loose').openCredits).toBe(0)
})

/** This many abandoned attempts, of which only the last few are charged. */
const many = (count: number, charged: number) =>
  between(
    Array.from({ length: count }, (_, at) => 100 - Math.max(0, at + 1 + charged - count)),
    Array(count).fill({}),
  )

test.each([
  [49, 1, []],
  [50, 0, []],
  [50, 1, [1]],
  [50, 2, []],
  [99, 2, []],
  [100, 2, [1, 1]],
] as const)(
  'charges that fit no policy are stray up to one in fifty: %i abandoned attempts, %i charged',
  (count, charged, credits) => {
    const { stray, isProven, settled } = reading(many(count, charged))
    expect(stray.map((fault) => fault.kind === 'hole' && fault.unexplained)).toEqual(credits)
    expect(isProven()).toBe(false)
    expect(settled()).toEqual(null)
  },
)
