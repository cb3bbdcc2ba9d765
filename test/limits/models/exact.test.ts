import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LimitedRequest } from '../../../src/limits/limited-request.ts'
import { bucketTrace, explainByBucket } from '../../../src/limits/models/bucket.ts'
import { explainByClockWindows } from '../../../src/limits/models/clock-windows.ts'
import { explainByAnchoredWindows } from '../../../src/limits/models/fixed-anchored.ts'
import {
  type Contradiction,
  type Counted,
  type LimiterTrace,
  stepsOf,
} from '../../../src/limits/models/model.ts'
import { explainBySlidingLog } from '../../../src/limits/models/sliding-log.ts'
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

/**
 * If each decision has one known time, a model explains a trace exactly if its limiter answers so:
 * admissions are checked against the certain count before them, rejections against the possible
 * count.
 */
const windowUs = 16

interface Hit {
  readonly at: number
  readonly decision: 'admitted' | 'rejected' | 'unknown' | 'read' | 'refused'
}
const counted: Readonly<Record<Hit['decision'], Counted>> = {
  admitted: 'yes',
  rejected: 'maybe',
  unknown: 'maybe',
  read: 'yes',
  refused: 'no',
}
interface Given {
  readonly limit: number
  readonly earlierAtMost: number
  readonly hits: readonly Hit[]
}

const anyHits = (decisions: readonly Hit['decision'][]) =>
  fc
    .array(
      fc.record({
        pause: fc.oneof(
          { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) },
          fc.integer({ min: 5, max: 40 }),
        ),
        decision: fc.constantFrom(...decisions),
      }),
      { minLength: 1, maxLength: 9 },
    )
    .map((parts) => {
      let at = 50
      return parts.map(({ pause, decision }) => {
        at += pause
        return { at, decision }
      })
    })
const anyGiven = (
  decisions: readonly Hit['decision'][] = [
    ...(['admitted', 'admitted', 'admitted', 'rejected', 'rejected'] as const),
    ...(['unknown', 'read', 'refused'] as const),
  ],
): fc.Arbitrary<Given> =>
  fc.record({
    limit: fc.constantFrom(1, 2, 4),
    earlierAtMost: fc.constantFrom(0, 0, 1, 2, Infinity),
    hits: anyHits(decisions),
  })

const traceOf = ({ limit, earlierAtMost, hits }: Given): LimiterTrace => ({
  requests: hits.map(({ at, decision }, slot) => arrivalOf(slot, at, at, { decision })),
  ...{ limit, windowUs, earlierAtMost, toleranceUs: 0, edge: null },
  counted: ({ decision }) => counted[decision],
})

const found = (contradiction: Contradiction | null) =>
  contradiction && [contradiction.kind, contradiction.request.slot]

/** Of several contradictions the first admission, or the first rejection if all admissions hold. */
const firstOf = (
  { hits }: Given,
  { over, under }: { over: (nth: number) => boolean; under: (nth: number) => boolean },
) => {
  const slots = [...hits.keys()]
  const beyond = slots.find((nth) => hits[nth]!.decision === 'admitted' && over(nth))
  const short = slots.find((nth) => hits[nth]!.decision === 'rejected' && under(nth))
  return {
    over: beyond === undefined ? null : ['should-be-rejected', beyond],
    under: short === undefined ? null : ['should-be-admitted', short],
  }
}

const isSure = ({ decision }: Hit, rejections: Counted) =>
  (decision === 'rejected' ? rejections : counted[decision]) === 'yes'
const isPossible = ({ decision }: Hit, rejections: Counted) =>
  (decision === 'rejected' ? rejections : counted[decision]) !== 'no'
const check = (
  arbitrary: fc.Arbitrary<Given>,
  explain: (given: Given) => Contradiction | null,
  expected: (given: Given) => unknown,
) =>
  fc.assert(
    fc.property(arbitrary, (given) => {
      expect(found(explain(given))).toEqual(expected(given))
    }),
    { numRuns: 1_500, seed: 1 },
  )

test.each([0, 3, 40])('fixed windows from phase %i admit N in each and no more', (phaseUs) => {
  const windowOf = (at: number) => Math.floor((at - phaseUs) / windowUs)
  check(
    anyGiven(),
    (given) =>
      explainByClockWindows('fixed-aligned', traceOf(given), stepsOf(traceOf(given), 0), phaseUs),
    (given) => {
      const { limit, earlierAtMost, hits } = given
      const before = (nth: number) =>
        hits.slice(0, nth).filter(({ at }) => windowOf(at) === windowOf(hits[nth]!.at))
      const earlier = (nth: number) =>
        windowOf(hits[nth]!.at) === windowOf(hits[0]!.at) ? earlierAtMost : 0
      const { over, under } = firstOf(given, {
        over: (nth) => before(nth).filter((hit) => isSure(hit, 'maybe')).length >= limit,
        under: (nth) =>
          before(nth).filter((hit) => isPossible(hit, 'maybe')).length + earlier(nth) < limit,
      })
      return over ?? under
    },
  )
})

test.each([false, true])('a sliding log admits N in any window, rejections count: %s', (counts) => {
  const rejections = counts ? 'yes' : 'no'
  check(
    anyGiven(),
    (given) => explainBySlidingLog(traceOf(given), counts),
    (given) => {
      const { limit, earlierAtMost, hits } = given
      // A request a window old has left it for an admission, and may still be in it for a
      // rejection.
      const within = (nth: number, longUs: number) =>
        hits.slice(0, nth).filter(({ at }) => hits[nth]!.at - at < longUs)
      const earlier = (nth: number) => (hits[nth]!.at - hits[0]!.at < windowUs ? earlierAtMost : 0)
      const { over, under } = firstOf(given, {
        over: (nth) =>
          within(nth, windowUs).filter((hit) => isSure(hit, rejections)).length >= limit,
        under: (nth) =>
          within(nth, windowUs + 1).filter((hit) => isPossible(hit, rejections)).length +
            earlier(nth) <
          limit,
      })
      return over ?? under
    },
  )
})

test.each([
  [0, 'no'],
  [5, 'yes'],
  [40, 'yes'],
] as const)(
  'a sliding counter from phase %i weights the last window, rejections count: %s',
  (phaseUs, rejections) => {
    const windowOf = (at: number) => Math.floor((at - phaseUs) / windowUs)
    check(
      anyGiven(),
      (given) =>
        explainByClockWindows(
          'sliding-counter',
          traceOf(given),
          stepsOf(traceOf(given), 0, rejections),
          phaseUs,
        ),
      (given) => {
        const { limit, earlierAtMost, hits } = given
        const opened = windowOf(hits[0]!.at)
        const countOf = (
          nth: number,
          earlier: number,
          chosen: typeof isSure,
          round: (value: number) => number,
        ) => {
          const { at } = hits[nth]!
          const inWindow = (window: number) =>
            hits
              .slice(0, nth)
              .filter((hit) => chosen(hit, rejections) && windowOf(hit.at) === window).length +
            (window <= opened ? earlier : 0)
          const left = 1 - (at - phaseUs - windowOf(at) * windowUs) / windowUs
          return round(inWindow(windowOf(at) - 1) * left) + inWindow(windowOf(at))
        }
        const { over, under } = firstOf(given, {
          over: (nth) => countOf(nth, 0, isSure, Math.floor) >= limit,
          under: (nth) => countOf(nth, earlierAtMost, isPossible, Math.ceil) < limit,
        })
        return over ?? under
      },
    )
  },
)

test.each([false, true])(
  'a bucket holds its burst and gains N per window, rejections count: %s',
  (counts) => {
    for (const burst of [1, 2, 3]) {
      check(
        anyGiven(),
        (given) => {
          const trace = traceOf(given)
          return explainByBucket(bucketTrace(trace, stepsOf(trace, 0), counts), burst)
        },
        (given) => {
          const { limit, hits } = given
          const gap = windowUs / limit
          const depth = (burst - 1) * gap
          const earlier = counts ? given.earlierAtMost : Math.min(burst, given.earlierAtMost)
          // The earliest and the latest time at which it is full again.
          let [soonest, latest] = [
            -Infinity,
            earlier === 0 ? -Infinity : hits[0]!.at + earlier * gap,
          ]
          const [soon, late] = [new Map<number, number>(), new Map<number, number>()]
          for (const [nth, hit] of hits.entries()) {
            soon.set(nth, soonest - hit.at)
            late.set(nth, latest - hit.at)
            if (hit.decision === 'rejected') {
              soonest = Math.max(soonest, hit.at + depth + (counts ? gap : 0))
            } else if (isSure(hit, 'no')) soonest = Math.max(soonest, hit.at) + gap
            if (isPossible(hit, counts ? 'maybe' : 'no')) latest = Math.max(latest, hit.at) + gap
          }
          const { over, under } = firstOf(given, {
            // A microsecond for rounding.
            over: (nth) => soon.get(nth)! > depth + 1,
            under: (nth) => late.get(nth)! <= depth,
          })
          return under ?? over
        },
      )
    }
  },
)

test('an anchored window begins with the first request after the previous one ended, and admits N', () => {
  check(
    anyGiven(),
    (given) => explainByAnchoredWindows(traceOf(given)),
    ({ limit, earlierAtMost, hits }) => {
      const first = hits[0]!.at
      const started = Array.from({ length: windowUs }, (_, back) => first - back)
      // For each window that may be running, its least and its greatest count.
      let states = [
        { began: -Infinity, sure: 0, possible: 0 },
        ...(earlierAtMost === 0 ? [] : started).map((began) => ({
          ...{ began, sure: 0, possible: earlierAtMost },
        })),
      ]
      for (const [nth, { at, decision }] of hits.entries()) {
        if (decision === 'refused') continue
        states = states.flatMap((state) => {
          const runs = at < state.began + windowUs
          const { began, sure, possible } = runs ? state : { began: at, sure: 0, possible: 0 }
          const after = { began, sure: sure + 1, possible: possible + 1 }
          switch (decision) {
            case 'admitted':
              return sure < limit ? [after] : []
            case 'rejected':
              return possible >= limit ? [state] : []
            case 'read':
              return [after]
            default:
              return [{ ...after, sure }, ...(runs ? [] : [state])]
          }
        })
        if (states.length > 0) continue
        return [decision === 'rejected' ? 'should-be-admitted' : 'should-be-rejected', nth]
      }
      return null
    },
  )
})

const unitUs = minuteUs / 16
const anySent = fc.array(
  fc.record({
    pause: fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 4 }) }, fc.integer({ min: 8, max: 40 })),
    before: fc.nat({ max: 8 }),
    after: fc.nat({ max: 8 }),
  }),
  { minLength: 1, maxLength: 12 },
)

test.each<[string, (limit: number) => Limiter, (trace: LimiterTrace) => Contradiction | null]>([
  [
    'fixed windows',
    (limit) => fixedAligned(limit, 3 * unitUs),
    (trace) => explainByClockWindows('fixed-aligned', trace, stepsOf(trace, 0), 3 * unitUs),
  ],
  ['anchored windows', fixedAnchored, explainByAnchoredWindows],
  ...[false, true].flatMap(
    (counts): [string, (limit: number) => Limiter, typeof explainByAnchoredWindows][] => [
      [
        `a sliding log, rejections count: ${counts},`,
        (limit) => slidingLog(limit, counts),
        (trace) => explainBySlidingLog(trace, counts),
      ],
      [
        `a sliding counter, rejections count: ${counts},`,
        (limit) => slidingCounter(limit, 3 * unitUs, counts, Math.round),
        (trace) =>
          explainByClockWindows(
            'sliding-counter',
            trace,
            stepsOf(trace, 0, counts ? 'yes' : 'no'),
            3 * unitUs,
          ),
      ],
      [
        `a bucket of two, rejections count: ${counts},`,
        (limit) => tokenBucket(limit, 2, counts, 1),
        (trace) => explainByBucket(bucketTrace(trace, stepsOf(trace, 0), counts), 2),
      ],
    ],
  ),
])('%s explain their own answers for any decision times', (_, limiterOf, explain) => {
  fc.assert(
    fc.property(anySent, fc.constantFrom(1, 2, 4), fc.nat({ max: 3 }), (sent, limit, unseen) => {
      const limiter = limiterOf(limit)
      let at = 50
      const all = sent.map(({ pause, before, after }, slot) => {
        at += pause
        const admitted = limiter(at * unitUs)
        return arrivalOf(slot, (at - before) * unitUs, (at + after) * unitUs, {
          decision: admitted ? 'admitted' : 'rejected',
        })
      })
      const requests = all.slice(unseen).sort(byStart)
      const trace = {
        ...{ requests, limit, windowUs: minuteUs, toleranceUs: 0, edge: null },
        earlierAtMost: Math.min(unseen, all.length),
        counted: ({ decision }: LimitedRequest): Counted =>
          decision === 'admitted' ? 'yes' : 'maybe',
      }
      expect(explain(trace)).toBeNull()
    }),
    { numRuns: 4_000, seed: 1 },
  )
})

type Interval = readonly [fromUs: number, untilUs: number, decision?: Hit['decision']]
/** A trace of a request for each interval, admitted if nothing else is said. */
const apart = (limit: number, ...given: readonly Interval[]): LimiterTrace => ({
  requests: given.map(([fromUs, untilUs, decision = 'admitted'], slot) =>
    arrivalOf(slot, fromUs, untilUs, { decision }),
  ),
  ...{ limit, windowUs, earlierAtMost: 0, toleranceUs: 0, edge: null },
  counted: ({ decision }) => counted[decision],
})

test('an anchored window begins no sooner than the one before it ended', () => {
  // The second request is admitted from 66 on, so its window runs until 82 at least.
  const third = (at: number) =>
    found(explainByAnchoredWindows(apart(1, [50, 50], [60, 70], [at, at])))
  expect(third(81)).toEqual(['should-be-rejected', 2])
  expect(third(82)).toBeNull()
})

test('of two anchored windows of one request, each needs its whole length', () => {
  const of = (...given: readonly Interval[]) => found(explainByAnchoredWindows(apart(1, ...given)))
  // Three admissions need 32: here they have 24.
  expect(of([54, 70], [58, 74], [74, 78])).toEqual(['should-be-rejected', 2])
  // The second is decided from 66 on, so the third may not be decided before 82.
  expect(of([50, 50], [58, 70], [66, 74])).toEqual(['should-be-rejected', 2])
  expect(of([50, 50], [58, 70], [66, 82])).toBeNull()
})

test('a log forgets requests in the order in which they end', () => {
  // The first may be decided as late as 60, so it may be in the window of the rejection. The others are not.
  const of = (limit: number) =>
    found(explainBySlidingLog(apart(limit, [0, 60], [1, 2], [20, 22], [45, 45, 'rejected']), false))
  expect(of(1)).toBeNull()
  expect(of(2)).toEqual(['should-be-admitted', 3])
})
