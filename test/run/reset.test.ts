import { expect, test } from 'vitest'
import type { Attempt } from '../../src/client/row/attempt.ts'
import { resetAtUs } from '../../src/run/search/reset.ts'

const none = Number.NaN

test.each([
  ['Retry-After before the reset', { retryAfter: 7, rateReset: 50 }, 7],
  ['seconds', { rateReset: 50 }, 50],
  ['milliseconds', { rateReset: 50_000 }, 50],
  ['Unix seconds', { rateReset: 1_780_000_050 }, 50],
  ['Unix milliseconds', { rateReset: 1_780_000_050_000 }, 50],
  ['Unix microseconds', { rateReset: 1_780_000_050_000_000 }, 50],
  ['a reset that is past', { rateReset: 1_779_999_990 }, 0],
  ['neither', {}, none],
  ['Unix time without a Date', { rateReset: 1_780_000_050, dateS: none }, none],
])('a refusal says when the next request is let in: %s', (_, headers, seconds) => {
  const attempt = { endedUs: 3e6, retryAfter: none, rateReset: none, dateS: 1_780_000_000 }
  expect(resetAtUs({ ...attempt, ...headers } as Attempt)).toBe(3e6 + seconds * 1e6)
})
