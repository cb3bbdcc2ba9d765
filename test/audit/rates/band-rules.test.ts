import { describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { rate01 } from '../../../src/audit/rules/rates/rate-01.ts'
import { rate02 } from '../../../src/audit/rules/rates/rate-02.ts'
import { evidenceOf, rowOf } from './evidence.ts'

/** The limit per minute of a balance, by the table of §8.1. */
function minuteLimit(balance: number): number {
  if (balance <= 100) return 20
  if (balance <= 1000) return 60
  return balance < 10_000 ? 200 : 500
}

/** Sequential requests from one balance to another, 100 ms apart. */
function walk(
  from: number,
  to: number,
  { limitAt = minuteLimit, basis = 'before' as 'before' | 'after', used = 0, startMs = 0 } = {},
): readonly AttemptRow[] {
  return Array.from({ length: from - to }, (_, index) => {
    const balance = from - index
    const rateLimit = limitAt(basis === 'before' ? balance : balance - 1)
    return rowOf(index, startMs + index * 100, {
      creditsRemaining: balance - 1,
      rateLimit,
      rateRemaining: Math.max(0, rateLimit - used - index - 1),
      rateReset: 30,
    })
  })
}

describe('RATE-01', () => {
  test.each(['before', 'after'] as const)(
    'passes over every edge if the band is chosen by the balance %s the charge',
    { tags: 'whole' },
    async (basis) => {
      for (const [from, to] of [
        [103, 97],
        [1003, 997],
        [10_003, 9_997],
      ] as const) {
        const verdict = await rate01.decide(await evidenceOf(walk(from, to, { basis })))
        expect(verdict).toMatchObject({ verdict: 'pass', observations: 6 })
      }
    },
  )

  test('fails on a row of the table that the balance was never near', async () => {
    const verdict = await rate01.decide(await evidenceOf(walk(50, 45, { limitAt: () => 60 })))
    expect(verdict).toMatchObject({
      verdict: 'fail',
      observations: 5,
      observed: '60',
      witnesses: [{ slot: 0, shows: 'limit 60 at balance 48 to 50' }],
    })
  })

  test('fails on a value that is in no row of the table', async () => {
    const verdict = await rate01.decide(await evidenceOf(walk(50, 45, { limitAt: () => 19 })))
    expect(verdict).toMatchObject({ verdict: 'fail', observed: '19' })
  })

  test('is inconclusive if a window from before the record may still hold its old band', async () => {
    const verdict = await rate01.decide(
      await evidenceOf(walk(100, 95, { limitAt: () => 60, used: 30 })),
    )
    expect(verdict).toMatchObject({ verdict: 'inconclusive', observations: 5 })
  })

  test('lets an old band apply for one window after the edge, and no longer', {
    tags: 'whole',
  }, async () => {
    const stale = (startMs: number) =>
      evidenceOf([
        ...walk(103, 101),
        ...walk(100, 97, { limitAt: () => 60, startMs }).map((row) => ({
          ...row,
          slot: row.slot + 10,
        })),
      ])
    expect((await rate01.decide(await stale(1_000))).verdict).toBe('pass')
    expect((await rate01.decide(await stale(61_000))).verdict).toBe('fail')
  })

  test('scales the window by the time scale of the run', async () => {
    const rows = [
      ...walk(103, 101),
      ...walk(100, 97, { limitAt: () => 60, startMs: 1_500 }).map((row) => ({
        ...row,
        slot: row.slot + 10,
      })),
    ]
    expect((await rate01.decide(await evidenceOf(rows, 60))).verdict).toBe('fail')
  })

  test('widens the bracket by requests in flight, so concurrent requests across an edge pass', {
    tags: 'whole',
  }, async () => {
    const rows = Array.from({ length: 10 }, (_, index) =>
      rowOf(index, index * 0.01, {
        headersUs: 50_000 + index,
        creditsRemaining: 104 - index,
        rateLimit: 60,
        rateRemaining: 59 - index,
        rateReset: 3,
      }),
    )
    expect(await rate01.decide(await evidenceOf(rows))).toMatchObject({ verdict: 'pass' })
  })

  test('is not observed, never passed, without a credits header', async () => {
    const verdict = await rate01.decide(
      await evidenceOf([rowOf(0, 0, { rateLimit: 60, rateRemaining: 59, rateReset: 1 })]),
    )
    expect(verdict.verdict).toBe('not-observed')
  })
})

describe('RATE-02', () => {
  test.each(['before', 'after'] as const)(
    'passes an edge that matches the table, by the balance %s the charge',
    async (basis) => {
      const verdict = await rate02.decide(await evidenceOf(walk(103, 97, { basis })))
      expect(verdict).toMatchObject({ verdict: 'pass', observations: 1 })
    },
  )

  test('passes at 10,000 for either of the two rows', { tags: 'whole' }, async () => {
    const upper = walk(10_003, 9_997, { limitAt: (balance) => (balance >= 10_000 ? 500 : 200) })
    const lower = walk(10_003, 9_997, { limitAt: (balance) => (balance > 10_000 ? 500 : 200) })
    expect((await rate02.decide(await evidenceOf(upper))).verdict).toBe('pass')
    expect((await rate02.decide(await evidenceOf(lower))).verdict).toBe('pass')
  })

  test('fails on an edge that is off by one, with the two rows around it', async () => {
    const limitAt = (balance: number) => (balance < 100 ? 20 : 60)
    const verdict = await rate02.decide(await evidenceOf(walk(103, 97, { limitAt })))
    expect(verdict).toMatchObject({
      verdict: 'fail',
      expected: 'the row changes between balances 100 and 101',
      observed: 'it changes between 99 and 98 credits remaining',
      witnesses: [{ slot: 3 }, { slot: 4 }],
    })
  })

  test('is inconclusive if a window began at the late change', async () => {
    const rows = walk(103, 97, { limitAt: (balance) => (balance < 99 ? 20 : 60) }).map((row) =>
      row.rateLimit === 20 ? { ...row, rateRemaining: 19 } : row,
    )
    expect((await rate02.decide(await evidenceOf(rows))).verdict).toBe('inconclusive')
  })

  test('names the walks that it needs if no edge was crossed', async () => {
    const verdict = await rate02.decide(await evidenceOf(walk(90, 85)))
    expect(verdict).toMatchObject({
      verdict: 'not-observed',
      requires: expect.stringContaining('103 to 98, 1003 to 998'),
    })
  })
})
