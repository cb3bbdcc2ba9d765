import { expect, test } from 'vitest'
import type { Attempt } from '../../src/client/attempt.ts'
import type { Flight } from '../../src/run/flight.ts'
import { TrialCounter, total } from '../../src/run/trial-counts.ts'

test('an answer that turns out to be wrong misses in the part of its request', () => {
  const none = { ttftUs: null, tpotUs: null, serviceUs: null, responseUs: null }
  const counter = new TrialCounter(100, { slotBase: 1000 }, 1, none)
  const attempt = { sentUs: 0, endedUs: 10, firstContentUs: Number.NaN, status: 200 } as Attempt
  for (let slot = 1000; slot < 1100; slot++) counter.ended({ slot } as Flight, attempt, 1, 1)
  const before = counter.counts([], 0)
  expect([total(before.judged), total(before.missed)]).toEqual([100, 0])
  counter.disappointed(1000)
  counter.disappointed(1099)
  const { judged, missed } = counter.counts([], 0)
  expect(judged).toEqual(before.judged)
  expect([missed[0], missed.at(-1), total(missed)]).toEqual([1, 1, 2])
})
