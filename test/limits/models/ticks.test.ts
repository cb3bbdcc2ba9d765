import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { modelsThatExplain } from '../../../src/limits/models/fit.ts'
import type { LimiterTrace } from '../../../src/limits/models/model.ts'
import { ticksExplainAdmissions } from '../../../src/limits/models/ticks.ts'
import { arrivalOf } from '../limited-requests.ts'
import { type Limiter, minuteUs, tickedBucket } from './limiters.ts'

const limit = 20

function traceOf(limiter: Limiter, timesUs: readonly number[], reachUs: number): LimiterTrace {
  return {
    requests: timesUs.map((atUs, slot) => {
      const admitted = limiter(atUs)
      const beforeUs = (slot * 7919) % reachUs
      return arrivalOf(slot, atUs - beforeUs, atUs + reachUs - beforeUs, {
        decision: admitted ? 'admitted' : 'rejected',
        status: admitted ? 200 : 429,
      })
    }),
    limit,
    windowUs: minuteUs,
    earlierAtMost: 0,
    toleranceUs: 1_000,
    edge: null,
    counted: ({ decision }) => (decision === 'admitted' ? 'yes' : 'maybe'),
  }
}

const row = (count: number, fromS: number, gapS = 0.05) =>
  Array.from({ length: count }, (_, nth) => 1e9 + (fromS + nth * gapS) * 1e6)

describe('a bucket that gains a whole token at each tick of a clock', () => {
  test('admits 21 of 20 twice, which no other model explains', () => {
    const trace = traceOf(
      tickedBucket(limit, 1e9 + 2.1e6),
      [...row(45, 0), ...row(22, 94.9)],
      1_000,
    )
    expect(trace.requests.filter(({ decision }) => decision === 'admitted')).toHaveLength(42)
    const admissions = { ...trace, requests: trace.requests.filter((a) => a.status === 200) }
    expect(modelsThatExplain(admissions)).toEqual([])
    expect(ticksExplainAdmissions(trace)).toBe(true)
  })

  test('is explained for any phase of its ticks and any traffic', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.array(
          fc.record({
            pauseS: fc.double({ min: 0, max: 100, noNaN: true }),
            count: fc.integer({ min: 1, max: 45 }),
            gapS: fc.constantFrom(0, 0.001, 0.05, 1, 3),
          }),
          { minLength: 1, maxLength: 6 },
        ),
        fc.constantFrom(100, 30_000, 400_000),
        (phase, parts, reachUs) => {
          let clockS = 0
          const times = parts.flatMap(({ pauseS, count, gapS }) => {
            const part = row(count, clockS + pauseS, gapS)
            clockS += pauseS + count * gapS
            return part
          })
          const limiter = tickedBucket(limit, 1e9 + (phase * minuteUs) / limit)
          expect(ticksExplainAdmissions(traceOf(limiter, times, reachUs))).toBe(true)
        },
      ),
    )
  })

  test('does not admit 21 of 20 at two times half a tick apart', () => {
    const all = traceOf(() => true, [...row(21, 0), ...row(21, 94.5)], 1_000)
    expect(ticksExplainAdmissions(all)).toBe(false)
  })

  test('is found at any phase of a tick, to a sixtieth of a tick', () => {
    const tickUs = minuteUs / limit
    const stepUs = tickUs / 60
    const explained = (...ticksUs: readonly number[]) => {
      // Eleven just before a tick, ten just after it.
      const times = ticksUs.flatMap((us) =>
        Array.from({ length: 21 }, (_, nth) => us + (nth < 11 ? -1 : 1)),
      )
      const requests = times.map((us, slot) => arrivalOf(slot, us, us))
      return ticksExplainAdmissions({ ...traceOf(() => true, [], 1), requests, toleranceUs: 0 })
    }
    const first = 300 * tickUs + 7.5 * stepUs
    expect(explained(first, first + 40 * tickUs)).toBe(true)
    expect(explained(first, first + 40 * tickUs + 1.6 * stepUs)).toBe(false)
  })
})
