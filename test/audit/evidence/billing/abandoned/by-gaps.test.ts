import { expect, test } from 'vitest'
import { isChargedWrongly } from '../../../../../src/audit/evidence/billing/abandoned/by-gaps.ts'
import { readIntervals } from '../../../../../src/audit/evidence/billing/charge-intervals.ts'
import { type BalanceHistory, effects } from '../../../../../src/audit/evidence/billing/history.ts'
import { intervalOperations } from '../../../../../src/audit/evidence/billing/interval-operations.ts'
import { seeded } from '../histories.ts'
import { type HistoryRow, historyOf } from '../made-history.ts'
import type { Operation } from '../made-operations.ts'
import { isLinearizable } from '../oracle.ts'

const meaning = { plain: 'after', stream: 'after' } as const

/** The accusation, with no bound on what the likeliest policy leaves unexplained. */
function accuses(history: BalanceHistory): boolean {
  const operations = intervalOperations(history, meaning, { placeStreams: true })
  const { conflictCount, uncertainCredits } = readIntervals(operations)
  if (conflictCount > 0) return true
  return isChargedWrongly(history, operations, uncertainCredits, Infinity)
}

/** A few charges and a few abandoned requests between two idle reads, with any credits missing. */
function smallHistory(random: () => number): BalanceHistory {
  const pick = (below: number) => Math.floor(random() * below)
  const rows: HistoryRow[] = []
  const planned = Array.from({ length: 2 + pick(3) + 1 + pick(3) }, (_, at) => {
    const callUs = 10 + pick(30)
    const tookUs = 2 + pick(14)
    const momentUs = callUs + 1 + pick(tookUs)
    return { at, callUs, endUs: callUs + tookUs, momentUs, isLeft: at > 2 && random() < 0.75 }
  }).sort((a, b) => a.momentUs - b.momentUs)
  let balance = 50
  for (const { at, callUs, endUs, momentUs, isLeft } of planned) {
    const costCredits = random() < 0.3 ? 2 : 1
    const common = { slot: at, callUs, endUs, costCredits, streamed: random() < 0.5 }
    if (isLeft) {
      if (random() < 0.4) balance -= costCredits
      rows.push({
        ...common,
        effect: 'ambiguous',
        abandonment: random() < 0.7 ? 'aborted' : 'timeout',
        contentEvents: pick(3),
      })
      continue
    }
    if (random() < 0.1) balance -= 1
    balance -= costCredits
    rows.push({
      ...common,
      effect: 'charge',
      value: balance,
      readUs: Math.max(momentUs, callUs + 1),
    })
  }
  const read = { effect: 'read', costCredits: 0 } as const
  rows.push({ ...read, slot: 90, callUs: 0, endUs: 1, value: 50 })
  rows.push({ ...read, slot: 91, callUs: 200, endUs: 201, value: balance })
  return historyOf(rows)
}

/** Whether any policy of each kind and any order of charges explain the values, by trying all. */
function someLegalServiceExplains(history: BalanceHistory): boolean {
  const {
    size,
    effect,
    callUs,
    endUs,
    costCredits,
    contentEvents,
    abandonment: left,
    streamed,
  } = history
  const rows = Array.from({ length: size }, (_, row) => row)
  const took = (row: number) => endUs[row]! - callUs[row]!
  const noticeUs =
    2 * Math.min(...rows.filter((row) => effect[row] !== effects.ambiguous).map(took))
  const successes = rows.filter((row) => effect[row] === effects.charge).map(took)
  const [shortUs, longUs] = [Math.min(...successes), Math.max(...successes)]
  const seen: readonly Operation[] = rows
    .filter((row) => effect[row] !== effects.ambiguous)
    .map((row) => ({
      callUs: callUs[row]!,
      untilUs: history.readUs[row]!,
      costCredits: effect[row] === effects.charge ? costCredits[row]! : 0,
      after: history.value[row]!,
      certain: true,
    }))
  const charge = (row: number, fromUs: number, untilUs: number): Operation => ({
    callUs: Math.max(callUs[row]!, fromUs),
    untilUs,
    costCredits: costCredits[row]!,
    after: null,
    certain: true,
  })
  const kinds = [
    ...Map.groupBy(
      rows.filter((row) => effect[row] === effects.ambiguous),
      (row) => `${left[row]} ${streamed[row]}`,
    ).values(),
  ]
  return explained(seen, kinds)

  function explained(
    operations: readonly Operation[],
    [kind, ...rest]: readonly number[][],
  ): boolean {
    if (kind === undefined) return isLinearizable(operations)
    return policiesOf(kind).some((charged) => explained([...operations, ...charged], rest))
  }

  function policiesOf(kind: readonly number[]): readonly (readonly Operation[])[] {
    const whenever = (row: number) =>
      charge(row, callUs[row]!, Math.max(endUs[row]!, callUs[row]! + longUs) + noticeUs)
    const early = kind.filter((row) => took(row) <= noticeUs)
    const byTime = [...kind].sort((a, b) => took(b) - took(a))
    const policies: { charged: readonly Operation[]; others: readonly number[] }[] = [
      { charged: [], others: kind },
      ...subsets(early).map((heard) => ({
        charged: kind.filter((row) => !early.includes(row) || heard.includes(row)).map(whenever),
        others: [],
      })),
      {
        charged: kind.filter((row) => contentEvents[row]! > 0).map(whenever),
        others: kind.filter((row) => contentEvents[row] === 0),
      },
    ]
    // A deadline makes most of a kind last equally long: then a threshold selects all of them or
    // none.
    const atOnce = byTime.filter((row) => took(row) >= took(byTime[0]!) - noticeUs)
    for (let count = 1; count <= kind.length && 2 * atOnce.length <= kind.length; count++) {
      policies.push({
        charged: byTime
          .slice(0, count)
          .map((row) =>
            charge(row, callUs[row]!, Math.max(endUs[row]!, callUs[row]! + longUs) + noticeUs),
          ),
        others: byTime.slice(count),
      })
    }
    // In addition, the requests that the service had finished.
    return policies.flatMap(({ charged, others }) => {
      const late = others.filter(
        (row) => took(row) >= shortUs - noticeUs && took(row) <= longUs + noticeUs,
      )
      return subsets(late).map((finished) => [
        ...charged,
        ...finished.map((row) => charge(row, endUs[row]! - noticeUs, endUs[row]! + noticeUs)),
      ])
    })
  }
}

function subsets(rows: readonly number[]): readonly (readonly number[])[] {
  const all: (readonly number[])[] = [[]]
  for (const row of rows) all.push(...all.map((some) => [...some, row]))
  return all
}

test('no history is accused if some policy and some order of charges explain it, over 3,000 histories', {
  tags: 'whole',
}, () => {
  const random = seeded(29)
  const counts = { explained: 0, accused: 0, spared: 0 }
  for (let at = 0; at < 3_000; at++) {
    const history = smallHistory(random)
    const explained = someLegalServiceExplains(history)
    const accused = accuses(history)
    expect(explained && accused, `history ${at}`).toBe(false)
    counts[explained ? 'explained' : accused ? 'accused' : 'spared']++
  }
  expect(counts.explained).toBeGreaterThan(500)
  expect(counts.accused).toBeGreaterThan(500)
  expect(counts.accused).toBeGreaterThan(2 * counts.spared)
})

test('a timeout may be charged if the client stalled, because its response may have been waiting', () => {
  const read = { effect: 'read', costCredits: 0 } as const
  const paid = { effect: 'charge', costCredits: 1 } as const
  const timeout = { effect: 'ambiguous', abandonment: 'timeout', costCredits: 1 } as const
  // One credit is missing at 140 us; the first request timed out at 112 us, the second at its own
  // time.
  const withSecondOver = (endUs: number) =>
    historyOf([
      { ...read, slot: 0, callUs: 0, endUs: 1, value: 50 },
      { ...paid, slot: 1, callUs: 10, endUs: 20, value: 49 },
      { ...timeout, slot: 2, callUs: 12, endUs: 112 },
      { ...paid, slot: 3, callUs: 130, endUs: 140, value: 47 },
      { ...timeout, slot: 4, callUs: 200, endUs },
      { ...read, slot: 5, callUs: 600, endUs: 601, value: 47 },
    ])
  expect(accuses(withSecondOver(300))).toBe(true)
  expect(accuses(withSecondOver(360))).toBe(false)
})

/** An attempt that its client left: when it was called, how long it lasted, and when it was charged, if it was. */
interface Left {
  readonly callUs: number
  readonly tookUs?: number
  readonly chargedUs?: number
  readonly events?: number
  readonly abandonment?: 'aborted' | 'timeout'
}

/**
 * Reads of 2 us each 20 us until 2,000 us, so that a service notices an abort within 4 us, and a success that
 * lasts 40 us from 1,001 us on, so that an attempt had finished if it lasted from 36 to 44 us.
 */
function isAccused(left: readonly Left[], { astray = Infinity, lifetimeUs = 60 } = {}) {
  const changes = [1_040, ...left.flatMap(({ chargedUs }) => chargedUs ?? [])]
  const valueAt = (us: number) => 100 - changes.filter((each) => each < us).length
  const rows = [
    ...Array.from({ length: 101 }, (_, at): HistoryRow => {
      const callUs = at * 20
      const times = { slot: at, callUs, endUs: callUs + 2 }
      return { ...times, effect: 'read', costCredits: 0, value: valueAt(callUs + 1) }
    }),
    ...left.map(({ callUs, tookUs = 30, events = 0, abandonment = 'aborted' }): HistoryRow => {
      const times = { slot: 200, callUs, endUs: callUs + tookUs }
      const more = { abandonment, contentEvents: events }
      return { ...times, ...more, effect: 'ambiguous', costCredits: 1 }
    }),
  ]
  const success: HistoryRow = {
    ...{ slot: 300, callUs: 1_001, endUs: 1_041, effect: 'charge', costCredits: 1 },
    value: valueAt(1_041),
  }
  const history = historyOf([...rows, success], { lifetimeUs })
  const operations = intervalOperations(history, meaning, { placeStreams: true })
  const { conflictCount, uncertainCredits } = readIntervals(operations)
  expect(conflictCount).toBe(0)
  return isChargedWrongly(history, operations, uncertainCredits, astray)
}
/** Attempts from 105, 205 and 305 us on; each that is charged is so as the service notices its end. */
const three = (...each: readonly (Omit<Left, 'callUs'> & { readonly is?: boolean })[]) =>
  each.map(({ is = false, ...more }, at): Left => {
    const callUs = 105 + at * 100
    const chargedUs = callUs + (more.tookUs ?? 30) + 2
    return { callUs, ...(is ? { chargedUs } : {}), ...more }
  })
const is = true

test.each([
  ['none', false, three({}, {}, {})],
  ['all', false, three({ is }, { is }, { is })],
  ['those with text', false, three({ is, events: 1 }, {}, { is, events: 2 })],
  ['one with text and one without', true, three({ events: 1 }, { is }, { is, events: 2 })],
  ['one of three alike', true, three({}, { is }, {})],
  [
    'the longest',
    false,
    three({ tookUs: 10, events: 3 }, { is, tookUs: 30, events: 1 }, { tookUs: 20, events: 2 }),
  ],
  [
    'the one with the most text',
    false,
    three({ is, tookUs: 10, events: 3 }, { tookUs: 30, events: 1 }, { tookUs: 20, events: 2 }),
  ],
  [
    'one with less text than another, and shorter than the third',
    true,
    three({ tookUs: 10, events: 3 }, { tookUs: 30, events: 1 }, { is, tookUs: 20, events: 2 }),
  ],
  [
    'the two longest',
    false,
    three({ tookUs: 10, events: 3 }, { is, tookUs: 30, events: 1 }, { is, tookUs: 20, events: 2 }),
  ],
  [
    'one that is shorter than the longest by no more than the notice',
    false,
    three({ tookUs: 10, events: 3 }, { events: 1 }, { is, tookUs: 26, events: 2 }, { tookUs: 12 }),
  ],
  [
    'one that is shorter by more',
    true,
    three({ tookUs: 10, events: 3 }, { events: 1 }, { is, tookUs: 25, events: 2 }, { tookUs: 12 }),
  ],
  [
    'one of those that are as long, which are more than half',
    true,
    three({ tookUs: 10, events: 3 }, { events: 1 }, { is, tookUs: 26, events: 2 }),
  ],
  ['one that had finished', false, three({ tookUs: 36 }, { is, tookUs: 36 }, {})],
  ['one that had finished at the latest', false, three({ tookUs: 44 }, { is, tookUs: 44 }, {})],
  ['one that had not', true, three({ tookUs: 35 }, { is, tookUs: 35 }, {})],
  ['one that lasted longer than a success', true, three({ tookUs: 45 }, { is, tookUs: 45 }, {})],
  [
    'one that had finished, but later',
    true,
    three({ tookUs: 36 }, { tookUs: 36, chargedUs: 262 }, {}),
  ],
  ['all but one that was left at once', false, three({ is }, { is }, { tookUs: 4 })],
  ['all but one that the service had to notice', true, three({ is }, { is }, { tookUs: 5 })],
  ['all but one before the first value', false, [...three({ is }, { is }), { callUs: 2 }]],
  ['all but one behind it', true, [...three({ is }, { is }), { callUs: 3 }]],
  [
    'all but one that may be charged behind the last',
    false,
    [...three({ is }, { is }), { callUs: 1956 }],
  ],
  ['all but one that may not', true, [...three({ is }, { is }), { callUs: 1955 }]],
  [
    'aborts and no timeouts',
    false,
    [...three({ is }, { is }, { is }), ...three({}, {}).map((each) => timedOut(each))],
  ],
] as const)('a service that charged %s is accused: %s', (_, accused, left) => {
  expect(isAccused(left)).toBe(accused)
})

/** The same as a timeout, 500 us later. */
function timedOut({ callUs, chargedUs, ...more }: Left): Left {
  const charged = chargedUs === undefined ? {} : { chargedUs: chargedUs + 500 }
  return { ...more, ...charged, callUs: callUs + 500, abandonment: 'timeout' }
}

test.each([
  // The others are called 100 us later and more: then they are charged behind the record, which ends at 2,002 us.
  [1_901, false],
  [1_881, false],
  [1_879, true],
  [1_500, true],
])(
  'where one of three is charged at %i us, all may be charged so much later: it is accused: %s',
  (chargedUs, accused) => {
    const left = [{ callUs: 105, chargedUs }, ...three({}, {}, {}).slice(1)]
    expect(isAccused(left, { lifetimeUs: Infinity })).toBe(accused)
  },
)

test('a timeout that no policy charges is accused where all aborts are charged', () => {
  const left = [...three({ is }, { is }, { is }), ...three({}, { is }).map(timedOut)]
  expect(isAccused(left, { astray: 1 })).toBe(true)
})

test('nothing is accused where no policy takes as much but for what is astray', () => {
  const left = three({}, { is }, {})
  expect(isAccused(left, { astray: 1 })).toBe(true)
  expect(isAccused(left, { astray: 0 })).toBe(false)
})
