import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LimitedRequest } from '../../../src/limits/limited-request.ts'
import { fitModels, modelsThatExplain, nameModels } from '../../../src/limits/models/fit.ts'
import type { LimiterTrace, Model } from '../../../src/limits/models/model.ts'
import { arrivalOf, byStart } from '../limited-requests.ts'
import {
  fixedAligned,
  fixedAnchored,
  type Limiter,
  minuteUs,
  slidingCounter,
  slidingLog,
  tokenBucket,
} from './limiters.ts'

const limit = 20

/** A decision time, and how far its interval extends on each side. */
interface Sent {
  readonly atUs: number
  readonly beforeUs: number
  readonly afterUs: number
}

function traceOf(
  requests: readonly LimitedRequest[],
  { earlierAtMost = 0, edge = null as LimiterTrace['edge'] } = {},
): LimiterTrace {
  return {
    requests,
    limit,
    windowUs: minuteUs,
    earlierAtMost,
    toleranceUs: 1000,
    edge,
    counted: (request) => (request.decision === 'admitted' ? 'yes' : 'maybe'),
  }
}

function play(limiter: Limiter, sent: readonly Sent[]): readonly LimitedRequest[] {
  return [...sent]
    .sort((x, y) => x.atUs - y.atUs)
    .map(({ atUs, beforeUs, afterUs }, slot) => {
      const admitted = limiter(atUs)
      return arrivalOf(slot, atUs - beforeUs, atUs + afterUs, {
        decision: admitted ? 'admitted' : 'rejected',
        status: admitted ? 200 : 429,
      })
    })
    .sort(byStart)
}

/** Bursts, trickles and pauses near the edges of windows, with overlapping intervals. */
const traffic: fc.Arbitrary<readonly Sent[]> = fc
  .array(
    fc.record({
      pauseUs: fc.oneof(
        fc.integer({ min: 0, max: 5_000_000 }),
        fc.constantFrom(minuteUs, minuteUs - 200_000, minuteUs / 2, minuteUs / limit),
      ),
      count: fc.integer({ min: 1, max: 30 }),
      gapUs: fc.constantFrom(0, 1_000, 100_000, minuteUs / limit / 4, minuteUs / limit),
      reachUs: fc.constantFrom(100, 2_000, 300_000),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => {
    const sent: Sent[] = []
    let clockUs = 3 * minuteUs
    for (const { pauseUs, count, gapUs, reachUs } of parts) {
      clockUs += pauseUs
      for (let nth = 0; nth < count; nth++) {
        clockUs += gapUs
        sent.push({
          atUs: clockUs,
          beforeUs: (nth * 7919) % reachUs,
          afterUs: (nth * 104_729) % reachUs,
        })
      }
    }
    return sent
  })

const truths: readonly {
  readonly name: string
  readonly limiter: (phaseUs: number) => Limiter
  readonly is: (model: Model) => boolean
}[] = [
  {
    name: 'fixed windows on the clock',
    limiter: (phaseUs) => fixedAligned(limit, phaseUs),
    is: ({ algorithm }) => algorithm === 'fixed-aligned',
  },
  {
    name: 'fixed windows from the first hit',
    limiter: () => fixedAnchored(limit),
    is: ({ algorithm }) => algorithm === 'fixed-anchored',
  },
  ...[false, true].map((counts) => ({
    name: `a sliding log${counts ? ' that counts rejections' : ''}`,
    limiter: () => slidingLog(limit, counts),
    is: (model: Model) => model.algorithm === 'sliding-log' && model.rejectionsCount === counts,
  })),
  ...[Math.floor, Math.ceil, (value: number) => value].flatMap((round, nth) =>
    [false, true].map((counts) => ({
      name: `a sliding counter, rounding ${nth}${counts ? ', that counts rejections' : ''}`,
      limiter: (phaseUs: number) => slidingCounter(limit, phaseUs, counts, round),
      is: (model: Model) =>
        model.algorithm === 'sliding-counter' && model.rejectionsCount === counts,
    })),
  ),
  ...[limit, 5, 1].flatMap((burst) =>
    [
      { counts: false, debt: 0, how: '' },
      { counts: true, debt: 0, how: ' that loses what it regains to rejections' },
      { counts: true, debt: Number.POSITIVE_INFINITY, how: ' that rejections run into debt' },
    ].map(({ counts, debt, how }) => ({
      name: `a bucket of ${burst}${how}`,
      limiter: () => tokenBucket(limit, burst, counts, debt),
      is: (model: Model) =>
        model.algorithm === 'bucket' && model.burst === burst && model.rejectionsCount === counts,
    })),
  ),
]

describe('the true model always fits', () => {
  test.each(truths)('$name', { tags: 'whole' }, ({ limiter, is }) => {
    fc.assert(
      fc.property(traffic, fc.integer({ min: 0, max: minuteUs - 1 }), (sent, phaseUs) => {
        const fits = fitModels(traceOf(play(limiter(phaseUs), sent)))
        const truth = fits.find(({ model }) => is(model))
        expect(truth?.contradiction).toBeNull()
      }),
      { numRuns: 40 },
    )
  })

  test.each(truths)('$name, seen from the middle on', ({ limiter, is }) => {
    fc.assert(
      fc.property(traffic, fc.integer({ min: 0, max: minuteUs - 1 }), (sent, phaseUs) => {
        const all = play(limiter(phaseUs), sent)
        const later = all.slice(all.length >> 1)
        const fits = fitModels(traceOf(later, { earlierAtMost: Number.POSITIVE_INFINITY }))
        expect(fits.find(({ model }) => is(model))?.contradiction).toBeNull()
      }),
      { numRuns: 20 },
    )
  })
})

/** Idle, a burst of 1.5 N, polling at W/N/4 until two windows are over. */
function probe(phaseUs = 0): readonly Sent[] {
  const reach = { beforeUs: 500, afterUs: 500 }
  const burst = Array.from({ length: limit * 1.5 }, (_, nth) => ({
    atUs: phaseUs + 17e6 + nth * 2_000,
    ...reach,
  }))
  const polls = Array.from({ length: 160 }, (_, nth) => ({
    atUs: phaseUs + 18e6 + (nth * minuteUs) / limit / 4,
    ...reach,
  }))
  return [...burst, ...polls]
}

describe('the probe plan distinguishes the algorithms', () => {
  const edge = { lowUs: 0, highUs: 0 }
  const seen = (limiter: Limiter) =>
    nameModels(modelsThatExplain(traceOf(play(limiter, probe()), { edge })), limit)

  test('fixed windows on the clock', () => {
    expect(seen(fixedAligned(limit, 0))).toEqual(['fixed-aligned'])
  })
  test('fixed windows from the first hit', () => {
    expect(seen(fixedAnchored(limit))).toEqual(['fixed-anchored', 'sliding-log'])
  })
  test('a sliding counter', () => {
    expect(seen(slidingCounter(limit, 0, false, Math.floor))).toEqual(['sliding-counter'])
  })
  test('a token bucket', () => {
    expect(seen(tokenBucket(limit, limit))).toEqual(['token bucket'])
  })
  test('a bucket of five', () => {
    expect(seen(tokenBucket(limit, 5))).toEqual(['bucket of 5'])
  })
})

test('no model explains a limiter that rejects one request too early', () => {
  const early = play(fixedAligned(limit - 1, 0), probe())
  expect(modelsThatExplain(traceOf(early, { edge: { lowUs: 0, highUs: 0 } }))).toEqual([])
})

test('no model explains a limiter that admits one request too many', () => {
  const late = play(fixedAligned(limit + 1, 0), probe())
  expect(modelsThatExplain(traceOf(late, { edge: { lowUs: 0, highUs: 0 } }))).toEqual([])
})

test('21 of 20 pipelined requests after a rest are more than an anchored window admits', () => {
  const sent = Array.from({ length: 21 }, (_, nth) => ({
    atUs: 3 * minuteUs + nth * 25_000,
    beforeUs: 5_000,
    afterUs: 50_000,
  }))
  const anchored = fitModels(traceOf(play(() => true, sent))).find(
    ({ model }) => model.algorithm === 'fixed-anchored',
  )
  expect(anchored?.contradiction).toMatchObject({
    kind: 'should-be-rejected',
    request: { slot: 20 },
  })
})

describe('a bucket at its bounds', () => {
  const rejected = { decision: 'rejected', status: 429 } as const
  const kindOf = (requests: readonly LimitedRequest[], burst: number, earlierAtMost: number) =>
    fitModels(traceOf(requests, { earlierAtMost })).find(
      ({ model }) =>
        model.algorithm === 'bucket' && model.burst === burst && !model.rejectionsCount,
    )?.contradiction?.kind

  test('admits two requests a token apart, within the tolerance on both sides and rounding', () => {
    const apart = (us: number) => kindOf([arrivalOf(0, 0, 0), arrivalOf(1, us, us)], 1, 0)
    const tokenUs = minuteUs / limit
    expect(apart(tokenUs - 2_001)).toBeUndefined()
    expect(apart(tokenUs - 2_002)).toBe('should-be-rejected')
  })

  test('had less than one token left at a first rejection', () => {
    const first = arrivalOf(0, 0, 0, rejected)
    const [second, third] = [4_000, 8_000].map((atUs, slot) => arrivalOf(slot + 1, atUs, atUs))
    expect(kindOf([first, second!], 5, Infinity)).toBeUndefined()
    expect(kindOf([first, second!, third!], 5, Infinity)).toBe('should-be-rejected')
  })

  test('is not explained by requests after a rejection', () => {
    const requests = [arrivalOf(0, 0, 0, rejected), arrivalOf(1, 100, 100)]
    expect(kindOf(requests, 1, 0)).toBe('should-be-admitted')
    expect(kindOf(requests, 1, 1)).toBeUndefined()
  })
})

test('a sliding counter may have counted in the window before the trace, by its remaining share', () => {
  const rejection = arrivalOf(0, 3 * minuteUs, 3 * minuteUs, { decision: 'rejected', status: 429 })
  const found = (earlierAtMost: number) =>
    fitModels(
      traceOf([rejection], {
        earlierAtMost,
        edge: { lowUs: 2.5 * minuteUs, highUs: 2.5 * minuteUs },
      }),
    ).find(({ model }) => model.algorithm === 'sliding-counter')?.contradiction?.kind
  // Half of 13 is 7, and another 13 in the window itself.
  expect(found(13)).toBeUndefined()
  expect(found(12)).toBe('should-be-admitted')
})

describe('a phase is searched in steps of 1/600 of a window', () => {
  const stepUs = minuteUs / 600
  const edgeUs = 5 * minuteUs
  const rejected = { decision: 'rejected', status: 429 } as const
  const admitted = (count: number, atUs: number) =>
    Array.from({ length: count }, (_, slot) => arrivalOf(slot, atUs, atUs))
  /** Whether fixed windows explain it, and sliding counters without and with counted rejections. */
  const explained = (requests: readonly LimitedRequest[], edge: LimiterTrace['edge']) => {
    const fits = fitModels({ ...traceOf(requests, { edge }), toleranceUs: 0 })
    return ['fixed-aligned', 'sliding-counter'].flatMap((algorithm) =>
      fits
        .filter(({ model }) => model.algorithm === algorithm)
        .map(({ contradiction }) => contradiction === null),
    )
  }
  /** Fixed windows admit N just before an edge and just after it, at each of two edges. */
  const twoEdges = (apartUs: number) =>
    [-1, 1, minuteUs + apartUs - 1, minuteUs + apartUs + 1].flatMap((us) =>
      admitted(limit, edgeUs + us),
    )
  /** After N, a counter admits one at its edge, and rejects the next within six seconds. */
  const oneEdge = (apartUs: number) => [
    ...admitted(limit, edgeUs - 20e6),
    ...admitted(1, edgeUs + 1),
    arrivalOf(99, edgeUs + 6e6 + apartUs - 1, edgeUs + 6e6 + apartUs - 1, rejected),
  ]

  test('and found anywhere, up to the last half of a step', () => {
    const edge = { lowUs: edgeUs - 1.6 * stepUs, highUs: edgeUs }
    expect(explained(twoEdges(0), edge)[0]).toBe(true)
    expect(explained(oneEdge(0), edge).slice(1)).toEqual([true, true])
  })

  test('but edges more than a step and a half apart have no common phase', () => {
    const edge = { lowUs: edgeUs - 3 * stepUs, highUs: edgeUs + 3 * stepUs }
    expect(explained(twoEdges(1.6 * stepUs), null)[0]).toBe(false)
    expect(explained(oneEdge(1.6 * stepUs), edge).slice(1)).toEqual([false, false])
  })
})

test('bucket depths up to 512 are all tried, and above that 512 values up to the limit', () => {
  const depths = (most: number) =>
    fitModels({ ...traceOf([arrivalOf(0, 0, 0)]), limit: most }).flatMap(({ model }) =>
      model.algorithm === 'bucket' && !model.rejectionsCount ? [model.burst] : [],
    )
  expect(depths(512)).toEqual(Array.from({ length: 512 }, (_, nth) => nth + 1))
  const many = depths(1000)
  expect([many.length, many[0], many.at(-2), many.at(-1)]).toEqual([512, 1, 987, 1000])
})
