import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chanceOfAtLeast } from '../../src/report/usage/anomalies.ts'
import { readUsage } from '../../src/report/usage/read.ts'
import { judge } from '../../src/report/usage/reconcile.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { appendAttempts } from '../../src/store/recorder.ts'
import { attempt, enterRun, novemberUs } from './attempts.ts'
import { enterEvents, usageOptions, utc } from './usage-events.ts'

let store: Store
beforeEach(async () => {
  store = await openStore(':memory:')
})
afterEach(() => store.close())

describe('what wants a look', () => {
  const kinds = async () =>
    (await readUsage(store, usageOptions())).anomalies.map(({ kind, count }) => [kind, count])

  test('charges without success, successes without charge, tokens over the limit', async () => {
    const at = utc(2026, 11, 3)
    await enterEvents(store, [
      { atUs: at, outcome: 'http_error', status: 500, credits: 1 },
      { atUs: at, credits: 0 },
      { atUs: at, completionTokens: 1_165_619 },
      { atUs: at },
      { atUs: at, model: 'unknown', credits: 0 },
    ])
    expect(await kinds()).toEqual([
      ['charge-without-success', 1],
      ['success-without-charge', 1],
      ['tokens-over-limit', 1],
    ])
  })

  test('an hour far over the median, a jump of errors, a new key; an even week is quiet', async () => {
    const week = Array.from({ length: 7 * 24 }, (_, hour) =>
      Array.from({ length: 20 + (hour % 5) }, (_, at) => ({
        atUs: utc(2026, 11, 2) + hour * 3600e6 + at * 60e6,
      })),
    ).flat()
    await enterEvents(store, week)
    expect(await kinds()).toEqual([])
    await enterEvents(
      store,
      Array.from({ length: 200 }, (_, second) => ({
        atUs: utc(2026, 11, 5, 3) + second * 1e6,
        keyFp: 'fresh',
        ...(second % 10 === 0 ? { outcome: 'http_error', status: 500, credits: 0 } : {}),
      })),
    )
    expect(await kinds()).toEqual([
      ['unusual-hour', 1],
      ['error-jump', 1],
      ['new-key', 1],
    ])
  })

  test('the chance of a count is that of Poisson', () => {
    expect(chanceOfAtLeast(0, 5)).toBe(1)
    expect(chanceOfAtLeast(1, 0.5)).toBeCloseTo(1 - Math.exp(-0.5), 12)
    expect(chanceOfAtLeast(3, 0.6)).toBeCloseTo(0.0231, 4)
    expect(chanceOfAtLeast(1_000, 900)).toBeLessThan(0.01)
    expect(chanceOfAtLeast(5_000, 1_000)).toBeLessThan(1e-12)
  })

  test('a balance that stands still under charges is flagged', async () => {
    await enterRun(store)
    await appendAttempts(
      store,
      Array.from({ length: 60 }, (_, at) =>
        attempt(at, { creditsRemaining: at < 25 ? 500 : 500 - at }),
      ),
    )
    expect(await kinds()).toEqual([['flat-remaining', 1]])
  })
})

describe('reconciliation', () => {
  const poll = (minutes: number, consumed: number) =>
    store.execute(
      `INSERT INTO usage_polls (polled_us, base_url, key_fp, status, consumed)
       VALUES (${novemberUs + minutes * 60e6}, 'http://127.0.0.1', '0123456789ab', 200, ${consumed})`,
    )

  test('what the service says is held against what was seen, with what is ambiguous', async () => {
    await enterRun(store)
    await appendAttempts(store, [
      attempt(60),
      attempt(61, { model: 'svc-k2.5' }),
      attempt(62, { outcome: 'timeout', status: null, doneUs: null }),
      attempt(700),
      // Another key of the same account.
      attempt(701, { keyFp: 'ffffffffffff' }),
    ])
    // Two polls of the month before are no part of the period.
    await poll(-60 * 24 * 40, 1)
    await poll(-60 * 24 * 39, 2)
    await poll(0, 10)
    await poll(10, 14)
    await poll(20, 17)
    const { reconciliation } = await readUsage(store, usageOptions())
    expect(reconciliation).toMatchObject({
      known: true,
      verdict: 'differs',
      rows: [
        { serviceSays: 4, seen: 3, seenAtMost: 4, verdict: 'agrees', difference: 0 },
        { serviceSays: 3, seen: 2, seenAtMost: 2, verdict: 'differs', difference: 1 },
      ],
    })
  })

  test('without two polls nothing is said', () => {
    expect(judge([])).toMatchObject({ known: false })
  })
})
