import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SharedNumbers } from '../../src/run/crew/shared.ts'
import type { Team } from '../../src/run/crew/team.ts'
import { Budget } from '../../src/run/money/budget.ts'

interface Machine {
  readonly shared: SharedNumbers
  readonly budget: Budget
  giveUp: (most: number) => number
}

/** Machines that share a bound and exchange messages; `isLost` may lose some of their answers. */
function machines(shares: readonly number[], isLost: () => boolean = () => false): Machine[] {
  const all: Machine[] = []
  for (const share of shares) {
    const shared = new SharedNumbers()
    shared.bound = share
    const own: Partial<Machine> = { shared }
    const team = {
      onAsked(giveUp: (most: number) => number) {
        own.giveUp = giveUp
      },
      askForCredits: async (most: number) =>
        all
          .filter((other) => other !== own)
          .map((other) => other.giveUp(most))
          .reduce((sum, given) => sum + (isLost() ? 0 : given), 0),
    } as unknown as Team
    all.push(Object.assign(own, { budget: new Budget(shared, team, 1) }) as Machine)
  }
  return all
}

test('machines together never spend more than the bound, whatever they spend, request and lose', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 1, maxLength: 5 }),
      fc.array(fc.tuple(fc.nat(4), fc.integer({ min: 1, max: 90 }), fc.boolean()), {
        maxLength: 60,
      }),
      async (shares, steps) => {
        let isLost = false
        const all = machines(shares, () => isLost)
        const bound = shares.reduce((sum, share) => sum + share, 0)
        for (const [at, [who, credits, lost]] of steps.entries()) {
          isLost = lost
          const { shared, budget } = all[who % all.length]!
          shared.reserve(credits)
          budget.look((at + 1) * 1e6)
          await Promise.resolve()
        }
        expect(all.reduce((sum, { shared }) => sum + shared.credits, 0)).toBeLessThanOrEqual(bound)
        expect(all.reduce((sum, { shared }) => sum + shared.bound, 0)).toBeLessThanOrEqual(bound)
      },
    ),
  )
})

test('a machine that runs short gets half of what another can spare', async () => {
  const [short, rich] = machines([10, 1000]) as [Machine, Machine]
  expect(short.shared.reserve(9)).toBe(true)
  short.budget.look(1e6)
  await new Promise((resolve) => setTimeout(resolve))
  // Nine a second: it asks for ten seconds and the cheapest request.
  expect([short.shared.bound, rich.shared.bound]).toEqual([101, 909])
  expect(short.budget.isSpent).toBe(false)
})

test('the budget is spent if nothing is left here and no other machine can spare any', async () => {
  const [short, poor] = machines([10, 2]) as [Machine, Machine]
  expect(short.shared.reserve(10)).toBe(true)
  expect(poor.shared.reserve(1)).toBe(true)
  expect(short.budget.isSpent).toBe(false)
  short.budget.look(1e6)
  await new Promise((resolve) => setTimeout(resolve))
  expect(short.budget.isSpent).toBe(true)
  expect([short.shared.bound, poor.shared.bound]).toEqual([10, 2])
})

test('a single machine has spent its budget if the cheapest request is too dear', () => {
  const shared = new SharedNumbers()
  shared.bound = 10
  const budget = new Budget(shared, null, 2)
  shared.reserve(8)
  expect(budget.isSpent).toBe(false)
  shared.reserve(1)
  expect(budget.isSpent).toBe(true)
})

test('credits without a bound have none, and a bound may be as large as a whole number', () => {
  const shared = new SharedNumbers()
  expect(shared.reserve(3_000_000_000)).toBe(true)
  for (let sent = 0; sent < 100; sent++) expect(shared.reserve(100_000_000)).toBe(true)
  expect(shared.credits).toBe(13_000_000_000)
  expect(new Budget(shared, null, 3_000_000_000).isSpent).toBe(false)
  shared.bound = 15_000_000_000
  expect(shared.bound).toBe(15_000_000_000)
  expect(shared.reserve(2_000_000_001)).toBe(false)
  expect(shared.reserve(2_000_000_000)).toBe(true)
})

test('a part of a credit counts as a whole one', () => {
  const shared = new SharedNumbers()
  shared.bound = 2.5
  expect([0.5, 1.2, 0.5].map((cost) => shared.reserve(cost))).toEqual([true, true, false])
  expect(shared.credits).toBe(3)
  shared.release(1.2)
  expect(shared.credits).toBe(1)
})

test.each([false, true])(
  'each phase counts its requests from 0, however many come before it (alone: %s)',
  (alone) => {
    const shared = new SharedNumbers(undefined, alone)
    const taken = [0, 4096, 4096, 8192, 1, 8192].map((ordinal) => shared.nextRequest(ordinal))
    expect(taken).toEqual([0, 0, 1, 0, 0, 1])
  },
)
