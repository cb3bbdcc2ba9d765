import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { algorithms, createLimiter } from '../../src/service/limiter/limiter.ts'
import { RateTable } from '../../src/service/rates.ts'

const windowUs = 60e6
const startUs = 1_800_000_000e6

/** Drives a limiter as the service does, and returns the times of its admissions. */
function admitted(
  algorithm: (typeof algorithms)[number],
  limit: number,
  gapsUs: readonly number[],
): readonly number[] {
  const limiter = createLimiter(algorithm, windowUs)
  const times: number[] = []
  let nowUs = startUs
  for (const gapUs of gapsUs) {
    nowUs += gapUs
    if (!limiter.admits(nowUs, limit)) continue
    limiter.count(nowUs, limit)
    times.push(nowUs)
  }
  return times
}

const most = (times: readonly number[]) =>
  times.reduce((max, from, index) => {
    let end = index
    while (end < times.length && times[end]! - from < windowUs) end++
    return Math.max(max, end - index)
  }, 0)

const gaps = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 5e6 }), fc.integer({ min: 0, max: 100 }), fc.constant(59e6)),
  { minLength: 1, maxLength: 300 },
)

describe.each(algorithms)('%s', (algorithm) => {
  test('never admits more than twice the limit in any window', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), gaps, (limit, gapsUs) => {
        expect(most(admitted(algorithm, limit, gapsUs))).toBeLessThanOrEqual(2 * limit)
      }),
    )
  })

  test('admits at most the limit, and exactly its burst, in one burst from idle', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), (limit) => {
        const burst = admitted(algorithm, limit, Array(3 * limit).fill(0))
        expect(burst).toHaveLength(algorithm === 'gcra' ? 1 : limit)
      }),
    )
  })

  test('admits all evenly spaced requests slightly below the limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (limit) => {
        const even = Array(3 * limit).fill(Math.ceil(windowUs / limit) + 1)
        expect(admitted(algorithm, limit, even)).toHaveLength(3 * limit)
      }),
    )
  })

  test('admits a request after a rest of a window, even if refused requests were counted', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), gaps, (limit, gapsUs) => {
        const limiter = createLimiter(algorithm, windowUs)
        let nowUs = startUs
        for (const gapUs of gapsUs) {
          nowUs += gapUs
          limiter.count(nowUs, limit)
        }
        // A counter that weights the last window takes two windows to forget.
        const restUs = algorithm === 'sliding-counter' ? 2 * windowUs : windowUs
        expect(limiter.admits(nowUs + restUs, limit)).toBe(true)
      }),
    )
  })

  test('shows a remaining count within the limit, which is zero exactly when it refuses', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), gaps, (limit, gapsUs) => {
        const limiter = createLimiter(algorithm, windowUs)
        let nowUs = startUs
        for (const gapUs of gapsUs) {
          nowUs += gapUs
          const remaining = limiter.remaining(nowUs, limit)
          expect(remaining).toBeGreaterThanOrEqual(0)
          expect(remaining).toBeLessThanOrEqual(limit)
          expect(remaining > 0).toBe(limiter.admits(nowUs, limit))
          if (remaining > 0) limiter.count(nowUs, limit)
        }
      }),
    )
  })

  test('admits again at the reset that it shows, which is within a window', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), gaps, (limit, gapsUs) => {
        const limiter = createLimiter(algorithm, windowUs)
        let nowUs = startUs
        for (const gapUs of gapsUs) {
          nowUs += gapUs
          const resetUs = limiter.resetUs(nowUs, limit)
          expect(resetUs).toBeGreaterThanOrEqual(nowUs)
          expect(resetUs - nowUs).toBeLessThanOrEqual(windowUs + limit)
          if (limiter.admits(nowUs, limit)) {
            limiter.count(nowUs, limit)
          } else {
            nowUs = resetUs
            expect(limiter.admits(nowUs, limit)).toBe(true)
          }
        }
      }),
    )
  })
})

test('a sliding log never admits more than the limit in any window', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), gaps, (limit, gapsUs) => {
      expect(most(admitted('sliding-log', limit, gapsUs))).toBeLessThanOrEqual(limit)
    }),
  )
})

test('an aligned window ends at a multiple of its length, an anchored one a window after its first request', () => {
  const aligned = createLimiter('fixed-aligned', windowUs)
  const anchored = createLimiter('fixed-anchored', windowUs)
  const first = startUs + 50e6
  for (const limiter of [aligned, anchored]) limiter.count(first, 1)
  expect(aligned.admits(startUs + 60e6, 1)).toBe(true)
  expect(anchored.admits(startUs + 60e6, 1)).toBe(false)
  expect(anchored.admits(first + windowUs, 1)).toBe(true)
})

test.each(algorithms)(
  '%s: a look counts its own request as one, even if it was counted later',
  (algorithm) => {
    const limits = { minute: 60, hour: 2_000, day: 20_000 }
    const table = new RateTable(algorithm, 'kept')
    const look = table.look('key', limits, startUs)
    table.count('key', limits, startUs + 700)
    const { remaining, resetUs } = look.window('minute')
    expect(remaining).toBe(algorithm === 'gcra' ? 0 : 59)
    expect(resetUs).toBeGreaterThanOrEqual(startUs + 700)
  },
)
