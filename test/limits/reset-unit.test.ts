import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  inferResetUnit,
  limiterClock,
  type ResetUnit,
  resetInstant,
} from '../../src/limits/reset-unit.ts'
import { serviceClock } from '../../src/limits/service-clock.ts'
import { arrivalOf } from './limited-requests.ts'

const epochS = 1_767_225_600

/** Answers of a fixed minute window at these seconds, with the reset in a unit. */
function samples(unit: ResetUnit, seconds: readonly number[]) {
  const write = (atS: number) => {
    const leftS = 60 - (atS % 60)
    switch (unit) {
      case 'delta-s':
        return Math.ceil(leftS)
      case 'delta-ms':
        return Math.ceil(leftS * 1e3)
      case 'epoch-s':
        return Math.ceil(epochS + atS + leftS)
      case 'epoch-ms':
        return Math.ceil((epochS + atS + leftS) * 1e3)
      case 'epoch-us':
        return Math.ceil((epochS + atS + leftS) * 1e6)
    }
  }
  return seconds.map((atS, slot) => ({
    request: arrivalOf(slot, atS * 1e6, atS * 1e6 + 2_000, {
      limit: 60,
      dateS: Math.floor(epochS + atS),
    }),
    value: write(atS),
    windowUs: 60e6,
  }))
}

/** The samples of each key together. */
const infer = (given: ReturnType<typeof samples>) => {
  const byKey = [...Map.groupBy(given, ({ request }) => request.key).values()].flat()
  return inferResetUnit(byKey, serviceClock(given.map(({ request }) => request))).units
}

describe('the unit of a reset', () => {
  test.each(['delta-s', 'delta-ms', 'epoch-s', 'epoch-ms', 'epoch-us'] as const)(
    '%s is identified from eight seconds of traffic',
    (unit) => {
      expect(infer(samples(unit, [1, 2, 3, 4, 5, 6, 7, 8]))).toEqual([unit])
    },
  )

  test('stays open between two units if one sample fits both', () => {
    expect(infer(samples('delta-s', [20]))).toEqual(['delta-s', 'delta-ms'])
  })

  test('is none for microseconds from now', () => {
    const [sample] = samples('delta-s', [20])
    expect(infer([{ ...sample!, value: 40e6 }])).toEqual([])
  })

  test('stays open if nearly constant milliseconds happen to fall with the seconds for a while', () => {
    // A bucket returns a token in 300 ms; each answer is a little later, until one is not.
    const values = [300, 299, 298, 297, 296, 295, 294, 293, 300]
    const seconds = values.map((_, at) => at)
    const told = samples('delta-ms', seconds).map((sample, at) => ({
      ...sample,
      value: values[at]!,
      windowUs: 3600e6,
    }))
    expect(infer(told)).toEqual(['delta-s', 'delta-ms'])
  })

  test('is found across the end of a window', () => {
    expect(infer(samples('delta-s', [50, 53, 56, 59, 61, 64, 67]))).toEqual(['delta-s'])
  })

  test('is found if a window shows its whole length until its first request', () => {
    const waiting = [0, 5, 10, 15].map((second) => ({ second, value: 60 }))
    const counting = [60, 58, 56, 54, 52].map((value, at) => ({ second: 20 + 2 * at, value }))
    const told = [...waiting, ...counting]
    const given = samples(
      'delta-s',
      told.map(({ second }) => second),
    ).map((sample, at) => ({ ...sample, value: told[at]!.value }))
    expect(infer(given)).toEqual(['delta-s'])
  })

  test('is found despite an answer that takes eight seconds and shows the value at its end', () => {
    const given = samples('delta-s', [1, 3, 5, 7, 9, 11, 21, 23, 25])
    const [slow] = samples('delta-s', [20])
    const { request, value, windowUs } = slow!
    given.splice(6, 0, { request: { ...request, fromUs: 12e6 }, value, windowUs })
    expect(infer(given)).toEqual(['delta-s'])
  })

  test('is found despite one value of another counter', () => {
    const seconds = [1, 3, 5, 7, 9, 11, 13]
    const given = samples('delta-s', seconds)
    given.splice(3, 0, { ...given[3]!, value: 12 })
    expect(infer(given)).toEqual(['delta-s'])
  })

  test('is never milliseconds for seconds of a long window that are sampled for a moment each time', () => {
    // 3,412 s fall to 3,411 in a second: as milliseconds they are constant, near the line for 1.5
    // s.
    const looks = Array.from({ length: 6 }, (_, nth) => [nth * 600, nth * 600 + 1.1]).flat()
    const resets = looks.map((atS, slot) => ({
      request: arrivalOf(slot, atS * 1e6, atS * 1e6 + 2_000, {
        limit: 50,
        dateS: Math.floor(epochS + atS),
      }),
      value: Math.ceil(3_412 - (atS % 600)),
      windowUs: 3600e6,
    }))
    expect(infer(resets)).toContain('delta-s')
  })

  test('is found if one count breaks off and the others continue', () => {
    const counted = [1, 4, 7, 10, 13, 16]
    const later = [60, 120, 180].flatMap((start) => counted.map((second) => start + second))
    const given = samples('delta-s', [1, 3, 5, 7, 9, ...later])
    given.splice(5, 0, { ...given[4]!, value: 12 })
    expect(infer(given)).toEqual(['delta-s'])
  })

  test('is found for each of two keys and two routes separately', () => {
    const given = samples('delta-s', [1, 3, 5, 7, 9, 11]).flatMap((sample, nth) => [
      sample,
      { ...sample, request: { ...sample.request, key: 'key-b' }, value: 31 - 7 * (nth % 3) },
      { ...sample, request: { ...sample.request, endpoint: 'messages' as const }, value: 9 + nth },
    ])
    expect(infer(given)).toEqual(['delta-s'])
  })

  test('is never seconds for milliseconds of a bucket, whatever the traffic', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 3_000 }),
        fc.array(fc.double({ min: 0.001, max: 8, noNaN: true }), { minLength: 4, maxLength: 60 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 60, maxLength: 60 }),
        (gapMs, waits, shares) => {
          let second = 0
          const seconds = waits.map((wait) => {
            second += wait
            return second
          })
          const given = samples('delta-ms', seconds).map((sample, nth) => ({
            ...sample,
            value: Math.ceil(gapMs * shares[nth]!),
            windowUs: 3600e6,
          }))
          expect(infer(given)).toContain('delta-ms')
        },
      ),
    )
  })

  test('always includes the true unit, whatever the traffic', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<ResetUnit>('delta-s', 'delta-ms', 'epoch-s', 'epoch-ms', 'epoch-us'),
        fc.array(fc.double({ min: 0, max: 600, noNaN: true }), { minLength: 1, maxLength: 40 }),
        (unit, seconds) => {
          expect(
            infer(
              samples(
                unit,
                seconds.sort((a, b) => a - b),
              ),
            ),
          ).toContain(unit)
        },
      ),
    )
  })
})

describe('the clock of the service', () => {
  const at = (us: number, dateS: number) => arrivalOf(0, us, us + 1_000, { dateS })

  test('is known to a second from one Date, and better once a tick was seen', () => {
    const one = serviceClock([at(300_000, 1_000)])!
    expect(one.highUs - one.lowUs).toBeCloseTo(1.101e6, -1)
    const ticked = serviceClock([at(300_000, 1_000), at(600_000, 1_001)])!
    expect(ticked.highUs - ticked.lowUs).toBeLessThan(0.81e6)
  })

  test('is unknown if no offset fits all, as when Date does not run at the same speed', () => {
    expect(serviceClock([at(0, 1_000), at(10e6, 1_002)])).toBeNull()
  })
})

test('two values four seconds off a count leave both units open', () => {
  const counted = [0, 2, 4, 6, 8].map((second) => ({ second, value: 60 - second }))
  const told = (strays: readonly { second: number; value: number }[]) => {
    const all = [...counted, ...strays].sort((a, b) => a.second - b.second)
    const given = samples(
      'delta-s',
      all.map(({ second }) => second),
    ).map((sample, at) => ({ ...sample, value: all[at]!.value }))
    return infer(given)
  }
  expect(told([])).toEqual(['delta-s'])
  expect(
    told([
      { second: 5, value: 59 },
      { second: 7, value: 49 },
    ]),
  ).toEqual(['delta-s', 'delta-ms'])
})

test('the longest of several counts rules the other unit out', () => {
  const seconds = [50, 52, 54, 61, 64, 67, 70]
  const given = samples('delta-s', seconds)
  const clock = serviceClock(given.map(({ request }) => request))
  const pair = inferResetUnit(given, clock).ruledOut.get('delta-ms')
  expect(pair?.map(({ request }) => request.fromUs / 1e6)).toEqual([61, 70])
})

test('a reset is within one unit of its value, on the clock of the requests', () => {
  const [sample] = samples('delta-s', [20])
  expect(resetInstant('delta-s', sample!, null)).toEqual({ lowUs: 59e6, highUs: 61.002e6 })
  const [epoch] = samples('epoch-s', [20])
  const clock = { lowUs: epochS * 1e6 - 5, highUs: epochS * 1e6 + 5 }
  expect(resetInstant('epoch-s', epoch!, null)).toBeNull()
  expect(resetInstant('epoch-s', epoch!, clock)).toEqual({ lowUs: 59e6 - 5, highUs: 61e6 + 5 })
})

test('a count needs three votes, a second apart, over five seconds', () => {
  const both = ['delta-s', 'delta-ms']
  expect(infer(samples('delta-s', [1, 2, 3, 6]))).toEqual(['delta-s'])
  const told = (seconds: readonly number[]) =>
    infer(
      samples('delta-s', seconds).map((sample) => ({
        ...sample,
        value: 60 - sample.request.fromUs / 1e6,
      })),
    )
  expect(told([1, 2, 3, 6])).toEqual(['delta-s'])
  expect(told([1, 2, 3, 5.999999])).toEqual(both)
  expect(told([1, 1.999999, 3, 6])).toEqual(both)
})

describe('the range of a reset', () => {
  const sampleOf = (value: number, slot = 0) => ({
    request: arrivalOf(slot, 0, 0),
    value,
    windowUs: 60e6,
  })
  const unitsOf = (value: number, clock: { lowUs: number; highUs: number } | null) =>
    inferResetUnit([sampleOf(value)], clock).units
  const atUs = epochS * 1e6
  const clock = { lowUs: atUs, highUs: atUs }

  test('of a delta is the window plus a second and a half', () => {
    expect([-1, 0, 61.5, 61.500001, 61_500, 61_500.001].map((each) => unitsOf(each, null))).toEqual(
      [[], ['delta-s', 'delta-ms'], ['delta-s', 'delta-ms'], ['delta-ms'], ['delta-ms'], []],
    )
  })

  test('of an epoch without a clock begins in 2001 and ends at ten times that value', () => {
    const values = [1e9 - 1, 1e9, 1e10 - 1, 1e10, 1e12 - 1, 1e12, 1e13, 1e15 - 1, 1e15, 1e16]
    expect(values.map((each) => unitsOf(each, null).join())).toEqual([
      ...['', 'epoch-s', 'epoch-s', ''],
      ...['', 'epoch-ms', '', ''],
      ...['epoch-us', ''],
    ])
  })

  test('of an epoch with a clock is from now to a window ahead, with a minute of skew on either side', () => {
    // A minute of skew, a second and a half of slack, and one microsecond of rounding.
    const earliestUs = atUs - 61.5e6 - 1
    const latestUs = atUs + 60e6 + 61.5e6 + 1
    const values = [earliestUs - 1, earliestUs, latestUs, latestUs + 1]
    expect(values.map((each) => unitsOf(each, clock).join())).toEqual([
      ...['', 'epoch-us', 'epoch-us', ''],
    ])
  })

  test('holds all epochs by one clock, or rules them out by the two furthest apart', () => {
    const [late, early] = [sampleOf(atUs + 110e6, 1), sampleOf(atUs - 50e6, 2)]
    const found = inferResetUnit([sampleOf(atUs + 9e6), late, early], clock)
    expect(found.units).toEqual([])
    expect(found.ruledOut.get('epoch-us')).toEqual([late, early])
    expect(limiterClock('epoch-us', [late, early], clock)).toBeNull()
    expect(limiterClock('epoch-us', [late], clock)).toEqual({
      ...{ lowUs: atUs + 110e6 - 61.5e6 - 1, highUs: atUs + 60e6 },
    })
    expect(limiterClock('epoch-us', [early], clock)).toEqual({
      ...{ lowUs: atUs - 60e6, highUs: atUs - 50e6 + 1.5e6 + 1 },
    })
    expect(limiterClock('delta-s', [late, early], clock)).toEqual(clock)
    expect(limiterClock('epoch-us', [late], null)).toBeNull()
  })
})
