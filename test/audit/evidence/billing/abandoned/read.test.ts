import { expect, test } from 'vitest'
import { readAbandoned } from '../../../../../src/audit/evidence/billing/abandoned/read.ts'
import { readIntervals } from '../../../../../src/audit/evidence/billing/charge-intervals.ts'
import { readConservation } from '../../../../../src/audit/evidence/billing/conservation.ts'
import { intervalOperations } from '../../../../../src/audit/evidence/billing/interval-operations.ts'
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
  const operations = () =>
    intervalOperations(history, { plain: 'after', stream: 'after' }, { placeStreams: true })
  const conservation = readConservation(history, () => true)
  return readAbandoned(history, readIntervals(operations()), fits, conservation, operations)
}

/** An abandoned attempt before each read, and the value that each read shows. */
const between = (values: readonly number[], kinds: readonly Partial<HistoryRow>[]) => [
  read(0, 100),
  ...values.flatMap((value, at) => [left(50 + at * 100, kinds[at]), read(100 + at * 100, value)]),
]

test.each([
  ['none', [100, 100, 100, 100], [text, { ...streamed, ...text }, streamed, {}], 0],
  ['all', [99, 98, 97], [{}, text, streamed], 0],
  ['those with text', [99, 98, 98], [text, { ...streamed, ...text }, streamed], 0],
  [
    'those with text, of as many streams as plain ones',
    [99, 98, 98, 98, 98, 98],
    [text, { ...streamed, ...text }, streamed, streamed, {}, {}],
    0,
  ],
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

test('the longest response may be the first', () => {
  const rows = (endUs: number) => [
    ...[left(-200, { endUs }), read(0, 100), left(50), read(60, 100)],
    ...[{ ...read(200, 100), endUs: 201 }, read(300, 99)],
  ]
  // It was called at 50 us, and the credit went from 200 us on, 150 us later.
  expect(reading(rows(-51)).openCredits).toBe(1)
  expect(reading(rows(-50)).openCredits).toBe(0)
})

test('the first attempt of all has its policy, too', () => {
  expect(reading([left(-50), ...between([99, 99, 99], [{}, {}, {}])]).openCredits).toBe(1)
})

test('successes are none of what attempts that were left took', () => {
  const paid = (callUs: number, value: number): HistoryRow => ({
    ...left(callUs),
    effect: 'charge',
    abandonment: 'no',
    value,
  })
  const rows = [read(0, 100), paid(20, 99), left(50), read(100, 98), left(150), read(200, 98)]
  expect(reading(rows, 'loose').openCredits).toBe(1)
  expect(reading([...rows, left(250), read(300, 96)], 'loose').openCredits).toBe(0)
})

test('values that are loose leave nothing open where the balance did not fall by more than its successes', () => {
  const rows = [read(0, 100), left(50), read(100, 101)]
  expect(reading(rows, 'loose').openCredits).toBe(0)
  // One value alone shows no fall.
  expect(reading([left(50), read(100, 99)], 'loose').openCredits).toBe(0)
})

test('attempts abandoned before the first value or after the last are not counted', () => {
  const rows = [left(-50, { costCredits: 3 }), ...between([99, 99], [{}, {}]), left(300)]
  expect(reading(rows, 'loose').openCredits).toBe(1)
  // An attempt with text before the first value is no policy of those behind it.
  const early = [left(-50, text), ...between([99, 99], [{}, {}])]
  expect(reading(early, 'loose').openCredits).toBe(1)
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
    expect(
      stray.map((conflict) => conflict.kind === 'balance-gap' && conflict.unexplained),
    ).toEqual(credits)
    expect(isProven()).toBe(false)
    expect(settled()).toEqual(null)
  },
)

/** Attempts that were left, of these kinds by turns, and what each took. */
const taking = (
  count: number,
  kinds: readonly Partial<HistoryRow>[],
  credits: (at: number) => number,
) => {
  let balance = 100
  const values = Array.from({ length: count }, (_, at) => {
    balance -= credits(at)
    return balance
  })
  const all = values.map((_, at) => kinds[at % kinds.length]!)
  // A success that lasts four times as long shows that none had finished, a quick read that all were noticed.
  const success = { ...read(19_000, balance - 1), endUs: 19_040, costCredits: 1 }
  return [
    ...between(values, all),
    { ...success, effect: 'charge' as const },
    { ...read(19_500, balance - 1), endUs: 19_502 },
  ]
}
const isEven = (at: number) => Number(at % 2 === 0)

test('a credit that no policy explains is proven where one explains all others', () => {
  const clean = reading(taking(60, [text, {}], isEven))
  expect([clean.stray, clean.isProven(), clean.settled()]).toEqual([[], false, null])
  const { stray, isProven, settled } = reading(
    taking(60, [text, {}], (at) => isEven(at) + Number(at === 30)),
  )
  expect(stray).toMatchObject([{ kind: 'balance-gap', unexplained: 1 }])
  expect(isProven()).toBe(true)
  expect(settled()).toMatchObject({ credits: 1 })
})

test('few attempts are no proof of anything', () => {
  // The second was charged, and the last with text was not.
  const { stray, isProven, settled } = reading(
    taking(20, [text, {}], (at) => (at === 1 ? 1 : at === 18 ? 0 : isEven(at))),
  )
  expect([stray, isProven(), settled()]).toEqual([[], false, null])
})

test('where no kind was charged, one that was is stray', () => {
  const { stray } = reading(taking(60, [text, streamed, {}], (at) => Number(at === 30)))
  expect(stray).toMatchObject([{ kind: 'balance-gap', unexplained: 1 }])
})

test('balance gaps are stray where nothing else is wrong', () => {
  const withoutText = (at: number) => Number(at === 51)
  const { stray } = reading(taking(100, [text, {}], (at) => isEven(at) + withoutText(at)))
  expect(stray).toHaveLength(1)
  // One with text that was not charged finds no room.
  const other = reading(
    taking(100, [text, {}], (at) => (at === 40 ? 0 : isEven(at) + withoutText(at))),
  )
  expect(other.stray).toEqual([])
})

test('of two policies that leave as many balance gaps the first is taken: by text before by streams', () => {
  // One with text was charged, and one stream.
  const kinds = Array.from({ length: 50 }, (_, at) =>
    at === 10 ? text : at === 20 ? streamed : {},
  )
  const { stray } = reading(taking(50, kinds, (at) => Number(at === 10 || at === 20)))
  // Before each attempt there are a read and two rows for each earlier one.
  expect(stray).toMatchObject([
    { kind: 'balance-gap', balanceGap: { above: 2 * 20, below: 2 * 20 + 2 } },
  ])
})
