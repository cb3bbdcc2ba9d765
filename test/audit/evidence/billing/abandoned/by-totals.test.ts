import { expect, test } from 'vitest'
import { chargedBeyondPolicies } from '../../../../../src/audit/evidence/billing/abandoned/by-totals.ts'
import { readConservation } from '../../../../../src/audit/evidence/billing/conservation.ts'
import type { BalanceHistory } from '../../../../../src/audit/evidence/billing/history.ts'
import { readBalance } from '../../../../../src/audit/evidence/billing/read-balance.ts'
import { placesOfStep } from '../../../../../src/audit/evidence/billing/step.ts'
import { suspectsOf } from '../../../../../src/audit/evidence/billing/suspects.ts'
import { seeded } from '../histories.ts'
import { type HistoryRow, historyOf } from '../made-history.ts'

const policies = ['none', 'all', 'content', 'from', 'delayed', 'held'] as const
interface Service {
  /** For aborts and for timeouts, each streamed and plain. */
  readonly policies: readonly (typeof policies)[number][]
  /** How much later it charges or returns credits, if its policy does. */
  readonly laterUs: number
  /** Whether it holds the price while a request runs. */
  readonly holds: boolean
  /** Which request it charges twice: none, a success, or an aborted request that it charges. */
  readonly twice: 'none' | 'success' | 'abort'
  /** Aborts come within this time after 150 us, or else at any time of the response. */
  readonly earlyUs?: number
  /** Whether streams never hang. */
  readonly plainHangs?: boolean
}

const [oneWayUs, deadlineUs, restUs] = [5, 9_000, 12_000]

/** Waves of requests, 64 in flight, with settled reads between; some are abandoned, some hang. */
function waves(service: Service, random: () => number, count = 5, perWave = 600) {
  const { earlyUs, plainHangs = false } = service
  const pick = (below: number) => Math.floor(random() * below)
  type Change = { readonly atUs: number; readonly credits: number; readonly shownTo?: number }
  const changes: Change[] = []
  const rows: (HistoryRow & { value?: number })[] = []
  const read = (callUs: number) => {
    changes.push({ atUs: callUs + oneWayUs, credits: 0, shownTo: rows.length })
    rows.push({
      slot: rows.length,
      callUs,
      endUs: callUs + 2 * oneWayUs,
      effect: 'read',
      costCredits: 0,
    })
  }
  read(0)
  let fromUs = 100
  let struck = -1
  const target = pick(count * perWave)
  for (let wave = 0, nth = 0; wave < count; wave++) {
    const freeUs = new Float64Array(64).fill(fromUs)
    for (let at = 0; at < perWave; at++, nth++) {
      const client = freeUs.indexOf(Math.min(...freeUs))
      const callUs = freeUs[client]! + 1 + pick(100)
      const streamed = random() < 0.5
      const costCredits = random() < 0.3 ? 2 : 1
      const tookUs = 600 + pick(3_000)
      const hangs = !(streamed && plainHangs) && random() < 0.03
      const isAborted = !hangs && streamed && random() < 0.1
      const left = hangs ? 'timeout' : isAborted ? 'aborted' : 'no'
      const endUs =
        callUs +
        (hangs ? deadlineUs + pick(8) : isAborted ? 150 + pick(earlyUs ?? tookUs - 200) : tookUs)
      freeUs[client] = endUs
      const row = rows.length
      const contentEvents = streamed && !hangs && endUs - callUs > 300 ? 1 + pick(5) : 0
      const admittedUs = callUs + oneWayUs
      const common = { slot: row, callUs, endUs, costCredits, streamed, contentEvents }
      const change = (atUs: number, credits: number, shownTo?: number) =>
        changes.push({ atUs, credits, ...(shownTo === undefined ? {} : { shownTo }) })
      const heldUs = service.holds ? admittedUs : callUs + tookUs - oneWayUs
      if (left === 'no') {
        change(heldUs, -costCredits, row)
        if (service.twice === 'success' && struck < 0 && nth >= target) {
          struck = row
          change(callUs + tookUs - oneWayUs, -costCredits)
        }
        rows.push({ ...common, effect: 'charge', readUs: endUs })
        continue
      }
      rows.push({ ...common, effect: 'ambiguous', abandonment: left })
      const policy = service.policies[(hangs ? 2 : 0) + (streamed ? 1 : 0)]!
      const learnsUs = endUs + oneWayUs
      const finished = !hangs && callUs + tookUs - oneWayUs <= learnsUs
      const charged =
        finished ||
        policy === 'all' ||
        (policy === 'content' && contentEvents > 0) ||
        (policy === 'from' && endUs - callUs > 1_500)
      if (service.holds || policy === 'held') change(admittedUs, -costCredits)
      const isHeld = service.holds || policy === 'held'
      if (charged && !isHeld) change(learnsUs, -costCredits)
      if (service.twice === 'abort' && charged && isAborted && struck < 0 && nth >= target) {
        struck = row
        change(learnsUs, -costCredits)
      }
      if (charged) continue
      const backUs = policy === 'held' ? learnsUs + service.laterUs : learnsUs
      if (isHeld) change(backUs, costCredits)
      if (policy === 'delayed') change(learnsUs + service.laterUs, -costCredits)
    }
    fromUs = Math.max(...freeUs) + restUs
    read(fromUs)
    fromUs += 100
  }
  read(fromUs + restUs)
  let balance = 100_000
  const shown = new Map<number, number>()
  for (const { credits, shownTo, atUs } of changes.sort((a, b) => a.atUs - b.atUs)) {
    if (atUs > fromUs + restUs + 20) break
    balance += credits
    if (shownTo !== undefined) shown.set(shownTo, balance)
  }
  const history = historyOf(
    rows.map((row, at) => (shown.has(at) ? { ...row, value: shown.get(at)! } : row)),
  )
  return { history, struck }
}

const anyService = (random: () => number): Service => {
  const pick = <Each>(from: readonly Each[]) => from[Math.floor(random() * from.length)]!
  return {
    policies: Array.from({ length: 4 }, () => pick(policies)),
    laterUs: Math.floor(random() ** 2 * 120_000),
    holds: random() < 0.7,
    twice: 'none',
  }
}

test('sums accuse no policy of charging or holding abandoned requests, over 120 services', {
  tags: 'whole',
}, () => {
  const random = seeded(41)
  for (let at = 0; at < 120; at++) {
    const service = anyService(random)
    const { history } = waves(service, random, 4, 200)
    const isProven = readBalance(history).settled()?.isProven ?? false
    expect(isProven, `${at} ${JSON.stringify(service)}`).toBe(false)
  }
})

/** It holds credits of timeouts, returns them, and charges one request twice. */
const holdsForTimeouts = {
  policies: ['none', 'all', 'none', 'none'],
  laterUs: 0,
  holds: true,
  twice: 'success',
  earlyUs: 340,
  plainHangs: true,
} as const

test('a double charge is proven and located where timeouts hold credits and return them', {
  tags: 'whole',
}, () => {
  const random = seeded(43)
  let [proven, located] = [0, 0]
  for (let at = 0; at < 5; at++) {
    const { history, struck } = waves(holdsForTimeouts, random, 10, 600)
    const ledger = readBalance(history)
    const settled = ledger.settled()
    if (settled === null) continue
    if (settled.isProven) proven++
    expect(settled.credits).toBe(history.costCredits[rowOf(history, struck)])
    const [likeliest, ...others] = placesOfStep(history, ledger.meaning, settled)
    const { rows } = suspectsOf(history, [likeliest!, ...others], settled.credits)
    if (rows.some((row) => history.slot[row] === struck)) located++
  }
  expect({ proven, located }).toEqual({ proven: 4, located: 5 })
})

function rowOf(history: BalanceHistory, slot: number): number {
  return history.slot.indexOf(slot)
}

test('an abort that the policy charges is a suspect like any success', { tags: 'whole' }, () => {
  const random = seeded(53)
  for (let at = 0; at < 3; at++) {
    const service = { ...holdsForTimeouts, twice: 'abort' } as const
    const { history, struck } = waves(service, random, 10, 600)
    const ledger = readBalance(history)
    const settled = ledger.settled()!
    expect(settled.isProven).toBe(true)
    const places = placesOfStep(history, ledger.meaning, settled)
    const { rows } = suspectsOf(
      history,
      [places[0]!, ...places.slice(1)],
      settled.credits,
      settled.charged,
    )
    expect(rows.slice(0, 16).map((row) => history.slot[row])).toContain(struck)
  }
})

test('a timeout during a client stall may be charged, so it raises no alarm', {
  tags: 'whole',
}, () => {
  const random = seeded(47)
  const { history } = waves(holdsForTimeouts, random, 10, 600)
  const settled = readBalance(history).settled()
  expect(settled).toMatchObject({ isProven: true })
  const endUs = history.endUs.slice()
  // One timeout of that stretch was late by half of its deadline.
  const late = history.abandonment.findIndex((left, row) => left === 2 && row > settled!.from)
  endUs[late] = endUs[late]! + deadlineUs / 2
  expect(readBalance({ ...history, endUs }).settled()).toBeNull()
})

test('a stall in one stretch hides no double charge in another', { tags: 'whole' }, () => {
  const { history } = waves(holdsForTimeouts, seeded(47), 10, 600)
  const { from } = readBalance(history).settled()!
  const endUs = history.endUs.slice()
  // A plain success of another stretch took as long as the deadline.
  const stretches = [0, history.size - 1].sort((a, b) => Math.abs(b - from) - Math.abs(a - from))
  const away = stretches[0] === 0 ? [1, 500] : [history.size - 500, history.size - 1]
  const slow = history.effect.findIndex(
    (effect, row) =>
      effect === 0 && history.streamed[row] === 0 && row >= away[0]! && row < away[1]!,
  )
  endUs[slow] = history.callUs[slow]! + deadlineUs + 4
  expect(readBalance({ ...history, endUs }).settled()).toMatchObject({ from, isProven: true })
})

/** What is changed of the attempts that clients left, and what is charged beyond the policy by stretch. */
interface Sums {
  readonly attempts?: number
  readonly charges?: (nth: number) => boolean
  readonly more?: Readonly<Record<number, number>>
  readonly change?: (nth: number) => Partial<HistoryRow>
  readonly extra?: readonly HistoryRow[]
}

/**
 * Six stretches of 10 ms between reads of 2 us, a success of 1 ms in the first, and attempts that were left in turn
 * in each stretch, 10 us earlier than in the one before, so that one delay moves those of the first stretch first.
 * Each lasts 5 us less than the one before, which is more than the notice of 4 us; every other one
 * had text. None had finished.
 */
function sums({
  attempts = 60,
  charges = () => false,
  more = {},
  change = () => ({}),
  extra = [],
}: Sums) {
  const left = Array.from({ length: attempts }, (_, nth): HistoryRow => {
    const callUs = (nth % 6) * 9_990 + 100 + Math.floor(nth / 6) * 100
    const common = { slot: nth, callUs, endUs: callUs + 910 - 5 * nth, costCredits: 1 }
    const text = { contentEvents: nth % 2 }
    return { ...common, ...text, effect: 'ambiguous', abandonment: 'aborted', ...change(nth) }
  })
  const success = { slot: 900, callUs: 5_000, endUs: 6_000, costCredits: 1 }
  let balance = 1_000
  const reads = Array.from({ length: 7 }, (_, at): HistoryRow => {
    const taken = left.filter((_row, nth) => nth % 6 === at - 1 && charges(nth)).length
    balance -= taken + (more[at - 1] ?? 0) + (at === 1 ? 1 : 0)
    const times = { slot: 901 + at, callUs: at * 10_000, endUs: at * 10_000 + 2 }
    return { ...times, effect: 'read', costCredits: 0, value: balance }
  })
  const history = historyOf([...left, { ...success, effect: 'charge' }, ...reads, ...extra])
  const settled = chargedBeyondPolicies(
    history,
    readConservation(history, () => true),
  )
  if (settled === null) return null
  const { from, to, credits, isProven, charged } = settled
  return {
    ...{ between: [from, to].map((row) => history.callUs[row]! / 10_000), credits, isProven },
    charged: [...charged].map((row) => history.slot[row]!).toSorted((a, b) => a - b),
  }
}
const nths = (count: number, keep: (nth: number) => boolean) =>
  Array.from({ length: count }, (_, nth) => nth).filter(keep)
const hasText = (nth: number) => nth % 2 === 1
const third = { between: [3, 4], credits: 1, isProven: true }

test.each([
  ['none', {}, null],
  ['all', { charges: () => true }, null],
  ['those with text', { charges: hasText }, null],
  ['none, and a credit more', { more: { 3: 1 } }, { ...third, charged: [] }],
  [
    'all, and a credit more',
    { charges: () => true, more: { 3: 1 } },
    { ...third, charged: nths(60, () => true) },
  ],
  [
    'those with text, and a credit more',
    { charges: hasText, more: { 3: 1 } },
    { ...third, charged: nths(60, hasText) },
  ],
  ['none of 50, and a credit more', { attempts: 50, more: { 3: 1 } }, { ...third, charged: [] }],
  ['none of 49, and a credit more', { attempts: 49, more: { 3: 1 } }, null],
  ['those with text but one', { charges: hasText, more: { 3: -1 } }, null],
  [
    'three credits more in two stretches, the most in the first of them',
    { attempts: 150, more: { 1: 2, 4: 1 } },
    { between: [1, 2], credits: 2, isProven: true, charged: [] },
  ],
  [
    'a credit more in one stretch and a credit less in another, which may have moved',
    { attempts: 120, charges: hasText, more: { 3: 1, 2: -1 } },
    { ...third, isProven: false, charged: nths(120, hasText) },
  ],
  [
    'a credit more where a response broke, which may have cost it',
    {
      more: { 3: 1 },
      extra: [{ slot: 800, callUs: 32_000, endUs: 32_050, effect: 'ambiguous', costCredits: 1 }],
    },
    null,
  ],
  [
    'the longest, as a service may that charges from a point on',
    { charges: (nth: number) => nth === 0 },
    { between: [0, 1], credits: 1, isProven: false, charged: [] },
  ],
  [
    'the second longest, which no such point explains',
    { charges: (nth: number) => nth === 1 },
    { between: [1, 2], credits: 1, isProven: true, charged: [] },
  ],
  [
    'the first so late that all others are charged behind the record',
    { more: { 5: 1 } },
    { between: [5, 6], credits: 1, isProven: false, charged: [] },
  ],
  [
    'one that had finished, of an unfinished kind',
    {
      charges: (nth: number) => nth === 3,
      change: (nth: number) => (nth === 3 ? { endUs: 30_070 + 996 } : {}),
    },
    null,
  ],
  [
    'one that had not quite',
    {
      charges: (nth: number) => nth === 3,
      change: (nth: number) =>
        nth === 3 ? { endUs: 30_070 + 995 } : nth === 1 ? { endUs: 10_090 + 1_000 } : {},
    },
    { ...third, charged: [] },
  ],
  [
    'a credit more among attempts of which one costs nothing',
    {
      ...{ attempts: 50, more: { 3: 1 } },
      change: (nth: number) => (nth === 7 ? { costCredits: 0 } : {}),
    },
    null,
  ],
] as const)(
  'the sums of a service that charged %s show what no plain policy charges',
  (_, service, found) => {
    expect(sums(service as Sums)).toEqual(found)
  },
)

test.each([
  // Half of 40 in each of six stretches by chance: (0.125)^6, or 4e-6.
  [240, false],
  // Half of 100: (0.0796)^6, or 3e-7.
  [600, true],
])(
  'that any of %i attempts may be charged explains a credit more unless it is less likely than 1e-6: %s',
  { tags: 'whole' },
  (attempts, isProven) => {
    // All last as long, so that a service that charges from there on may charge any of them.
    const alike = (nth: number) => {
      const callUs = (nth % 6) * 9_990 + 100 + Math.floor(nth / 6) * 50
      return { callUs, endUs: callUs + 300, contentEvents: Math.floor(nth / 6) % 2 }
    }
    const charges = (nth: number) => alike(nth).contentEvents === 1
    const found = sums({ attempts, charges, more: { 3: 1 }, change: alike })
    expect(found).toMatchObject({ between: [3, 4], credits: 1, isProven })
  },
)

test('a value is settled when all that was left before is over', () => {
  // The longest success takes 1,000 us, and the notice is 4 us.
  const late = (callUs: number) =>
    sums({
      more: { 3: 1 },
      extra: [
        {
          slot: 800,
          callUs,
          endUs: callUs + 20,
          effect: 'ambiguous',
          costCredits: 1,
          abandonment: 'aborted',
        },
      ],
    })
  // Of the value at 40 ms.
  expect(late(40_000 - 1_005)?.between).toEqual([3, 4])
  expect(late(40_000 - 1_004)?.between).toEqual([3, 5])
})

test('with fewer than two settled values nothing is found', () => {
  const history = historyOf([
    { slot: 0, callUs: 0, endUs: 2, effect: 'read', costCredits: 0, value: 100 },
    { slot: 1, callUs: 10, endUs: 20, effect: 'ambiguous', costCredits: 1, abandonment: 'aborted' },
  ])
  expect(
    chargedBeyondPolicies(
      history,
      readConservation(history, () => true),
    ),
  ).toBeNull()
})
