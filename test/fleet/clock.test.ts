import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SharedClock } from '../../src/fleet/clock.ts'

const ping = fc.record({
  afterUs: fc.integer({ min: 0, max: 2_000_000 }),
  thereUs: fc.integer({ min: 1, max: 50_000 }),
  backUs: fc.integer({ min: 1, max: 50_000 }),
})

test('the clock of shard 0 is within the error bound, for any ping times and clock drift', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1e9, max: 1e9 }),
      fc.double({ min: -0.001, max: 0.001, noNaN: true }),
      fc.array(ping, { minLength: 1, maxLength: 5 }),
      fc.array(ping, { maxLength: 20 }),
      (offsetUs, drift, before, after) => {
        const clock = new SharedClock()
        let nowUs = 0
        const theirs = (us: number) => us * (1 + drift) + offsetUs
        const see = ({ afterUs, thereUs, backUs }: (typeof before)[number]) => {
          const sentUs = nowUs + afterUs
          const gotUs = sentUs + thereUs + backUs
          clock.see({ sentUs, theirUs: theirs(sentUs + thereUs), gotUs })
          nowUs = gotUs
        }
        for (const each of before) see(each)
        const agreedUs = clock.agree()
        const away = () => Math.abs(theirs(nowUs) - nowUs - agreedUs)
        let worstUs = away()
        for (const each of after) {
          see(each)
          worstUs = Math.max(worstUs, away())
        }
        nowUs += 500_000
        expect(clock.errorUs(nowUs)).toBeGreaterThanOrEqual(Math.max(worstUs, away()) - 0.01)
      },
    ),
    { numRuns: 2000 },
  )
})

test('the tightest ping decides the clock, and a later loose ping does not worsen it', () => {
  const clock = new SharedClock()
  clock.see({ sentUs: 0, theirUs: 5_000, gotUs: 9_000 })
  clock.see({ sentUs: 10_000, theirUs: 11_050, gotUs: 10_100 })
  expect(clock.agree()).toBe(1_000)
  expect(clock.errorUs(10_100)).toBeCloseTo(50.1, 9)
  clock.see({ sentUs: 10_200, theirUs: 90_000, gotUs: 200_000 })
  expect(clock.errorUs(200_000)).toBeCloseTo(50.1 + 189.9, 9)
})

test('a clock that was set shows in a larger error bound', () => {
  const clock = new SharedClock()
  clock.see({ sentUs: 0, theirUs: 50, gotUs: 100 })
  expect(clock.agree()).toBe(0)
  clock.see({ sentUs: 1_000, theirUs: 501_050, gotUs: 1_100 })
  expect(clock.errorUs(1_100)).toBeCloseTo(500_050, -1)
})

test('without a ping the error is infinite', () => {
  expect(new SharedClock().errorUs(0)).toBe(Infinity)
})
