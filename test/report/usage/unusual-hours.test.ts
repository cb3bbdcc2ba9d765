import { expect, test } from 'vitest'
import { busyIn, unusualIn } from '../../../src/report/usage/unusual-hours.ts'
import { type Random, randomOf } from '../../../src/user/random.ts'
import { utc } from '../usage-events.ts'

const normal = (random: Random) =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

/** Requests of an hour, of these chances for each of a hundred, and lognormal costs with a median of 5. */
const noise = (days: number, requests: number, sigma: number, seed: number) => {
  const random = randomOf(seed)
  return Array.from({ length: days * 24 }, () => {
    let sum = 0
    for (let at = 0; at < 100; at++)
      if (random() < requests / 100) sum += 5 * Math.exp(sigma * normal(random))
    return sum
  })
}
const hoursOf = (credits: readonly number[]) =>
  credits.map((used, at) => {
    const startUs = utc(2026, 10, 1) + at * 3600e6
    const label = new Date(startUs / 1000).toISOString().slice(0, 16).replace('T', ' ')
    return { startUs, label, credits: used, at }
  })
const found = (credits: readonly number[]) => unusualIn(hoursOf(credits)).map(({ hour }) => hour.at)

test.each([
  [1, 1],
  [3, 1],
  [30, 1],
  [30, 1.5],
])(
  'steady logs of %i requests an hour, whose costs scatter by %f, have no unusual hour',
  (requests, sigma) => {
    // Before, each of these ten months of logs had 4 to 35 of them.
    expect([1, 2, 3, 4, 5].flatMap((seed) => found(noise(60, requests, sigma, seed)))).toEqual([])
  },
)

test('one request of 40,000 credits, and a loop of an hour at five times the mean, are told', () => {
  const month = noise(30, 12, 1, 1)
  expect(found(month.with(400, month[400]! + 40_000))).toEqual([400])
  const busy = noise(30, 60, 0.7, 2)
  const mean = busy.reduce((sum, each) => sum + each, 0) / busy.length
  expect(found(busy.with(400, 5 * mean))).toEqual([400])
  // Two of them do not hide one another.
  expect(found(busy.with(400, 5 * mean).with(500, 6 * mean))).toEqual([400, 500])
})

test('an hour of less than 2 % of a week beyond its usual is none, however many times the usual it is', () => {
  // A week has 168 hours of 100: 2 % of the others are 334 to 335.
  const even = Array.from({ length: 168 }, () => 100)
  expect(found(even.with(100, 433))).toEqual([])
  expect(found(even.with(100, 435))).toEqual([100])
  // Where few hours are used, three times the usual are more than that.
  const few = Array.from({ length: 30 * 24 }, (_, at): number => (at % 24 === 9 ? 100 : 0))
  expect(found(few.with(417, 299))).toEqual([])
  expect(found(few.with(417, 301))).toEqual([417])
})

test('an hour at the ratio that the others explain is not unusual, and one above it is', () => {
  // A third of the hours are at three times the median, so the tail of the others ends at 3.
  const credits = Array.from({ length: 30 }, (_, at): number => (at < 20 ? 100 : 300))
  expect(found(credits)).toEqual([])
  expect(found(credits.with(29, 301))).toEqual([29])
})

test('a few requests in an hour of a quiet log are no busy hour', () => {
  const random = randomOf(2)
  const counts = Array.from({ length: 600 }, () => [0, 1, 1, 1, 2, 3][Math.floor(random() * 6)]!)
  const busy = (cents: number) =>
    busyIn(
      hoursOf(counts.map((count) => count * cents)).map((hour, at) => ({
        ...{ ...hour, requests: counts[at]! },
      })),
    )
  expect([busy(1), busy(100)]).toEqual([[], []])
})

test('an hour is busy in dollars, in cents and in millionths of a dollar alike', () => {
  const random = randomOf(1)
  const dollars = Array.from({ length: 240 }, () => 0.04 + 0.004 * normal(random))
  dollars[100] = 0.5
  const busy = (times: number) =>
    busyIn(hoursOf(dollars.map((amount) => amount * times))).map(({ hour }) => hour.at)
  expect(busy(1)[0]).toBe(100)
  expect([busy(100), busy(1e6)]).toEqual([busy(1), busy(1)])
})

test('open hours say what is usual only where fewer than 24 others have use', () => {
  const told = (over: number, open: number) => {
    const credits = Array.from({ length: over + open }, (_, at) => (at < over ? 100 : 1000))
    const hours = hoursOf(credits).map((hour) => ({ ...hour, open: hour.at >= over }))
    return [busyIn(hours), unusualIn(hours)].map((each) => each.map(({ usual }) => usual))
  }
  const one = [100]
  expect(told(23, 1)).toEqual([one, one])
  const each = Array.from({ length: 25 }, () => 100)
  expect(told(24, 25)).toEqual([each, each])
  // The usual of all of these is 1000.
  expect(told(23, 25)).toEqual([[], []])
})

test('a busy hour is above three roots of its usual times the mean amount of the requests that are told', () => {
  // 100 credits of 4 requests are 25 each: three roots of 100 * 25 are 150.
  const busy = (used: number) => {
    const credits = Array.from({ length: 25 }, (_, at) => (at === 24 ? used : 100))
    const hours = hoursOf(credits).map((hour) => (hour.at === 0 ? { ...hour, requests: 4 } : hour))
    return busyIn(hours).map(({ hour, usual }) => [hour.at, usual])
  }
  expect(busy(250)).toEqual([])
  expect(busy(251)).toEqual([[24, 100]])
})
