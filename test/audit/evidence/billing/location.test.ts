import { expect, test } from 'vitest'
import { tileOperations } from '../../../../src/audit/evidence/billing/balance-reading.ts'
import { certainPlace, placesOf } from '../../../../src/audit/evidence/billing/location.ts'
import { readTiles } from '../../../../src/audit/evidence/billing/tiles.ts'
import { seeded } from './histories.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

/** Charges of one credit 1,000 us apart, each taken 100 us after its call and 800 us before its end. */
const tookUs = 100
type Left = Partial<HistoryRow> & { readonly callUs: number; readonly endUs: number }
/** A credit taken at each of these moments, and attempts that may have cost it. */
function places(count: number, goneUs: readonly number[], left: readonly Left[], credits = 1) {
  const charges = Array.from({ length: count }, (_, at): HistoryRow => {
    const callUs = at * 1_000
    const gone = goneUs.filter((us) => us < callUs + tookUs).length * credits
    return {
      ...{ slot: at, callUs, endUs: callUs + 900, readUs: callUs + tookUs, effect: 'charge' },
      ...{ costCredits: 1, value: 1_000 - at - gone },
    }
  })
  const open = left.map(
    (each, at): HistoryRow => ({
      ...{ slot: count + at, effect: 'ambiguous', costCredits: 1, abandonment: 'aborted' },
      ...each,
    }),
  )
  const history = historyOf([...charges, ...open])
  const operations = tileOperations(history, { plain: 'after', stream: 'after' }, true)
  const { filled, faults } = readTiles(operations)
  const holes = [...filled, ...faults.flatMap((each) => (each.kind === 'hole' ? [each.hole] : []))]
  return placesOf(history, operations, holes).map(({ hole, fromUs, toUs, share }) => ({
    ...{ below: history.slot[hole.below], fromUs, toUs, share: Number(share.toFixed(3)) },
  }))
}
const stray = (of: ReturnType<typeof places>) => of.filter(({ share }) => share > 0.01)

test('a hole with no alternative keeps its own times and the whole share', () => {
  const hole = { above: 1, below: 2, credits: 1, fromUs: 5, toUs: 9 }
  expect(certainPlace(hole)).toEqual({ hole, fromUs: 5, toUs: 9, share: 1 })
})

test('a hole spans the times of the charges around it', () => {
  expect(places(8, [3_500], [])).toEqual([{ below: 4, fromUs: 3_000, toUs: 4_100, share: 1 }])
})

/** Calls of eight abandoned attempts. */
const calls = [2, 5, 9, 14, 20, 27, 35, 44].map((at) => at * 1_000)
const from = (lastedUs: (at: number) => number, more: Partial<HistoryRow> = {}) =>
  calls.map(
    (callUs, at): Left => ({ callUs: callUs + 300, endUs: callUs + 300 + lastedUs(at), ...more }),
  )

test.each([
  [
    'where each was charged at its call, with different durations',
    from((at) => 500 + ((at * 7) % 8) * 700),
    calls.map((us) => us + 400),
    [[33, 1]],
  ],
  [
    'where each was charged when it was aborted',
    from((at) => 500 + ((at * 7) % 8) * 700),
    calls.map((us, at) => us + 400 + 500 + ((at * 7) % 8) * 700),
    [
      [33, 0.982],
      [30, 0.014],
    ],
  ],
  [
    'where each was charged three milliseconds after its call',
    from((at) => 500 + ((at * 7) % 8) * 700),
    calls.map((us) => us + 3_400),
    [[33, 1]],
  ],
])('the credit that no attempt took is the likeliest stray one, %s', (_, left, goneUs, shares) => {
  // One extra credit was taken at 32,500 us.
  const found = places(
    60,
    [...goneUs, 32_500].sort((a, b) => a - b),
    left,
  )
  expect(stray(found).map(({ below, share }) => [below, share])).toEqual(shares)
  expect(found).toHaveLength(9)
  expect([found[0]!.fromUs, found[0]!.toUs]).toEqual([32_000, 33_100])
})

/**
 * Requests that may overlap. The service charges plain timeouts 5 ms after their calls, aborted
 * streams when they are aborted, and some successes that show no value; plus one extra credit, or
 * many.
 */
function mixed(takenAtUs: 'call' | 'end', strayCredits: number, seed: number) {
  const random = seeded(seed)
  const pick = (below: number) => Math.floor(random() * below)
  const rows: (HistoryRow & { readonly goneUs: number | null })[] = []
  for (let at = 0; at < 90; at++) {
    const callUs = at * 2_500 + pick(900)
    const endUs = callUs + 1_000 + pick(2_000)
    const costCredits = 1 + pick(2)
    const common = { slot: at, callUs, endUs, costCredits, step: 0 }
    const goneUs = takenAtUs === 'call' ? callUs + 20 + pick(30) : endUs - 20 - pick(30)
    if (at % 9 === 4) {
      const more = { effect: 'ambiguous', abandonment: 'timeout' } as const
      rows.push({ ...common, ...more, endUs: callUs + 9_000, goneUs: callUs + 5_000 + pick(200) })
    } else if (at % 11 === 7) {
      const more = { effect: 'ambiguous', abandonment: 'aborted', streamed: true } as const
      rows.push({ ...common, ...more, goneUs: at % 2 === 0 ? endUs + 300 + pick(100) : null })
    } else
      rows.push({ ...common, effect: 'charge', goneUs, ...(at % 13 === 6 ? { value: -1 } : {}) })
  }
  const changes = [
    ...rows.map((row) => ({ row, atUs: row.goneUs ?? Infinity, credits: row.costCredits })),
    { row: null, atUs: 111_000, credits: strayCredits },
  ].sort((a, b) => a.atUs - b.atUs)
  let balance = 1_000
  const values = new Map<number, number>()
  for (const { row, credits } of changes) {
    balance -= credits
    if (row?.effect === 'charge' && row.value !== -1) values.set(row.slot, balance)
  }
  const history = historyOf(
    rows.map(({ value: _, goneUs: __, ...row }) => ({
      ...row,
      ...(values.has(row.slot) ? { value: values.get(row.slot)! } : {}),
    })),
  )
  const operations = tileOperations(history, { plain: 'after', stream: 'after' }, true)
  const { filled, faults } = readTiles(operations)
  const holes = [...filled, ...faults.flatMap((each) => (each.kind === 'hole' ? [each.hole] : []))]
  return placesOf(history, operations, holes).map(({ hole, fromUs, toUs, share }) => [
    hole.below,
    hole.credits,
    fromUs,
    toUs,
    Number(-Math.log(share).toFixed(2)),
  ])
}
/** Row below each hole, its credits and times, and the exponent of its share. */
test.each([
  [
    'a credit by the order of calls',
    'call',
    1,
    3,
    '46 2 110731 117861 0.01; 43 2 105010 109910 5.32; 52 2 125774 132905 7.69; 64 2 157556 163259 7.69; 86 1 207758 216800 7.69; 20 3 42916 53168 7.69; 15 2 35792 39301 10.17; 60 2 148070 152226 10.62; 34 2 82996 87832 11.36; 79 1 195691 200119 11.36; 87 2 215256 220125 11.36; 25 1 60492 64439 11.36; 33 1 75115 84552 11.36; 70 2 172852 176846 11.36; 72 1 175069 182820 11.36; 8 3 13248 21017 11.36',
  ],
  [
    'two credits by the order of ends',
    'end',
    2,
    23,
    '44 2 107670 111503 0.01; 46 2 110114 116529 5.27; 41 1 98389 105090 16.81; 72 2 175210 182117 16.85; 52 1 125207 132920 21.47; 63 1 152966 159795 23.66; 8 3 12691 22695 23.66; 20 3 42996 51688 23.66; 87 1 215653 220494 24.24; 60 1 148048 152525 24.24; 69 1 170120 174936 24.24; 78 1 192735 197882 24.24; 24 2 58259 62734 24.24; 33 3 75132 84173 24.24; 15 2 35263 39252 24.24; 86 1 207821 217027 27.9',
  ],
  [
    'many credits, of which at most 64 are matched',
    'call',
    90,
    5,
    '87 1 215052 220241 0.78; 46 91 110450 116845 0.78; 86 1 208013 217986 2.52; 43 2 105095 109956 7.03; 78 2 192528 197294 7.34; 33 3 75227 85255 11.14; 69 2 170537 174152 13.3; 8 4 12517 22430 14.32; 61 1 150454 154970 16.75; 16 1 37782 42544 17.42; 20 3 42544 51786 17.49; 52 1 125691 132600 18.82; 25 1 60705 64630 19.68; 63 2 152952 159356 26.22; 72 1 175178 182868 27.23',
  ],
] as const)('every hole gets its share: %s', (_, takenAtUs, credits, seed, found) => {
  const rows = mixed(takenAtUs, credits, seed).map((each) => each.join(' '))
  expect(rows.join('; ')).toBe(found)
})
