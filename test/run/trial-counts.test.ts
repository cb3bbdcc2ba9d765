import { expect, test } from 'vitest'
import type { Attempt } from '../../src/client/row/attempt.ts'
import { sumOfTrials, TrialCounter, total } from '../../src/run/search/trial-counts.ts'
import { type EndedTask, TaskTrialCounter } from '../../src/run/search/trial-tasks.ts'
import type { Flight } from '../../src/run/send/flight.ts'

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

test('a task of a trial is good if it succeeds in time and each of its requests is good', () => {
  const counter = new TaskTrialCounter(60, { slotBase: 0 }, 10, 5_000)
  const ok = { outcome: 'ok', status: 200 } as Attempt
  const refused = { outcome: 'http_error', status: 429 } as Attempt
  for (let index = 0; index < 7; index++) counter.began(index, 1000 * index)
  counter.ended({ slot: 13 } as Flight, ok, 1, 0)
  counter.ended({ slot: 21 } as Flight, refused, 1, 0)
  const over = (index: number, change: Partial<EndedTask>) =>
    counter.over(index, { outcome: 'ok', isRefused: false, tookUs: 5_000, ...change })
  over(0, {})
  over(1, {})
  over(2, { outcome: 'failed' })
  over(3, { tookUs: 5_001 })
  over(4, { isRefused: true, outcome: 'failed' })
  // The task of index 6 is three milliseconds old, that of index 5 four, and neither has missed yet.
  expect(counter.counts([], 9_000)).toMatchObject({ inFlight: 2, overdue: 0, limited: 1 })
  const { sent, notSent, judged, missed, overdue, serviceUs } = counter.counts([], 10_500)
  expect({ sent, notSent, overdue, serviceUs }).toEqual({
    ...{ sent: 6, notSent: 1, overdue: 1, serviceUs: 20_001 },
  })
  expect(judged.slice(0, 5)).toEqual([1, 1, 1, 1, 0])
  expect(missed.slice(0, 5)).toEqual([0, 1, 1, 1, 0])
  // An answer that is found to be wrong after the end of its task spoils it once.
  counter.disappointed(4)
  counter.disappointed(5)
  expect(total(counter.counts([], 0).missed)).toBe(4)
  counter.began(7, 0)
  counter.disappointed(70)
  expect(counter.counts([], 100).overdue).toBe(1)
})

test('a task with a request of which nothing is known is neither good nor missed, unless it fails', () => {
  const counter = new TaskTrialCounter(60, { slotBase: 0 }, 10, 5_000)
  for (let index = 0; index < 4; index++) counter.began(index, 0)
  // One request of each is not known; another of the second is bad.
  for (let index = 0; index < 4; index++) counter.undecided({ slot: 10 * index } as Flight)
  counter.ended({ slot: 13 } as Flight, { outcome: 'ok', status: 200 } as Attempt, 1, 0)
  const over = (index: number, change: Partial<EndedTask>) =>
    counter.over(index, { outcome: 'ok', isRefused: false, tookUs: 5_000, ...change })
  over(0, {})
  over(1, {})
  over(2, { outcome: 'failed' })
  over(3, { tookUs: 5_001 })
  const { judged, missed, unknown } = counter.counts([], 9_000)
  expect([unknown, total(judged), total(missed)]).toEqual([1, 3, 3])
})

test('a task or a request of which nothing is known misses as soon as one of its answers is found to be wrong', () => {
  const ended = { outcome: 'ok', isRefused: false, tookUs: 4_000 } as const
  const attempt = { sentUs: 1_000, endedUs: 5_000, firstContentUs: Number.NaN } as Attempt
  const none = { ttftUs: null, tpotUs: null, serviceUs: null, responseUs: null }
  const later = new TaskTrialCounter(60, { slotBase: 0 }, 10, 5_000)
  later.began(1, 0)
  later.undecided({ slot: 10 } as Flight)
  later.over(1, ended)
  expect(later.counts([], 0)).toMatchObject({ unknown: 1, serviceUs: 0 })
  // The wrong answers may be several.
  later.disappointed(11)
  later.disappointed(12)
  const before = new TaskTrialCounter(60, { slotBase: 0 }, 10, 5_000)
  before.began(1, 0)
  before.undecided({ slot: 10 } as Flight)
  before.disappointed(11)
  before.over(1, ended)
  const request = new TrialCounter(60, { slotBase: 0 }, 1, none)
  request.undecided({ slot: 1 } as Flight, attempt)
  request.disappointed(1)
  for (const counter of [later, before, request]) {
    const { unknown, judged, missed, logUs, serviceUs } = counter.counts([], 0)
    expect([unknown, total(judged), missed]).toEqual([0, 1, judged])
    expect([serviceUs, total(logUs)]).toEqual([4_000, Math.log(4_000)])
  }
})

test('requests of which nothing is known are counted beside those that are judged', () => {
  const none = { ttftUs: null, tpotUs: null, serviceUs: null, responseUs: null }
  const counter = new TrialCounter(10, { slotBase: 0 }, 1, none)
  const attempt = { sentUs: 0, endedUs: 10, firstContentUs: Number.NaN } as Attempt
  counter.undecided({ slot: 3 } as Flight, attempt)
  const one = counter.counts([], 0)
  expect([one.unknown, total(one.judged)]).toEqual([1, 0])
  expect(sumOfTrials([one, one]).unknown).toBe(2)
})

test('a trial knows how long the last refusal asks to wait, over all threads', () => {
  const none = { ttftUs: null, tpotUs: null, serviceUs: null, responseUs: null }
  const refused = (endedUs: number, retryAfter: number) =>
    ({
      ...{ sentUs: 0, endedUs, firstContentUs: Number.NaN, status: 429 },
      ...{ retryAfter, rateReset: Number.NaN, dateS: Number.NaN },
    }) as Attempt
  const [one, other, tasks] = [
    new TrialCounter(10, { slotBase: 0 }, 1, none),
    new TrialCounter(10, { slotBase: 0 }, 1, none),
    new TaskTrialCounter(10, { slotBase: 0 }, 1, null),
  ]
  expect(one.counts([], 0).resetUs).toBe(null)
  one.ended({ slot: 0 } as Flight, refused(10e6, 30), 1, 0)
  one.ended({ slot: 1 } as Flight, refused(11e6, Number.NaN), 1, 0)
  one.ended({ slot: 2 } as Flight, refused(12e6, 20), 1, 0)
  expect(one.counts([], 15e6)).toMatchObject({ limited: 3, resetUs: 25e6 })
  expect(one.counts([], 50e6).resetUs).toBe(0)
  expect(other.counts([], 15e6).resetUs).toBe(null)
  expect(sumOfTrials([other.counts([], 15e6), one.counts([], 15e6)]).resetUs).toBe(25e6)
  tasks.ended({ slot: 0 } as Flight, refused(10e6, 30), 1, 0)
  expect(tasks.counts([], 15e6).resetUs).toBe(25e6)
})
