import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decimalText,
  numberOf,
  type Rational,
  rational,
  zero,
} from '../../../src/money/rational.ts'
import { accountView } from '../../../src/portal/settings/account-view.ts'
import { burnDown } from '../../../src/report/usage/burn-down.ts'
import {
  type BurnOrder,
  type LedgerUse,
  type Lot,
  ledgerOf,
  ledgerTimes,
} from '../../../src/report/usage/ledger.ts'
import { creditsOf, worldsOf } from '../../portal/ledger-world.ts'
import { nowMs, settingsOf } from '../../portal/portal.ts'

const lot = (name: string, credits: number, change: Partial<Lot> = {}): Lot => ({
  ...{
    name,
    credits: rational(BigInt(credits)),
    fromUs: null,
    expiresUs: null,
    priority: 0,
    models: null,
  },
  ...change,
})

/** One use of whole credits, Unix microseconds. */
interface Use {
  readonly atUs: number
  readonly credits: number
  readonly model?: string
}

const summed = (lots: readonly Lot[], uses: readonly Use[]): readonly LedgerUse[] => {
  const times = ledgerTimes(lots)
  return uses.map(({ atUs, credits, model = null }) => ({
    ...{ segment: times.filter((us) => us <= atUs).length, model },
    credits: rational(BigInt(credits)),
  }))
}

const read = (
  lots: readonly Lot[],
  uses: readonly Use[],
  nowUs: number,
  order: BurnOrder = 'expiry',
) => {
  const seen = uses.filter(({ atUs }) => atUs <= nowUs)
  const {
    held,
    used,
    left,
    expired,
    uncovered,
    lots: states,
  } = ledgerOf(lots, summed(lots, seen), order, nowUs)
  return {
    ...{ held: decimalText(held), used: decimalText(used), left: decimalText(left) },
    ...{ expired: decimalText(expired), uncovered: decimalText(uncovered) },
    lots: Object.fromEntries(states.map((each) => [each.lot.name, decimalText(each.left)])),
  }
}

test('what is used falls from what expires first, and a lot that is over leaves what nobody used', () => {
  const lots = [lot('pack', 100), lot('gift', 30, { expiresUs: 50 })]
  expect(read(lots, [{ atUs: 10, credits: 20 }], 20)).toEqual({
    ...{ held: '130', used: '20', left: '110', expired: '0', uncovered: '0' },
    lots: { pack: '100', gift: '10' },
  })
  expect(
    read(
      lots,
      [
        { atUs: 10, credits: 20 },
        { atUs: 50, credits: 5 },
      ],
      50,
    ),
  ).toEqual({
    ...{ held: '100', used: '5', left: '95', expired: '10', uncovered: '0' },
    lots: { pack: '95', gift: '0' },
  })
  // By purchase, the older one goes first, also if it lasts longer.
  expect(
    read(
      lots.map((each, at) => ({ ...each, fromUs: at })),
      [{ atUs: 10, credits: 20 }],
      20,
      'purchase',
    ).lots,
  ).toEqual({ pack: '80', gift: '30' })
})

test('use before a lot, and beyond all, is covered by none; a refund gives back what was used last', () => {
  const lots = [lot('pack', 10, { fromUs: 100 })]
  expect(
    read(
      lots,
      [
        { atUs: 99, credits: 7 },
        { atUs: 100, credits: 4 },
      ],
      100,
    ),
  ).toMatchObject({ held: '10', left: '6', uncovered: '7' })
  expect(read(lots, [{ atUs: 100, credits: 15 }], 100)).toMatchObject({ left: '0', uncovered: '5' })
  expect(
    read(
      lots,
      [
        { atUs: 100, credits: 15 },
        { atUs: 101, credits: -8 },
      ],
      101,
    ),
  ).toMatchObject({ left: '3', uncovered: '0' })
  expect(read(lots, [{ atUs: 100, credits: -8 }], 101)).toMatchObject({
    left: '10',
    uncovered: '-8',
  })
})

/** Every credit is a coin of its own, and each use takes coins one by one. It shares nothing with the ledger. */
function byCoins(lots: readonly Lot[], uses: readonly Use[], nowUs: number, order: BurnOrder) {
  const coins = lots.flatMap((of, at) =>
    Array.from({ length: Number(of.credits.numerator) }, () => ({ of, at, isUsed: false })),
  )
  const last = 1e9
  const keyOf = ({ of, at }: (typeof coins)[number]) => {
    const [from, to] = [of.fromUs ?? -1, of.expiresUs ?? last]
    return [of.priority, ...(order === 'expiry' ? [to, from] : [from, to]), at]
  }
  const sorted = coins.toSorted((a, b) => {
    const [left, right] = [keyOf(a), keyOf(b)]
    const differ = left.findIndex((value, at) => value !== right[at])
    return differ < 0 ? 0 : left[differ]! - right[differ]!
  })
  let uncovered = 0
  for (const { atUs, credits } of uses.toSorted((a, b) => a.atUs - b.atUs)) {
    if (atUs > nowUs) break
    for (let each = 0; each < credits; each++) {
      const coin = sorted.find(
        ({ of, isUsed }) => !isUsed && (of.fromUs ?? -1) <= atUs && (of.expiresUs ?? last) > atUs,
      )
      if (coin === undefined) uncovered++
      else coin.isUsed = true
    }
  }
  const held = coins.filter(
    ({ of }) => (of.fromUs ?? -1) <= nowUs && (of.expiresUs ?? last) > nowUs,
  )
  const over = coins.filter(
    ({ of }) => (of.fromUs ?? -1) <= nowUs && (of.expiresUs ?? last) <= nowUs,
  )
  return {
    held: String(held.length),
    used: String(held.filter(({ isUsed }) => isUsed).length),
    left: String(held.filter(({ isUsed }) => !isUsed).length),
    expired: String(over.filter(({ isUsed }) => !isUsed).length),
    uncovered: String(uncovered),
  }
}

const time = fc.integer({ min: 0, max: 40 })
const world = fc.record({
  lots: fc.array(
    fc.record({
      credits: fc.integer({ min: 0, max: 12 }),
      fromUs: fc.option(time),
      lasts: fc.option(fc.integer({ min: 1, max: 30 })),
      priority: fc.integer({ min: 0, max: 1 }),
    }),
    { maxLength: 5 },
  ),
  uses: fc.array(fc.record({ atUs: time, credits: fc.integer({ min: 0, max: 6 }) }), {
    maxLength: 12,
  }),
  nowUs: fc.integer({ min: 0, max: 60 }),
  order: fc.constantFrom<BurnOrder>('expiry', 'purchase'),
})

test('in 1,000 worlds, held, used and left are those of a reader that counts each credit, and add up', () => {
  fc.assert(
    fc.property(world, ({ lots: drawn, uses, nowUs, order }) => {
      const lots = drawn.map(({ credits, fromUs, lasts, priority }, at) =>
        lot(`${at}`, credits, {
          fromUs,
          priority,
          expiresUs: lasts === null ? null : (fromUs ?? 0) + lasts,
        }),
      )
      const ours = read(lots, uses, nowUs, order)
      const { lots: _, ...sums } = ours
      expect(sums).toEqual(byCoins(lots, uses, nowUs, order))
      expect(Number(ours.used) + Number(ours.left)).toBe(Number(ours.held))
    }),
    { numRuns: 1000 },
  )
})

test('a ledger without lots holds nothing, and covers no use', () => {
  expect(
    ledgerOf([], [{ segment: 0, model: 'm', credits: rational(3n) }], 'expiry', 0),
  ).toMatchObject({
    held: zero,
    left: zero,
    uncovered: rational(3n),
  })
})

const lotsOf = (...all: readonly (readonly [string, number, readonly string[] | null])[]) =>
  all.map(([name, credits, models]) => lot(name, credits, { models }))
const use = (atUs: number, model: string, credits: number): Use => ({ atUs, model, credits })

test('a lot pays for the use of its models alone', () => {
  const lots = lotsOf(['only b', 50, ['b']], ['all', 30, null])
  expect(read(lots, [use(1, 'a', 20), use(2, 'b', 15), use(3, 'c', 5)], 9)).toEqual({
    ...{ held: '80', used: '40', left: '40', expired: '0', uncovered: '0' },
    lots: { 'only b': '35', all: '5' },
  })
  expect(read(lots, [use(1, 'a', 31)], 9)).toMatchObject({ left: '50', uncovered: '1' })
  // What names no model is of none that a lot names.
  expect(read(lots, [{ atUs: 1, credits: 40 }], 9)).toMatchObject({ left: '50', uncovered: '10' })
})

test('within a period, a lot hands over what it paid to one that may pay it, so that nothing stays uncovered', () => {
  const lots = lotsOf(['all', 10, null], ['only a', 10, ['a']])
  const uses = [use(1, 'a', 10), use(2, 'b', 10)]
  for (const some of [uses, uses.toReversed()])
    expect(read(lots, some, 9)).toMatchObject({ used: '20', uncovered: '0' })
  // What was paid before another lot began stays as it was.
  const later = [...lots, lot('later', 5, { fromUs: 2, models: ['z'] })]
  expect(read(later, uses, 9)).toMatchObject({
    ...{ uncovered: '10', lots: { all: '0', 'only a': '10', later: '5' } },
  })
})

test('a refund goes back to lots for its model, and first pays for what its kind left uncovered', () => {
  const lots = lotsOf(['all', 10, null], ['only a', 10, ['a']])
  const begun = [...lots, lot('later', 0, { fromUs: 5 })]
  const spent = [use(1, 'b', 12), use(1, 'a', 4)]
  expect(read(begun, spent, 9)).toMatchObject({ left: '6', uncovered: '2' })
  expect(read(begun, [...spent, use(6, 'b', -5)], 9)).toMatchObject({
    ...{ lots: { all: '3', 'only a': '6', later: '0' }, uncovered: '0' },
  })
  // The lot that was used last is first to get it back.
  expect(read(begun, [...spent, use(6, 'a', -5)], 9)).toMatchObject({
    ...{ lots: { all: '1', 'only a': '10', later: '0' }, uncovered: '2' },
  })
})

test.each([
  ['expiry', 1],
  ['purchase', 2],
] as const)(
  'in 500 worlds with scopes in order of %s, a ledger is what a pencil says',
  { tags: 'whole', timeout: 60_000 },
  (order, seed) => {
    const worlds = worldsOf(seed, 500)
    const accounts = Object.fromEntries(
      worlds.map(({ account, zone, grants }) => [account, { timezone: zone, grants }]),
    )
    const settings = settingsOf(`burnOrder: ${order}\naccounts: ${JSON.stringify(accounts)}\n`)
    let scoped = 0
    for (const world of worlds) {
      const { lots, burnOrder } = accountView(settings, world.account).holdings!
      if (lots.some(({ models }) => models !== null)) scoped++
      const times = ledgerTimes(lots)
      const uses = world.events.map(({ atMs, cents, model }) => ({
        segment: times.filter((us) => us <= atMs * 1000).length,
        ...{ model, credits: rational(BigInt(Math.round(cents)), 100n) },
      }))
      const ours = ledgerOf(lots, uses, burnOrder, nowMs * 1000)
      const cents = (of: Rational) => Math.round(100 * numberOf(of))
      const { lots: _, ...sums } = creditsOf(world, order)
      expect({ account: world.account, ...sums }).toEqual({
        account: world.account,
        ...{ held: cents(ours.held), used: cents(ours.used), left: cents(ours.left) },
        ...{ expired: cents(ours.expired), uncovered: cents(ours.uncovered) },
      })
    }
    expect(scoped).toBeGreaterThan(200)
  },
)

const anyScoped = fc.record({
  lots: fc.array(
    fc.record({
      credits: fc.integer({ min: 0, max: 30 }),
      fromUs: fc.option(fc.integer({ min: 0, max: 19 }), { nil: null }),
      lasts: fc.option(fc.integer({ min: 1, max: 15 }), { nil: null }),
      models: fc.option(fc.subarray(['a', 'b', 'c'], { minLength: 1 }), { nil: null }),
    }),
    { minLength: 2, maxLength: 5 },
  ),
  past: fc.array(
    fc.record({
      atUs: fc.integer({ min: 0, max: 9 }),
      credits: fc.integer({ min: 1, max: 12 }),
      model: fc.constantFrom('a', 'b', 'c'),
    }),
    { maxLength: 6 },
  ),
  coming: fc.array(fc.constantFrom(0, 0, 1, 2), { minLength: 10, maxLength: 10 }),
})

test('a forecast says of a future what the ledger says once that future has come', {
  tags: 'whole',
}, () => {
  let [covered, empty] = [0, 0]
  fc.assert(
    fc.property(anyScoped, ({ lots: drawn, past, coming }) => {
      const lots = drawn.map(({ credits, fromUs, lasts, models }, at) =>
        lot(`lot ${at}`, credits, {
          ...{ fromUs, models, expiresUs: lasts === null ? null : (fromUs ?? 0) + lasts },
        }),
      )
      // As much of a as of b.
      const uses = coming.flatMap((credits, at) =>
        ['a', 'b'].map((model) => use(10 + at, model, credits)),
      )
      const now = ledgerOf(lots, summed(lots, past), 'expiry', 10)
      const then = ledgerOf(lots, summed(lots, [...past, ...uses]), 'expiry', 20)
      const demand = coming.map((credits, at) => ({
        ...{ startUs: 10 + at, endUs: 11 + at, credits: 2 * credits },
      }))
      const mix = ['a', 'b'].map((model) => ({ model, share: 0.5 }))
      const { emptyUs, left } = burnDown(now.grants, demand, [], mix)
      const isCovered = numberOf(then.uncovered) === numberOf(now.uncovered)
      expect(emptyUs === null).toBe(isCovered)
      if (!isCovered) empty++
      else {
        covered++
        const kept = left.reduce((sum, each) => sum + each, 0)
        expect(kept).toBeCloseTo(numberOf(then.left), 6)
      }
    }),
    { numRuns: 1000, seed: 1 },
  )
  expect(Math.min(covered, empty)).toBeGreaterThan(100)
})

test('the end of a grant with nothing left begins a period, now and in the forecast', () => {
  // `gone` was used up on day 1, so it paid for nothing since `later` began.
  const lots = [
    lot('gone', 5, { expiresUs: 15 }),
    lot('all', 10),
    lot('only a', 10, { models: ['a'] }),
    lot('later', 1, { fromUs: 5, models: ['z'] }),
  ]
  const past = [use(1, 'a', 5), use(11, 'a', 10)]
  const now = ledgerOf(lots, summed(lots, past), 'expiry', 12)
  expect(now.grants.map(({ name, credits }) => [name, credits])).toEqual([
    ['gone', 0],
    ['all', 0],
    ['only a', 10],
    ['later', 1],
  ])
  const demand = (startUs: number) => [{ startUs, endUs: startUs + 1, credits: 4 }]
  const b = [{ model: 'b', share: 1 }]
  // Before the end, `all` hands over its use of a; after it, that use is settled.
  expect(burnDown(now.grants, demand(12), [], b).emptyUs).toBe(null)
  expect(burnDown(now.grants, demand(16), [], b).emptyUs).toBeCloseTo(16, 9)
  expect(read(lots, [...past, use(16, 'b', 4)], 20)).toMatchObject({ uncovered: '4' })
  expect(read(lots, [...past, use(13, 'b', 4)], 20)).toMatchObject({ uncovered: '0' })
})
