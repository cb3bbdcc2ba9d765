import { expect, test } from 'vitest'
import {
  type BalanceGap,
  readIntervals,
} from '../../../../src/audit/evidence/billing/charge-intervals.ts'
import { type BalanceHistory, effects } from '../../../../src/audit/evidence/billing/history.ts'
import { intervalOperations } from '../../../../src/audit/evidence/billing/interval-operations.ts'
import { placesOf } from '../../../../src/audit/evidence/billing/location.ts'
import type { Operations } from '../../../../src/audit/evidence/billing/operations.ts'
import { certainPlace } from '../../../../src/audit/evidence/billing/place.ts'
import { seeded } from './histories.ts'
import { type HistoryRow, historyOf } from './made-history.ts'
import { searchedCost } from './searched-cost.ts'

/** Charges of one credit 1,000 us apart, each taken 100 us after its call and 800 us before its end. */
const tookUs = 100
function balanceGapsOf(history: BalanceHistory) {
  const operations = intervalOperations(
    history,
    { plain: 'after', stream: 'after' },
    { placeStreams: true },
  )
  const { filled, conflicts } = readIntervals(operations)
  return {
    operations,
    balanceGaps: [
      ...filled,
      ...conflicts.flatMap((each) => (each.kind === 'balance-gap' ? [each.balanceGap] : [])),
    ],
  }
}

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
  const { operations, balanceGaps } = balanceGapsOf(history)
  return placesOf(history, operations, balanceGaps).map(({ balanceGap, fromUs, toUs, share }) => ({
    ...{ below: history.slot[balanceGap.below], fromUs, toUs, share: Number(share.toFixed(3)) },
  }))
}
const stray = (of: ReturnType<typeof places>) => of.filter(({ share }) => share > 0.01)

test('a balance gap with no alternative keeps its own times and the whole share', () => {
  const balanceGap = { above: 1, below: 2, credits: 1, fromUs: 5, toUs: 9 }
  expect(certainPlace(balanceGap)).toEqual({ balanceGap, fromUs: 5, toUs: 9, share: 1 })
})

test('a balance gap spans the times of the charges around it', () => {
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
  return history
}

const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)
/** Of an even count the upper one. */
const median = (numbers: readonly number[]) => sorted(numbers)[Math.floor(numbers.length / 2)]!
type Times = { readonly fromUs: number; readonly toUs: number }
const middle = ({ fromUs, toUs }: Times) => (fromUs + toUs) / 2

/** When each balance gap came about: the medians of three charges above it and below it, within its own times. */
function timesOf(
  { size, callUs, untilUs, after, certain }: Operations,
  balanceGaps: readonly BalanceGap[],
) {
  const seen = Array.from({ length: size }, (_, row) => row)
    .filter((row) => certain[row] === 1 && after[row]! >= -Infinity)
    .toSorted((a, b) => after[b]! - after[a]!)
  const apart = (us: Float64Array) =>
    median(seen.flatMap((row, at) => (at === 0 ? [] : [Math.abs(us[row]! - us[seen[at - 1]!]!)])))
  const us = apart(untilUs) < apart(callUs) ? untilUs : callUs
  return balanceGaps.map(({ below, fromUs, toUs }): Times => {
    const at = seen.indexOf(below)
    const sides = [seen.slice(0, at).slice(-3), seen.slice(at).slice(0, 3)].map((rows) =>
      sorted([fromUs, toUs, median(rows.map((row) => us[row]!))]),
    )
    // The middle of three lies within the other two.
    const [one, other] = sides.map((three) => three[1]!)
    return { fromUs: Math.min(one!, other!), toUs: Math.max(one!, other!) }
  })
}

/** The delay by which most of some moments have a balance gap: all windows are tried, at each delay and of each width. */
function habitOf(anchorsUs: readonly number[], gapsUs: readonly number[]) {
  const delays = sorted(
    anchorsUs.flatMap((us) =>
      gapsUs.flatMap((gapUs) => (gapUs >= us - 20_000 ? [gapUs - us] : [])),
    ),
  )
  let habit = { delayUs: 0, scaleUs: 1, hits: 0 }
  let best = 0
  for (const widthUs of [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]) {
    const byChance = (anchorsUs.length * gapsUs.length * widthUs) / (gapsUs.at(-1)! - gapsUs[0]!)
    for (const from of new Set(delays)) {
      const within = delays.filter((us) => us >= from && us <= from + widthUs)
      const hits = within.length - byChance
      const score = hits - 4 * Math.sqrt(byChance)
      if (score <= 1.1 * best) continue
      best = score
      // The middle of the delays from the first of these to the first behind them.
      const first = delays.indexOf(from)
      const delayUs = delays[Math.floor((2 * first + within.length) / 2)]!
      habit = { delayUs, scaleUs: widthUs / 4, hits }
    }
  }
  return habit
}

/** The share of each balance gap by the best of all matchings of its credits with the moments of attempts. */
function searchedShares(
  history: BalanceHistory,
  operations: Operations,
  balanceGaps: readonly BalanceGap[],
) {
  const times = timesOf(operations, balanceGaps)
  const units = balanceGaps
    .flatMap(({ credits }, of) =>
      Array.from({ length: Math.min(64, Math.ceil(credits)) }, () => ({ ...times[of]!, of })),
    )
    .toSorted((a, b) => middle(a) - middle(b))
  const { callUs, endUs, effect, abandonment, streamed } = history
  const open = Array.from({ length: history.size }, (_, row) => row).filter(
    (row) =>
      effect[row] === effects.ambiguous ||
      (effect[row] === effects.charge && Number.isNaN(operations.after[row]!)),
  )
  const kinds = Map.groupBy(open, (row) => `${effect[row]} ${abandonment[row]} ${streamed[row]}`)
  const predictions = [...kinds.values()]
    .flatMap((rows) => {
      const [byCall, byEnd] = [callUs, endUs].map((us) =>
        habitOf(
          rows.map((row) => us[row]!),
          units.map(middle),
        ),
      )
      const isByCall = byCall!.hits >= byEnd!.hits
      const { delayUs, scaleUs, hits } = isByCall ? byCall! : byEnd!
      const share = sorted([0.02, hits / rows.length, 0.98])[1]!
      return rows.flatMap((row) =>
        Array.from({ length: operations.costCredits[row]! }, () => ({
          ...{ atUs: (isByCall ? callUs : endUs)[row]! + delayUs, scaleUs, share },
        })),
      )
    })
    .toSorted((a, b) => a.atUs - b.atUs)
  const costs = balanceGaps.map((_, of) =>
    Math.min(
      ...units.flatMap((unit, at) =>
        unit.of === of ? [searchedCost(units, predictions, at)] : [],
      ),
    ),
  )
  const weights = costs.map((cost) => Math.exp(Math.min(...costs) - cost))
  const total = weights.reduce((sum, weight) => sum + weight)
  return balanceGaps.map((balanceGap, of) => ({
    balanceGap,
    ...times[of]!,
    share: weights[of]! / total,
  }))
}

function expectSearched(history: BalanceHistory) {
  const { operations, balanceGaps } = balanceGapsOf(history)
  const found = placesOf(history, operations, balanceGaps)
  const searched = searchedShares(history, operations, balanceGaps)
  expect(found.map(({ share }) => share)).toEqual(
    found.map(({ share }) => share).toSorted((a, b) => b - a),
  )
  const byGap = new Map(found.map((place) => [place.balanceGap, place]))
  for (const { balanceGap, fromUs, toUs, share } of searched) {
    const place = byGap.get(balanceGap)!
    expect([place.fromUs, place.toUs]).toEqual([fromUs, toUs])
    expect(Math.log(place.share)).toBeCloseTo(Math.log(share), 6)
  }
  expect(found).toHaveLength(balanceGaps.length)
  return found
}

test.each([
  ['a credit by the order of calls', 'call', 1, 3],
  ['two credits by the order of ends', 'end', 2, 23],
  ['many credits, of which no more than 64 are matched', 'call', 90, 5],
] as const)(
  'every balance gap has the share that the best of all matchings gives it: %s',
  (_, takenAtUs, credits, seed) => {
    const found = expectSearched(mixed(takenAtUs, credits, seed))
    // The credits more went at 111 ms; where they are many, another balance gap may be as likely.
    const likely = found.filter(({ share }) => share > 1 / 3).map(({ balanceGap }) => balanceGap)
    expect(likely.some(({ fromUs, toUs }) => fromUs <= 111_000 && 111_000 <= toUs)).toBe(true)
  },
)

/** A few requests that lie on each other, charged at any of their moments, some of them left, and a credit more. */
function crossed(seed: number) {
  const random = seeded(seed)
  const pick = (below: number) => Math.floor(random() * below)
  const isRegular = pick(4) === 0
  const taken = ['call', 'end', 'any'][pick(3)]!
  const count = 12 + pick(12)
  const planned = Array.from({ length: count }, (_, slot) => {
    const callUs = isRegular ? slot * 700 : pick(16_000)
    const tookUs = isRegular ? 3_000 : 300 + pick(5_000)
    const near = 1 + pick(40)
    const atUs = taken === 'call' ? near : taken === 'end' ? tookUs - near : 1 + pick(tookUs - 2)
    const effect = slot % 4 === 3 ? ('ambiguous' as const) : ('charge' as const)
    return {
      ...{ slot, callUs, endUs: callUs + tookUs, effect, costCredits: 1 + pick(2) },
      ...{ goneUs: callUs + atUs, isShown: effect === 'charge' && pick(8) > 0 },
      ...(effect === 'ambiguous'
        ? { abandonment: 'aborted' as const, streamed: pick(2) === 0 }
        : {}),
    }
  })
  const strayUs = pick(16_000)
  let balance = 1_000
  const values = new Map<number, number>()
  const changes = [
    ...planned.map((row) => ({ atUs: row.goneUs, credits: row.costCredits, row })),
    { atUs: strayUs, credits: 1, row: null },
  ].toSorted((a, b) => a.atUs - b.atUs)
  for (const { credits, row } of changes) {
    if (row?.effect === 'ambiguous' && row.slot % 3 === 0) continue
    balance -= credits
    if (row?.isShown) values.set(row.slot, balance)
  }
  return historyOf(
    planned.map(({ goneUs: _, isShown: __, ...row }) => ({
      ...row,
      ...(values.has(row.slot) ? { value: values.get(row.slot)! } : {}),
    })),
  )
}

test('every balance gap has the times and the share that a search gives it, over 150 histories', () => {
  let withHoles = 0
  for (let seed = 0; seed < 150; seed++) {
    const history = crossed(seed)
    if (balanceGapsOf(history).balanceGaps.length === 0) continue
    expectSearched(history)
    withHoles++
  }
  expect(withHoles).toBeGreaterThan(100)
})

/** Twenty attempts, three seconds apart, each charged at any moment of so many us, and a credit more. */
function scattered(widthUs: number) {
  const random = seeded(widthUs)
  const rows: (HistoryRow & { readonly goneUs: number })[] = []
  for (let nth = 0; nth < 20; nth++) {
    const callUs = nth * 3_000_000
    const goneUs = callUs + widthUs + Math.floor(random() * 0.9 * widthUs)
    rows.push({
      ...{ slot: rows.length, callUs, endUs: callUs + 10, effect: 'ambiguous', costCredits: 1 },
      ...{ abandonment: 'aborted', goneUs },
    })
    for (let at = 1; at < 24; at++) {
      const atUs = callUs + (at * widthUs) / 8 + 20
      rows.push({
        ...{ slot: rows.length, callUs: atUs, endUs: atUs + 5, effect: 'charge', costCredits: 1 },
        goneUs: atUs + 2,
      })
    }
  }
  // A credit more goes 2.5 widths after the eighth call.
  const goneUs = [...rows.map((row) => row.goneUs), 21_000_000 + 2.5 * widthUs].toSorted(
    (a, b) => a - b,
  )
  return historyOf(
    rows.map(({ goneUs: atUs, ...row }) =>
      row.effect === 'charge'
        ? { ...row, value: 1_000 - goneUs.filter((us) => us <= atUs).length }
        : row,
    ),
  )
}

test.each([100, 300, 1_000, 3_000, 10_000, 30_000, 100_000])(
  'charges that scatter over %i us are as likely as a search finds them',
  (widthUs) => {
    const history = scattered(widthUs)
    const [likeliest] = expectSearched(history)
    expect(likeliest!.fromUs).toBeGreaterThan(21_000_000)
    expect(likeliest!.toUs).toBeLessThan(24_000_000)
  },
)

test('a part of a credit may be stray, too', () => {
  const charge = (slot: number, value: number): HistoryRow => ({
    ...{ slot, callUs: slot * 1_000, endUs: slot * 1_000 + 900, effect: 'charge' },
    ...{ costCredits: 1, value },
  })
  const history = historyOf([charge(0, 99), charge(1, 97.5), charge(2, 96.5), charge(3, 94.5)])
  const { operations, balanceGaps } = balanceGapsOf(history)
  expect(balanceGaps.map(({ credits }) => credits)).toEqual([0.5, 1])
  // Nothing was left that may have taken either.
  expect(placesOf(history, operations, balanceGaps).map(({ share }) => share)).toEqual([0.5, 0.5])
})
