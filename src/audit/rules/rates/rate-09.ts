import {
  type BurstSpan,
  idleBursts,
  mayShareAnEdge,
  refillDuring,
} from '../../../limits/admission.ts'
import { shownTooOften } from '../../../limits/remaining.ts'
import type { BandTrace } from '../../../limits/traces.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, type Witness } from '../../verdict.ts'
import { consecutive, type Pair } from './consecutive.ts'
import { type RateHistory, witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'
import { neverUsedUp, type Stuck } from './stuck-remaining.ts'
import { type Known, tracesIn } from './traces.ts'
import { windowsIn } from './waiting.ts'

export const rate09 = rateRule({
  id: 'RATE-09',
  title: 'X-RateLimit-Remaining falls by one for each counted request',
  needs: ['passive', 'quiescence'],
  promised: ['bands', 'headers.rate_remaining'],
  explain: `Three tests. Too fast: of two responses with the same limit, the later one may be lower by at
most the number of attempts that can have been counted in between, itself included. Too slow: in a burst
after a rest, at most N - x responses can show x or more (majorization), in any order, even if each shows
a later snapshot; a counter per replica or a lost update breaks this. An edge of windows within a burst
doubles the bound, so two bursts must agree, or the resets must show one window. The counters of the two endpoints are checked separately;
RATE-15 checks whether they are one. Never used up: a value that does not fall although requests are served one after the other, such as a 0
that stays, must be explained by tokens that a bucket regains meanwhile, by requests that a log forgets, or by a new window. If requests
before the record may explain it, it is inconclusive. Without an answer that shows less than the one before it, nothing is decided.
Other traffic with the same key looks like double counting: if it is not systematic, nothing is decided.`,
  decide(history, evidence) {
    const pairs = { seen: 0, falling: 0, tooFast: 0 }
    let first: Pair | undefined
    for (const requests of history.byAccount.values()) {
      for (const pair of consecutive(requests)) {
        const { before, after, fell, between } = pair
        pairs.seen++
        if (fell > 0 && before.decision === 'admitted' && after.decision === 'admitted') {
          pairs.falling++
        }
        if (fell <= between) continue
        pairs.tooFast++
        first ??= pair
      }
    }
    const bursts = tooSlow(history, evidence)
    const observations = pairs.seen + bursts.judged
    if (observations === 0) {
      return notObserved(fallsSoon)
    }
    const { tooFast, falling } = pairs
    const isSystematic = tooFast * 2 >= falling
    if (first !== undefined && isSystematic) {
      return fail(observations, {
        expected: `remaining falls by ${first.between} at most`,
        observed: `it fell by ${first.fell}, and too fast in ${tooFast} of ${falling} pairs`,
        witnesses: witnessesOf(first),
      })
    }
    // Other traffic on the key makes it fall faster, but never repeats a value.
    if (bursts.proven !== null) {
      const { value, requests } = bursts.proven
      const last = requests.at(-1)!
      const others = requests.slice(-2, -1)
      return fail(observations, {
        expected: `at most ${Math.max(0, last.limit! - value)} answers of a burst show ${value} or more remaining`,
        observed: requests.length === 1 ? '1 answer' : `${requests.length} answers`,
        witnesses: [
          witnessOf(last, `remaining ${last.remaining}`),
          ...others.map((each) => witnessOf(each, `remaining ${each.remaining} as well`)),
        ],
      })
    }
    const stuck = neverUsedUp(history, evidence.contract)
    if (stuck?.isSure === true) return stuckVerdict(observations, stuck)
    if (first !== undefined) {
      return inconclusive(
        observations,
        `remaining fell too fast ${tooFast} times of ${falling}: counted twice now and then, or others used the key`,
        witnessesOf(first),
      )
    }
    if (bursts.doubtful) {
      return inconclusive(
        observations,
        'values of one burst repeat, but an edge of windows may have fallen into it; another burst decides',
      )
    }
    if (stuck !== null) return stuckVerdict(observations, stuck)
    if (falling === 0 && bursts.judged === 0) return notObserved(fallsSoon)
    return pass(observations)
  },
})

const fallsSoon =
  'two answers of one key with the same limit, soon after each other, of which the later one shows less'

function stuckVerdict(observations: number, { first, last, free, most, isSure }: Stuck): Verdict {
  const observed = `${free} more were served after ${first.remaining} remaining, and ${last.remaining} remain`
  const witnesses: readonly [Witness, Witness] = [
    witnessOf(first, `remaining ${first.remaining} of ${first.limit}`),
    witnessOf(last, `remaining ${last.remaining} of ${last.limit}`),
  ]
  return isSure
    ? fail(observations, {
        expected: `a value that falls with each request, of which at most ${most} come back meanwhile`,
        observed,
        witnesses,
      })
    : inconclusive(
        observations,
        `${observed}: wrong, unless requests from before the record were forgotten meanwhile; a key that rested decides`,
        witnesses,
      )
}

type Repeated = NonNullable<ReturnType<typeof shownTooOften>>

/** A burst in which a value was shown too often for one window. */
interface Broken extends Pick<BandTrace, 'windowUs' | 'toleranceUs'> {
  readonly once: Repeated
  readonly span: BurstSpan
}

function witnessesOf({ before, after }: Pair): readonly [Witness, Witness] {
  return [
    witnessOf(before, `remaining ${before.remaining}`),
    witnessOf(after, `remaining ${after.remaining}`),
  ]
}

function tooSlow(history: RateHistory, known: Known) {
  const windowsOf = windowsIn(history, known)
  let [judged, windows] = [0, 0]
  const broken: Broken[] = []
  let inOneWindow: Repeated | null = null
  let twice: Repeated | null = null
  for (const trace of tracesIn(history, known, 'minute')) {
    const { limit, windowUs, toleranceUs, earlierAtMost } = trace
    for (const endpoint of new Set(trace.requests.map((request) => request.endpoint))) {
      const own = trace.requests.filter(
        (request) => request.endpoint === endpoint && request.limit === limit,
      )
      for (const burst of idleBursts(own, 4, windowUs, earlierAtMost === 0)) {
        const counted = burst.requests.filter(({ decision }) => decision === 'admitted')
        const regained = refillDuring(burst, limit, windowUs)
        const once = shownTooOften(counted, limit, 1, regained)
        const { startUs, endUs } = burst
        judged++
        if (once !== null) broken.push({ once, span: { startUs, endUs }, windowUs, toleranceUs })
        twice ??= shownTooOften(counted, limit, 2, regained)
      }
    }
    for (const { requests, beganEmpty } of windowsOf(trace)) {
      if (!beganEmpty) continue
      const counted = requests.filter(({ decision }) => decision === 'admitted')
      const [busiest = []] = [...Map.groupBy(counted, ({ endpoint }) => endpoint).values()].sort(
        (a, b) => b.length - a.length,
      )
      windows++
      inOneWindow ??= shownTooOften(busiest, limit, 1, 1)
    }
  }
  const proven =
    inOneWindow ??
    twice ??
    broken.find((one, index) =>
      broken
        .slice(index + 1)
        .some((other) => !mayShareAnEdge(one.span, other.span, one.windowUs, one.toleranceUs)),
    )?.once ??
    null
  return {
    judged: judged + windows,
    proven,
    doubtful: proven === null && broken.length > 0 && broken.length === judged,
  }
}
