import { expect, test } from 'vitest'
import { detectionPower } from '../../../../bench/detection-power.ts'
import { leavingPolicies, simulate, simulateStruck } from '../../../../bench/simulated-history.ts'
import { readBalance } from '../../../../src/audit/evidence/billing/read-balance.ts'
import { suspectsOf } from '../../../../src/audit/evidence/billing/suspects.ts'
import { seeded } from './histories.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

test('each tier detects the faults of the detection power table with an atomic header', {
  tags: 'whole',
}, () => {
  const power = (fault: Parameters<typeof detectionPower>[0]['fault']) =>
    detectionPower({ header: 'atomic', fault }, 60, seeded(7))
  expect(power('none')).toEqual({ T0: 0, T1: 0, T2: 0, T3: 0 })
  expect(power('double charge')).toEqual({ T0: 60, T1: 0, T2: 60, T3: 60 })
  expect(power('skipped charge')).toMatchObject({ T0: 60, T1: 60, T3: 60 })
  expect(power('lost update')).toMatchObject({ T0: 60, T1: 60, T3: 60 })
  expect(power('double and given back')).toMatchObject({ T0: 0, T1: 0, T3: 60 })
})

test('a snapshot header raises no alarm, and a lost update is still found', {
  tags: 'whole',
}, () => {
  const random = seeded(11)
  const fits = (fault: Parameters<typeof simulate>[0]['fault']) =>
    Array.from(
      { length: 100 },
      () =>
        readBalance(simulate({ requests: 200, concurrency: 16, header: 'snapshot', fault }, random))
          .fits,
    )
  expect(new Set(fits('none'))).toEqual(new Set(['loose']))
  expect(new Set(fits('lost update'))).toEqual(new Set(['none']))
  expect(new Set(fits('double charge'))).toEqual(new Set(['none']))
})

test('aborted and timed-out requests raise no alarm, whether they are charged or not', () => {
  const random = seeded(13)
  for (const chargesLeft of ['none', 'all', 'streams'] as const) {
    const history = simulate(
      {
        requests: 2_000,
        concurrency: 64,
        header: 'atomic',
        fault: 'none',
        abortedShare: 0.05,
        timedOutShare: 0.02,
        chargesLeft,
      },
      random,
    )
    expect(readBalance(history)).toMatchObject({ fits: 'exact' })
  }
})

test('without reads, the meaning of the header under which credits are conserved is chosen', () => {
  // Plain answers cost 1 and streams 2; each header shows the balance before its own charge.
  const rows = [100, 99, 97, 96, 94, 93, 91, 90].map(
    (value, slot): HistoryRow => ({
      slot,
      callUs: slot * 100,
      endUs: slot * 100 + 50,
      effect: 'charge',
      costCredits: slot % 2 === 0 ? 1 : 2,
      streamed: slot % 2 === 1,
      value,
    }),
  )
  const { meaning, conservation } = readBalance(historyOf(rows))
  expect(meaning).toEqual({ plain: 'before', stream: 'before' })
  expect(conservation.stretches.map(({ taken, sure }) => taken - sure)).toEqual([
    0, 0, 0, 0, 0, 0, 0,
  ])
})

/** Sequential requests that cost 1 each, with the values that the header shows. */
const sequential = (values: readonly number[], change: Partial<HistoryRow> = {}) =>
  values.map(
    (value, slot): HistoryRow => ({
      slot,
      callUs: slot * 100,
      endUs: slot * 100 + 50,
      effect: 'charge',
      costCredits: 1,
      value,
      ...change,
    }),
  )

test('reads around it show that a header gives the balance before its own charge', () => {
  const read = (slot: number, atUs: number, value: number): HistoryRow => ({
    slot,
    callUs: atUs,
    endUs: atUs + 10,
    effect: 'read',
    costCredits: 0,
    value,
  })
  const history = historyOf([
    ...Array.from({ length: 6 }, (_, at) => read(100 + at, at * 200, 100 - at)),
    ...sequential([100, 99, 98, 97, 96]).map((row, at) => ({
      ...row,
      callUs: at * 200 + 50,
      endUs: at * 200 + 90,
    })),
  ])
  const reading = readBalance(history)
  expect(reading.meaning.plain).toBe('before')
  expect(reading).toMatchObject({ fits: 'exact' })
  expect(reading.conservation.stretches.map(({ taken, sure }) => taken - sure)).toEqual(
    Array(10).fill(0),
  )
})

test('charges that settle 5 seconds late are late, not lost', () => {
  const lateUs = 5e6
  const callsUs = Array.from({ length: 40 }, (_, at) => at * 1e6)
  const rows = callsUs.map((callUs, slot): HistoryRow => {
    const settled = callsUs.filter((earlier) => earlier + 50_000 + lateUs <= callUs).length
    return {
      slot,
      callUs,
      endUs: callUs + 50_000,
      effect: 'charge',
      costCredits: 1,
      value: 100 - settled,
    }
  })
  rows.push({ slot: 40, callUs: 60e6, endUs: 60e6 + 1, effect: 'read', costCredits: 0, value: 60 })
  rows.push({ slot: 41, callUs: -2, endUs: -1, effect: 'read', costCredits: 0, value: 100 })
  expect(readBalance(historyOf(rows))).toMatchObject({ fits: 'late', settleUs: 5e6 })
})

interface Load {
  /** How many come in turn before the load. */
  readonly inTurn: number
  readonly isStream: boolean
  /** When the header is read, and the charge made, as parts of the request's time. */
  readonly headerAt: number
  readonly chargeAt: number
  /** Every so many requests, one costs two. */
  readonly twiceEvery: number
}

/** 150 requests of a credit each from an open loop, with no separate read of the balance. */
function underLoad({ inTurn, isStream, headerAt, chargeAt, twiceEvery }: Load, seed: number) {
  const random = seeded(seed)
  let [balance, callUs] = [1000, 0]
  const planned = Array.from({ length: 150 }, (_, slot) => {
    callUs += slot < inTurn ? 9_000 : -Math.log(1 - random()) * 300
    const tookUs = 1_000 + random() * 4_000
    return { slot, callUs, endUs: callUs + tookUs, readUs: callUs + tookUs * headerAt, tookUs }
  })
  const shown = new Map<number, number>()
  const moments = planned.flatMap((each) => [
    { ...each, atUs: each.callUs + each.tookUs * chargeAt, isCharge: true },
    { ...each, atUs: each.readUs, isCharge: false },
  ])
  for (const { slot, isCharge } of moments.toSorted((a, b) => a.atUs - b.atUs)) {
    if (isCharge) balance -= slot % twiceEvery === twiceEvery - 1 ? 2 : 1
    else shown.set(slot, balance)
  }
  return readBalance(
    historyOf(
      planned.map(({ slot, callUs: atUs, readUs, endUs }) => ({
        ...{ slot, callUs: atUs, readUs, endUs, effect: 'charge' as const, costCredits: 1 },
        ...{ value: shown.get(slot)!, streamed: isStream },
      })),
    ),
  )
}
const seeds = Array.from({ length: 15 }, (_, at) => at + 1)

test('a double charge under load is never late without a balance after the last answer', () => {
  const plain = { inTurn: 3, isStream: false, headerAt: 0.5, chargeAt: 0.9, twiceEvery: 50 }
  for (const seed of seeds) {
    const { fits, doubt } = underLoad(plain, seed)
    expect([seed, fits === 'none' || doubt !== null]).toEqual([seed, true])
  }
})

test('a header that is read before its charge is not at fault, with no value in turn', () => {
  const plain = { inTurn: 0, isStream: false, headerAt: 0.1, chargeAt: 0.5, twiceEvery: 1000 }
  for (const seed of seeds) {
    const { fits, doubt } = underLoad(plain, seed)
    expect([seed, fits, doubt]).toEqual([seed, 'late', expect.stringContaining('150 of the')])
  }
})

test('double charges of streams alone are told, whose header comes before or after the charge', () => {
  for (const [headerAt, chargeAt] of [
    [0.1, 0.05],
    [0.1, 0.9],
    [0.5, 0.5],
  ] as const) {
    const streams = { inTurn: 1, isStream: true, headerAt, chargeAt }
    for (const seed of seeds) {
      expect([seed, underLoad({ ...streams, twiceEvery: 1000 }, seed).fits]).toEqual([
        seed,
        'exact',
      ])
      expect([seed, underLoad({ ...streams, twiceEvery: 8 }, seed).fits]).toEqual([seed, 'none'])
    }
  }
})

test.each([0.1e6, 0.5e6, 1e6, 2e6, 5e6, 10e6, 30e6, 60e6])(
  'a charge that shows in no value until %i us after its end settles so late',
  (lateUs) => {
    const read = (callUs: number, value: number): HistoryRow => ({
      ...{ slot: callUs, callUs, endUs: callUs + 1, effect: 'read', costCredits: 0, value },
    })
    const charge = { ...read(0, 100), endUs: 50, effect: 'charge', costCredits: 1 } as const
    const rows = [read(-10, 100), charge, read(50 + lateUs, 100), read(51 + 2 * lateUs, 99)]
    expect(readBalance(historyOf(rows))).toMatchObject({ fits: 'late', settleUs: lateUs })
  },
)

test('a stream whose header foretells its charge is read as such', () => {
  // Two streams in flight at once, both told 99: neither had been charged when they asked.
  const stream = (slot: number, callUs: number, value: number): HistoryRow => ({
    slot,
    callUs,
    readUs: callUs + 10,
    endUs: callUs + 1000,
    effect: 'charge',
    costCredits: 1,
    streamed: true,
    value,
  })
  const rows = [
    ...sequential([100], { effect: 'read', costCredits: 0 }),
    stream(1, 200, 99),
    stream(2, 250, 99),
    {
      ...sequential([98], { effect: 'read', costCredits: 0 })[0]!,
      slot: 3,
      callUs: 2000,
      endUs: 2010,
    },
  ]
  expect(readBalance(historyOf(rows))).toMatchObject({ fits: 'exact' })
})

test('a double charge among 10,000 requests, 64 in flight, is found and located', () => {
  const random = seeded(17)
  const history = simulate(
    { requests: 10_000, concurrency: 64, header: 'atomic', fault: 'double charge' },
    random,
  )
  const reading = readBalance(history)
  expect(reading.fits).toBe('none')
  expect(reading.intervals.conflicts.map((conflict) => conflict.kind)).toEqual(['balance-gap'])
})

const abandoned = { header: 'atomic', abortedShare: 0.05, timedOutShare: 0.02 } as const

test('a double charge is located to at most 64 suspects with 5 % aborts and 2 % timeouts', {
  tags: 'whole',
}, () => {
  const random = seeded(19)
  for (const chargesLeft of ['none', 'all', 'streams', 'finished'] as const) {
    const options = { ...abandoned, requests: 10_000, concurrency: 64, chargesLeft }
    expect(readBalance(simulate({ ...options, fault: 'none' }, random)).stray).toEqual([])
    const { fits, stray, intervals, history, places } = readBalance(
      simulate({ ...options, fault: 'double charge' }, random),
    )
    // Where all are charged, one extra balance gap is a contradiction by itself.
    expect(fits).toBe(chargesLeft === 'all' ? 'none' : 'exact')
    const conflicts = stray.length > 0 ? stray : intervals.conflicts
    // A double charge of 2 may appear as two balance gaps of 1 if others fill the rest.
    expect([1, 2]).toContain(conflicts.length)
    expect(conflicts.every((conflict) => conflict.kind === 'balance-gap')).toBe(true)
    const [likeliest, ...others] = places()
    const suspects = suspectsOf(history, [likeliest!, ...others], 1).rows
    expect(suspects.length).toBeGreaterThan(0)
    expect(suspects.length).toBeLessThanOrEqual(64)
  }
})

test.each([
  // An atomic header that shows holds shows a price as taken from the call on.
  { header: 'held', chargesLeft: 'none', located: 10 },
  { header: 'held', chargesLeft: 'streams', located: 10 },
  // The charge of an abandoned stream comes at any of 4,000 moments.
  { header: 'atomic', chargesLeft: 'none', located: 10 },
  { header: 'atomic', chargesLeft: 'streams', located: 9 },
  { header: 'atomic', chargesLeft: 'finished', located: 10 },
] as const)(
  'the request that was charged twice is among 64 suspects in $located of 10 runs, with a $header header and $chargesLeft charged',
  { tags: 'whole' },
  ({ header, chargesLeft, located }) => {
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    const found = seeds.filter((seed) => {
      const { history, struckSlot } = simulateStruck(
        {
          ...abandoned,
          header,
          chargesLeft,
          requests: 3_000,
          concurrency: 64,
          fault: 'double charge',
        },
        seeded(seed),
      )
      const ledger = readBalance(history)
      const conflict = ledger.stray[0] ?? ledger.intervals.conflicts[0]
      if (conflict?.kind !== 'balance-gap') return false
      const [likeliest, ...others] = ledger.places()
      const { rows } = suspectsOf(history, [likeliest!, ...others], conflict.unexplained)
      expect(rows.length).toBeLessThanOrEqual(64)
      return rows.some((row) => history.slot[row] === struckSlot)
    })
    expect(found.length).toBe(located)
  },
)

test('a double charge is proven if aborted streams are charged, because no policy leaves one over', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const ledger = readBalance(
      simulate(
        {
          ...abandoned,
          requests: 3_000,
          concurrency: 64,
          fault: 'double charge',
          chargesLeft: 'streams',
        },
        seeded(seed),
      ),
    )
    expect(ledger.isProven()).toBe(true)
  }
})

test('no policy of charging abandoned requests raises an alarm by itself', {
  tags: 'whole',
}, () => {
  const random = seeded(23)
  for (const chargesLeft of leavingPolicies) {
    for (let at = 0; at < 25; at++) {
      const ledger = readBalance(
        simulate(
          {
            header: 'atomic',
            fault: 'none',
            requests: 600,
            concurrency: 16,
            abortedShare: 0.12,
            timedOutShare: 0.06,
            chargesLeft,
          },
          random,
        ),
      )
      expect(ledger).toMatchObject({ fits: 'exact' })
      expect(ledger.isProven()).toBe(false)
    }
  }
})

test('a package bought during a burst leaves both sides of the burst decided', {
  tags: 'whole',
}, () => {
  const options = { header: 'atomic', requests: 2_000, concurrency: 64 } as const
  const bought = (fault: 'none' | 'double charge', seed: number) => {
    const history = simulate({ ...options, fault }, seeded(seed))
    // Values fall in the order of charges, so everything below one was shown after the purchase.
    const seen = [...history.value].filter((value) => !Number.isNaN(value)).sort((a, b) => a - b)
    const middle = seen[Math.floor(seen.length / 2)]!
    const value = history.value.map((each) => (each < middle ? each + 5_000 : each))
    return readBalance({ ...history, value }, [50, 100, 500, 5_000, 20_000])
  }
  for (const seed of [31, 37, 41]) {
    const clean = bought('none', seed)
    expect(clean.fits).toBe('exact')
    expect(clean.gifts.map(({ credits }) => credits)).toEqual([5_000])
    const faulty = bought('double charge', seed)
    expect(faulty.fits).toBe('none')
    expect(faulty.intervals.conflicts.map(({ kind }) => kind)).toEqual(['balance-gap'])
  }
})

test('the meaning of the header that explains a package next to a charge gives its whole size', () => {
  const bought = (shown: number, effect: 'read' | 'failure') =>
    readBalance(
      historyOf([
        { slot: 0, callUs: 0, endUs: 10, effect: 'charge', costCredits: 1, value: shown },
        {
          slot: 1,
          callUs: 20,
          endUs: 30,
          effect,
          costCredits: effect === 'read' ? 0 : 1,
          value: 599,
        },
      ]),
      [50, 100, 500],
    )
  for (const effect of ['read', 'failure'] as const) {
    // Shown before its own charge from a balance of 100, and after it.
    for (const shown of [100, 99]) {
      const { fits, gifts, conservation } = bought(shown, effect)
      expect(fits).toBe('exact')
      expect(gifts.map(({ credits }) => credits)).toEqual([500])
      expect(conservation.whole).toMatchObject({ taken: -500, sure: 0 })
    }
  }
})
