import fc from 'fast-check'
import { expect, test } from 'vitest'
import { retryDelayMs } from '../../src/client/head/retry.ts'
import { defaultContract } from '../../src/contract/default.ts'

const policy = defaultContract.retry
const noAdvice = { waitMs: Number.NaN, longestMs: 600_000 }

test('LIM-05: a 429 is retried after 1 s, then 2 s, each with up to a second of jitter', () => {
  expect(retryDelayMs(policy, 429, 1, noAdvice, () => 0)).toBe(1000)
  expect(retryDelayMs(policy, 429, 2, noAdvice, () => 0)).toBe(2000)
  expect(retryDelayMs(policy, 429, 2, noAdvice, () => 0.25)).toBe(2250)
  expect(retryDelayMs({ ...policy, maxAttempts: 9 }, 429, 3, noAdvice, () => 0.5)).toBe(4500)
})

test('LIM-05: there are at most three attempts', () => {
  expect(retryDelayMs(policy, 429, 3, noAdvice, () => 0)).toBe(null)
})

test('LIM-05: only a 429 is retried', () => {
  for (const status of [200, 400, 401, 403, 404, 500, 503, null]) {
    expect(retryDelayMs(policy, status, 1, noAdvice, () => 0)).toBe(null)
  }
})

test('LIM-05: no delay exceeds the cap', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.double({ min: 0, max: 0.999 }),
      (made, jitter) => {
        const delayMs = retryDelayMs(
          { ...policy, maxAttempts: 100 },
          429,
          made,
          noAdvice,
          () => jitter,
        )
        expect(delayMs).toBe(Math.min(1000 * 2 ** (made - 1) + jitter * 1000, 60_000))
      },
    ),
  )
})

test('a retry waits as long as the service asks, and never less than the backoff', () => {
  const after = (waitMs: number) =>
    retryDelayMs(policy, 429, 1, { waitMs, longestMs: 600_000 }, () => 0.5)
  expect(after(2000)).toBe(2000)
  expect(after(500)).toBe(1500)
  expect(after(0)).toBe(1500)
  expect(after(120_000)).toBe(120_000)
})

test('a request that the service asks to wait longer than any response may take is not retried', () => {
  const after = (waitMs: number) =>
    retryDelayMs(policy, 429, 1, { waitMs, longestMs: 600_000 }, () => 0)
  expect(after(600_000)).toBe(600_000)
  expect(after(600_001)).toBe(null)
  expect(after(1_767_225_630_000)).toBe(null)
})
