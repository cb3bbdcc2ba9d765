import { describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { flags } from '../../../src/attempt/flags.ts'
import { rate06 } from '../../../src/audit/rules/rates/rate-06.ts'
import { rate07 } from '../../../src/audit/rules/rates/rate-07.ts'
import { rate08 } from '../../../src/audit/rules/rates/rate-08.ts'
import { rate12 } from '../../../src/audit/rules/rates/rate-12.ts'
import { rate13 } from '../../../src/audit/rules/rates/rate-13.ts'
import { rate15 } from '../../../src/audit/rules/rates/rate-15.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { evidenceOf, rowOf } from './evidence.ts'

const epochS = Date.UTC(2026, 0, 1) / 1000

const headers = { rateLimit: 60, rateRemaining: 59, rateReset: 12 }

describe('RATE-06', () => {
  /** A success, a 429 and its retry, with the balance that the successes show. */
  const threeOf = (first: Partial<AttemptRow>, last: Partial<AttemptRow> = {}) => [
    rowOf(0, 0, { creditsRemaining: 100, ...first }),
    rowOf(1, 1000, { status: 429 }),
    rowOf(2, 2000, { creditsRemaining: 98, ...last }),
  ]
  const verdictOf = async (rows: readonly AttemptRow[]) =>
    (await rate06.decide(await evidenceOf(rows))).verdict

  test('passes a stream that shows the balance before its charge, and a plain answer after its charge', {
    tags: 'whole',
  }, async () => {
    expect(await verdictOf(threeOf({ streamed: 1 }))).toBe('pass')
    expect(await verdictOf(threeOf({ endpoint: 'messages' }))).toBe('pass')
    expect(await verdictOf(threeOf({ streamed: 1 }, { streamed: 1 }))).toBe('fail')
    expect(await verdictOf(threeOf({ streamed: 1 }, { creditsRemaining: 97 }))).toBe('fail')
  })

  test('allows the charge of an aborted stream to come later, before or after the rejection', {
    tags: 'whole',
  }, async () => {
    const aborted = { streamed: 1, outcome: 'aborted', creditsRemaining: 101 } as const
    expect(await verdictOf(threeOf(aborted, { streamed: 1, creditsRemaining: 99 }))).toBe('pass')
    const later = [rowOf(9, -1000, aborted), ...threeOf({})]
    expect(await verdictOf(later)).toBe('pass')
    expect(await verdictOf([rowOf(9, -601_000, aborted), ...threeOf({})])).toBe('fail')
  })
})

describe('RATE-07', () => {
  test('passes when successes and rejections carry three numbers, and counts both', async () => {
    const verdict = await rate07.decide(
      await evidenceOf([rowOf(0, 0, headers), rowOf(1, 10, { ...headers, status: 429 })]),
    )
    expect(verdict).toEqual({
      verdict: 'pass',
      observations: 2,
      note: '1 successes, 1 rejections',
    })
  })

  test('fails with the rejection that lacks a header, and names the header', async () => {
    const verdict = await rate07.decide(
      await evidenceOf([
        rowOf(0, 0, headers),
        rowOf(1, 10, { ...headers, status: 429, rateReset: null }),
      ]),
    )
    expect(verdict).toMatchObject({
      verdict: 'fail',
      observed: 'x-ratelimit-reset is missing',
      witnesses: [{ slot: 1 }],
      note: 'so on 0 of 1 successes, 1 of 1 rejections',
    })
  })

  test('requires no reset header if the contract names none', async () => {
    const rows = [rowOf(0, 0, { ...headers, rateReset: null })]
    const evidence = await evidenceOf(rows)
    const contract = parseContract({ extends: 'svc', headers: { rate_reset: null } }, 'mine.yaml')
    expect(await rate07.decide({ ...evidence, contract })).toMatchObject({ verdict: 'pass' })
    expect(await rate12.decide({ ...evidence, contract })).toEqual({
      verdict: 'not-promised',
      promises: ['headers.rate_reset'],
    })
  })

  test('fails on a header that is present but not a number', async () => {
    const verdict = await rate07.decide(
      await evidenceOf([
        rowOf(0, 0, { ...headers, rateReset: null, flags: flags.malformedRateReset }),
      ]),
    )
    expect(verdict).toMatchObject({
      verdict: 'fail',
      observed: 'x-ratelimit-reset is not a number',
    })
  })

  test('names a field that has all three once, and asks a duration of the reset alone', async () => {
    const contract = parseContract(
      {
        extends: 'svc',
        headers: { rate_limit: 'RateLimit', rate_remaining: 'RateLimit', rate_reset: 'RateLimit' },
      },
      'mine.yaml',
    )
    const structured = { ...headers, flags: flags.structuredRateLimit }
    const decide = async (rows: Parameters<typeof evidenceOf>[0], more = {}) =>
      rate07.decide({ ...(await evidenceOf(rows)), contract: { ...contract, ...more } })
    expect(await decide([rowOf(0, 0, structured)])).toMatchObject({ verdict: 'pass' })
    const none = { rateLimit: null, rateRemaining: null, rateReset: null }
    expect(await decide([rowOf(0, 0, none)])).toMatchObject({
      ...{ verdict: 'fail', expected: 'ratelimit with a number each' },
      observed: 'ratelimit is missing',
    })
    expect(await decide([rowOf(0, 0, structured)], { resetFormat: 'duration' })).toMatchObject({
      observed: 'ratelimit is a number, not a duration',
    })
  })

  test('does not require the headers on other errors, which the specification leaves open', async () => {
    const verdict = await rate07.decide(await evidenceOf([rowOf(0, 0, { status: 400 })]))
    expect(verdict).toMatchObject({ verdict: 'not-observed' })
  })
})

describe('RATE-08', () => {
  test.each([
    [-1, 'fail'],
    [61, 'fail'],
    [1.5, 'fail'],
    [0, 'pass'],
    [60, 'pass'],
  ])('remaining %d of 60 is a %s', async (rateRemaining, expected) => {
    const verdict = await rate08.decide(
      await evidenceOf([rowOf(0, 0, headers), rowOf(1, 1, { ...headers, rateRemaining })]),
    )
    expect(verdict.verdict).toBe(expected)
    if (verdict.verdict === 'fail') expect(verdict.witnesses[0].slot).toBe(1)
  })

  test('is not observed, never passed, without headers', async () => {
    const verdict = await rate08.decide(await evidenceOf([rowOf(0, 0)]))
    expect(verdict.verdict).toBe('not-observed')
  })
})

describe('RATE-12', () => {
  test('allows counted refusals to push the reset beyond a window, as rejections do', async () => {
    const rows = Array.from({ length: 60 }, (_, slot) =>
      rowOf(slot, slot * 500, {
        status: slot < 5 ? 200 : 403,
        rateLimit: 20,
        rateRemaining: Math.max(0, 20 - slot),
        rateReset: (slot < 45 ? 59_000 : 95_500) - slot * 500,
      }),
    )
    expect((await rate12.decide(await evidenceOf(rows))).verdict).toBe('pass')
  })

  /** An anchored minute from second 3 on: its end as an epoch, `aheadS` before the clock of `Date`. */
  const epochs = (aheadS: number, change: (nth: number) => Partial<AttemptRow> = () => ({})) =>
    [0, 10, 20, 30, 40, 50, 59].map((second, nth) =>
      rowOf(nth, 3000 + second * 1000, {
        rateLimit: 20,
        rateRemaining: 19 - nth,
        dateS: epochS + 3 + second,
        rateReset: epochS + 63 + aheadS,
        ...change(nth),
      }),
    )

  test.each([0, 5, -40])(
    'passes an epoch from a clock that is %i s ahead of the clock of Date',
    async (aheadS) => {
      const verdict = await rate12.decide(await evidenceOf(epochs(aheadS)))
      expect(verdict).toMatchObject({ verdict: 'pass', note: 'unit: epoch-s' })
    },
  )

  test('fails on an epoch that no single clock explains', { tags: 'whole' }, async () => {
    const late = await rate12.decide(
      await evidenceOf(epochs(5, (nth) => (nth === 0 ? { rateReset: epochS + 183 } : {}))),
    )
    expect(late).toMatchObject({ verdict: 'fail', witnesses: [{ slot: 0 }] })
    const mixed = await rate12.decide(
      await evidenceOf(epochs(0, (nth) => (nth === 0 ? { rateReset: epochS + 103 } : {}))),
    )
    expect(mixed).toMatchObject({ verdict: 'fail', witnesses: [{ slot: 0 }, { slot: 6 }] })
    const hours = await rate12.decide(await evidenceOf(epochs(7200)))
    expect(hours).toMatchObject({ verdict: 'fail', witnesses: [{ slot: 0 }] })
  })
})

describe('RATE-13', () => {
  /** A burst of twenty and a rejection, with resets that are epochs of another clock. */
  const burst = (aheadS: number) =>
    Array.from({ length: 21 }, (_, nth) =>
      rowOf(nth, nth, {
        status: nth < 20 ? 200 : 429,
        rateLimit: 20,
        rateRemaining: Math.max(0, 19 - nth),
        dateS: epochS,
        rateReset: epochS + 60 + aheadS,
      }),
    )

  test('treats a reset as over only by the clock that wrote it', async () => {
    const again = { status: 429, rateLimit: 20, rateRemaining: 0, rateReset: epochS + 20 }
    const rows = [...burst(-40), rowOf(21, 35_000, { ...again, dateS: epochS + 35 })]
    expect((await rate13.decide(await evidenceOf(rows))).verdict).toBe('not-observed')
  })
})

describe('RATE-15', () => {
  test('does not accuse one bucket for both endpoints that regains tokens', async () => {
    const used = [1, 2, 2, 3, 3, 3, 4, 4]
    const rows = used.map((count, nth) =>
      rowOf(nth, nth * 600, {
        endpoint: nth % 2 === 0 ? 'chat' : 'messages',
        rateLimit: 60,
        rateRemaining: 60 - count,
      }),
    )
    expect((await rate15.decide(await evidenceOf(rows))).verdict).toBe('inconclusive')
  })

  test('does not take reads that count between two answers for a separate counter', async () => {
    // m10, a rest of 6 s that a bucket of 60 uses to regain 6, c5, five reads, m11; three times.
    const round = (first: number, fromMs: number) => [
      rowOf(first, fromMs, { endpoint: 'messages', rateLimit: 60, rateRemaining: 50 }),
      rowOf(first + 1, fromMs + 6000, { rateLimit: 60, rateRemaining: 55 }),
      ...[2, 3, 4, 5, 6].map((nth) =>
        rowOf(first + nth, fromMs + 6000 + 10 * nth, { endpoint: 'models' }),
      ),
      rowOf(first + 7, fromMs + 6100, { endpoint: 'messages', rateLimit: 60, rateRemaining: 49 }),
    ]
    const rows = [...round(0, 0), ...round(8, 8000), ...round(16, 16_000)]
    expect((await rate15.decide(await evidenceOf(rows))).verdict).toBe('not-observed')
  })

  test('does not pass if more counts speak for counters of the endpoints than for one', async () => {
    // Chat and messages in turn. One counter: 1, 2, 3. Own counters: 1, 2 after 1, 2.
    const decided = async (...used: readonly number[]) => {
      const rows = used.map((count, nth) =>
        rowOf(nth, nth * 600, {
          endpoint: nth % 2 === 0 ? 'chat' : 'messages',
          rateLimit: 60,
          rateRemaining: 60 - count,
        }),
      )
      return rate15.decide(await evidenceOf(rows))
    }
    // Each from the third on: own, own, one.
    expect(await decided(5, 2, 6, 3, 4)).toMatchObject({
      verdict: 'inconclusive',
      why: '2 counts went on from their own endpoint, 1 from the other',
    })
    expect(await decided(5, 2, 6, 7, 8)).toMatchObject({ verdict: 'pass', observations: 3 })
  })

  test('judges a key that changes its endpoint more often than a call takes arguments', {
    tags: 'whole',
  }, async () => {
    const rows = Array.from({ length: 200_000 }, (_, nth) =>
      rowOf(nth, nth * 10, {
        endpoint: nth % 2 === 0 ? 'chat' : 'messages',
        rateLimit: 500_000,
        rateRemaining: 499_999 - nth,
      }),
    )
    expect(await rate15.decide(await evidenceOf(rows))).toEqual({
      verdict: 'pass',
      observations: 199_998,
    })
  })
})
