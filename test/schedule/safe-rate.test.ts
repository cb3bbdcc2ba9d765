import fc from 'fast-check'
import { expect, test } from 'vitest'
import { searchOnce } from '../../bench/safe-rate.ts'
import { randomOf, simulatedServers } from '../../bench/simulated-servers.ts'
import { safeRateText } from '../../src/report/safe-rate.ts'
import { searchShape } from '../../src/report/stored-search.ts'
import type { Search } from '../../src/scenario/loads.ts'
import { driftOf, growsOver, judgeTrial, strictTest } from '../../src/schedule/safe-rate/judge.ts'
import { budgetFor, nextTrial } from '../../src/schedule/safe-rate/next-trial.ts'
import { claimedPhase, safeRateOf } from '../../src/schedule/safe-rate/outcome.ts'
import type { TrialPlan } from '../../src/schedule/safe-rate/search.ts'
import { partsOfTrial, type Trial, type TrialEvidence } from '../../src/schedule/safe-rate/trial.ts'
import { TrialWatch } from '../../src/schedule/safe-rate/watch.ts'

const search: Search = {
  startPerS: null,
  maxPerS: 1000,
  goodput: 0.95,
  boundUs: 1e6,
  budget: 'quick',
  mostUs: null,
  precision: null,
  hold: null,
  headroom: 1,
  trialUs: null,
  coolDownUs: null,
}

const even = (sum: number) => new Array<number>(partsOfTrial).fill(sum / partsOfTrial)

/** What a service with a sharp limit shows: all requests are good below it, and late above it. */
function sharp(plan: TrialPlan, capacityPerS: number, meanUs = 100_000): TrialEvidence {
  const { requests, ratePerS } = plan
  const missed = ratePerS > capacityPerS ? requests : 0
  const us = ratePerS === 0 ? requests * meanUs : (requests / ratePerS) * 1e6
  return {
    ...{ sent: requests, notSent: 0, late: 0, judged: requests, missed, limited: 0, meanUs },
    unknown: 0,
    parts: { judged: even(requests), missed: even(missed), logUs: even(requests * 10) },
    ...{ inFlight: [], resetUs: null },
    ...{ lastedUs: us, tookUs: us, end: missed > plan.mayMiss ? 'misses' : 'plan' },
  }
}

type See = (plan: TrialPlan, trials: readonly Trial[]) => TrialEvidence

function searched(how: Search, see: See, begun: readonly Trial[] = []) {
  const trials: Trial[] = [...begun]
  for (;;) {
    const next = nextTrial(how, trials)
    if (next.kind === 'done') return { safeRate: next.safeRate, trials }
    const phase = `search ${trials.length + 1}`
    trials.push(judgeTrial({ search: how, plan: next.plan }, see(next.plan, trials), { phase }))
    if (trials.length > 200) throw new Error('no end')
  }
}

test('for any sharp limit, the safe rate is below it, the held rate too, and the failed rate above', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.5, max: 900, noNaN: true }),
      fc.constantFrom('quick', 'standard', 'thorough'),
      fc.constantFrom(0.9, 0.95, 0.99),
      (capacity, budget, goodput) => {
        const how = { ...search, budget, goodput } as const
        const { safeRate, trials } = searched(how, (plan) => sharp(plan, capacity))
        if (safeRate.kind !== 'held') throw new Error(safeRate.kind)
        expect(safeRate.safePerS).toBeLessThan(safeRate.heldPerS)
        expect(safeRate.heldPerS).toBeLessThanOrEqual(capacity)
        if (capacity < 900) expect(safeRate.safePerS).toBeGreaterThan(capacity * 0.75)
        expect(safeRate.failedPerS === null || safeRate.failedPerS > capacity).toBe(true)
        expect(trials.length).toBeLessThan(60)
      },
    ),
    { numRuns: 60 },
  )
})

/** Whatever the rate: of so many of a hundred requests the answer is wrong. */
const wrongAtAnyRate =
  (percent: number, meanUs: number) =>
  (plan: TrialPlan): TrialEvidence => {
    const seen = sharp(plan, Infinity, meanUs)
    const all = Math.ceil((seen.sent * percent) / 100)
    if (all <= plan.mayMiss)
      return { ...seen, missed: all, parts: { ...seen.parts, missed: even(all) } }
    const share = (plan.mayMiss + 1) / all
    const us = seen.lastedUs * share
    const missed = plan.mayMiss + 1
    return { ...seen, missed, lastedUs: us, tookUs: us, end: 'misses' }
  }

test.each([
  [0.05e6, 1e6, 25],
  [1e6, 10e6, 25],
  [20e6, 60e6, 165],
])(
  'a search without a limit of time ends if a part of the answers is wrong at any rate (%d us each, late after %d us): within %d minutes',
  (meanUs, boundUs, minutes) => {
    for (const percent of [6, 8, 20, 40]) {
      const how = { ...search, boundUs }
      const { safeRate, trials } = searched(how, wrongAtAnyRate(percent, meanUs))
      const spent = trials.reduce((sum, { tookUs }) => sum + tookUs, 0)
      expect(safeRate).toMatchObject({ kind: 'none', because: 'every rate' })
      expect(spent).toBeLessThan(minutes * 60e6)
    }
  },
)

test('a search that no rate passes says how many missed at its first and at its lowest rate', () => {
  const { safeRate, trials } = searched(search, wrongAtAnyRate(20, 1e6))
  const stored = searchShape.parse({ phase: 'a', objective: '95 % within 1 s', trials, safeRate })
  expect(safeRateText(stored, false)).toMatchObject({
    summary: 'No rate is safe (95 % within 1 s)',
    because: expect.arrayContaining([
      expect.stringMatching(
        /^Every rate failed, from 1\.0\/s \([\d.]+ % of requests missed\) down to 0\.1\d+\/s \([\d.]+ % of requests missed\)\. Misses that do not depend on the rate/,
      ),
    ]),
  })
})

test('a search of limited time never plans a trial that would end after it', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.05, max: 900, noNaN: true }),
      fc.double({ min: 10e6, max: 900e6, noNaN: true }),
      fc.double({ min: 1000, max: 5e6, noNaN: true }),
      (capacity, mostUs, meanUs) => {
        const how = { ...search, mostUs, budget: null }
        const { trials } = searched(how, (plan) => sharp(plan, capacity, meanUs))
        const rated = trials.filter(({ step }) => step !== 'warm-up')
        const spent = trials.reduce((sum, { tookUs }) => sum + tookUs, 0)
        if (rated.length > 0) expect(spent).toBeLessThanOrEqual(mostUs)
      },
    ),
    { numRuns: 100 },
  )
})

test('with too little time the answer is a bracket and what a verdict takes, and a later search goes on', () => {
  const slow = (plan: TrialPlan) => sharp(plan, 1.3, 800_000)
  const first = searched({ ...search, mostUs: 120e6 }, slow)
  expect(first.safeRate).toMatchObject({
    kind: 'bracket',
    needs: { budget: 'quick', requests: 800 },
  })
  const begun = first.trials.map((trial) => ({ ...trial, earlier: true }))
  const second = searched({ ...search, mostUs: 1200e6 }, slow, begun)
  expect(second.safeRate.kind).toBe('held')
  // Only a warm-up, perhaps a few refining trials, and the hold are new.
  const added = second.trials.slice(begun.length)
  expect(added.filter(({ step }) => step === 'bracket')).toEqual([])
  expect(added[0]!.step).toBe('warm-up')
})

test('a search of five minutes ends with a rate that held, if the service answers five requests in four seconds or more', () => {
  fc.assert(
    fc.property(fc.double({ min: 1.25, max: 900, noNaN: true }), (capacity) => {
      const how = { ...search, mostUs: 280e6 }
      const { safeRate } = searched(how, (plan) => sharp(plan, capacity, 0.9e6 / capacity))
      if (safeRate.kind !== 'held') throw new Error(safeRate.kind)
      expect(safeRate.heldPerS).toBeLessThanOrEqual(capacity)
      // A lone confirmation is at 0.4 of a bracket that is within a factor of two of the capacity, and the answer a step below it.
      expect(safeRate.safePerS).toBeGreaterThan(0.18 * capacity)
    }),
    { numRuns: 100 },
  )
})

test('a search of five minutes ends with a rate for most services of one request a second, and none is above capacity', () => {
  const found = Array.from({ length: 30 }, (_, seed) => {
    const random = randomOf(`slow ${seed}`)
    return searchOnce(simulatedServers.slow!.make(random), random, { ...search, mostUs: 280e6 })
  })
  const rates = found.flatMap(({ safePerS }) => safePerS ?? [])
  expect(rates.length).toBeGreaterThanOrEqual(26)
  // The capacity of this server, by the procedure of bench/safe-rate.ts.
  expect(Math.max(...rates)).toBeLessThan(1.19)
})

test('a search plans two confirmations only if the second, at a lower rate, has its time too', () => {
  const found = Array.from({ length: 60 }, (_, seed) => {
    const random = randomOf(`prefix bench ${seed}`)
    const server = simulatedServers.prefix!.make(random)
    return searchOnce(server, random, { ...search, mostUs: 280e6 })
  })
  expect(found.filter(({ kind }) => kind !== 'held')).toEqual([])
})

test('a hold with little time has fewer requests, is judged as strictly, and says what a whole one takes', () => {
  const slow = (plan: TrialPlan) => sharp(plan, 1.8, 600_000)
  const first = searched({ ...search, mostUs: 280e6 }, slow)
  const hold = first.trials.at(-1)!
  expect(hold).toMatchObject({ step: 'hold', result: 'held' })
  expect(hold.planned).toBeGreaterThanOrEqual(110)
  expect(hold.mostMissed).toBeLessThan(0.05)
  expect(first.safeRate).toMatchObject({
    needs: { budget: 'quick', ratePerS: hold.ratePerS, requests: 800 },
  })
  // A later search has the time for a whole one, at a higher rate.
  const begun = first.trials.map((trial) => ({ ...trial, earlier: true }))
  const second = searched({ ...search, mostUs: 1800e6 }, slow, begun)
  expect(second.safeRate).toMatchObject({ kind: 'held', needs: null })
  expect(second.trials.at(-1)!.planned).toBeGreaterThanOrEqual(800)
  expect(second.trials.at(-1)!.ratePerS).toBeGreaterThan(hold.ratePerS)
})

test('a time names the largest budget that fits into it', () => {
  const budgetIn = (mostUs: number) => {
    const how = { ...search, budget: null, mostUs }
    return budgetFor(how, searched(how, (plan) => sharp(plan, 60)).trials)
  }
  expect(budgetIn(200e6)).toBe('quick')
  expect(budgetIn(600e6)).toBe('standard')
  expect(budgetIn(3600e6)).toBe('thorough')
})

test('a service that misses when alone has no safe rate, and nothing more is sent', () => {
  const { safeRate, trials } = searched(search, (plan) => ({
    ...sharp(plan, 0),
    missed: plan.requests,
    parts: { judged: even(10), missed: even(10), logUs: even(1) },
  }))
  expect(safeRate).toMatchObject({ kind: 'none', because: 'one at a time' })
  expect(trials.every(({ step }) => step === 'warm-up')).toBe(true)
})

test('a rate that was not sent in time proves nothing: it is tried once more, then is the limit of this machine', () => {
  const { safeRate, trials } = searched(search, (plan) => {
    const seen = sharp(plan, 1e9)
    return plan.ratePerS > 100 ? { ...seen, late: seen.sent / 2 } : seen
  })
  const voids = trials.filter(({ result }) => result === 'void')
  expect(voids.length).toBeGreaterThan(0)
  expect(voids.every(({ why }) => why === 'late')).toBe(true)
  if (safeRate.kind !== 'held') throw new Error(safeRate.kind)
  expect(safeRate.heldPerS).toBeLessThanOrEqual(100)
})

test('a trial with no or too few requests is void, never failed and never held', () => {
  const plan: TrialPlan = {
    ...{ step: 'bracket', ratePerS: 5, requests: 60, mayMiss: 3, mostUs: null },
    ...{ budget: 'quick', nth: 0 },
  }
  const seen = sharp(plan, 100)
  for (const judged of [0, 1, 53]) {
    const trial = judgeTrial({ search, plan }, { ...seen, sent: judged, judged }, { phase: 'a' })
    expect([trial.result, trial.why]).toEqual(['void', 'too few'])
  }
  expect(judgeTrial({ search, plan }, seen, { phase: 'a' }).result).toBe('held')
})

test('a search ends at once, without an answer, if nobody knows which requests met the objective', () => {
  const unreported = (plan: TrialPlan): TrialEvidence => ({
    ...sharp(plan, 100),
    ...{ judged: 0, unknown: plan.requests, meanUs: null },
  })
  const { trials, safeRate } = searched(search, unreported)
  expect(trials).toHaveLength(1)
  expect(trials[0]).toMatchObject({ result: 'void', why: 'unknown', unknown: 10 })
  expect(safeRate).toEqual({ kind: 'none', because: 'unknown', failedPerS: null })
  const text = safeRateText(
    searchShape.parse({ phase: 'a', objective: '95 % of tokens', trials, safeRate }),
    false,
  )
  expect(text).toMatchObject({
    ...{
      isFound: false,
      tone: 'warn',
      summary: 'No safe rate: it is not known which requests met the objective (95 % of tokens)',
    },
  })
  expect(text.because[0]).toBe(
    'Of 10 of 10 requests it is not known whether they met it, because the service does not report their tokens, or streamed an unknown part of them. include_usage: true in the step requests the counts of tokens.',
  )
})

test('requests of which nothing is known hide no failure, and a few of them end no search', () => {
  const plan: TrialPlan = {
    ...{ step: 'bracket', ratePerS: 5, requests: 60, mayMiss: 3, mostUs: null },
    ...{ budget: 'quick', nth: 0 },
  }
  const whyOf = (change: Partial<TrialEvidence>) =>
    judgeTrial({ search, plan }, { ...sharp(plan, 100), ...change }, { phase: 'a' }).why
  expect(whyOf({ judged: 30, unknown: 30, missed: 5 })).toBe('misses')
  // Three may miss.
  expect(whyOf({ judged: 56, unknown: 4 })).toBe('unknown')
  expect(whyOf({ judged: 57, unknown: 3 })).toBe('held')
  expect(whyOf({ judged: 57, unknown: 3, missed: 1 })).toBe('unknown')
  expect(whyOf({ judged: 50, unknown: 1 })).toBe('too few')
})

test('the realised rate is that of what was sent, not of the plan', () => {
  const plan: TrialPlan = {
    ...{ step: 'bracket', ratePerS: 5, requests: 60, mayMiss: 3, mostUs: null },
    ...{ budget: 'quick', nth: 0 },
  }
  const seen = { ...sharp(plan, 100), sent: 54, lastedUs: 12e6 }
  expect(judgeTrial({ search, plan }, seen, { phase: 'a' }).sentPerS).toBeCloseTo(4.5)
})

test('the strict test needs a margin: misses that come in one clump are worse than spread ones', () => {
  const plan = { requests: 800, mayMiss: 20, nth: 0 }
  const judged = even(800)
  const spread = strictTest({ judged, missed: even(15), logUs: even(1) }, 0.05, plan)
  const clump = even(0).map((_, at) => (at < 6 ? 2.5 : 0))
  const clumped = strictTest({ judged, missed: clump, logUs: even(1) }, 0.05, plan)
  expect(spread.holds).toBe(true)
  expect(clumped.holds).toBe(false)
  // The share of spread misses is 15 of 800, with one group more as bad as the worst.
  expect(spread.mostMissed).toBeCloseTo(15 / 800, 6)
  // A hold after others that failed must show more.
  const again = strictTest({ judged, missed: clump, logUs: even(1) }, 0.05, { ...plan, nth: 3 })
  expect(again.mostMissed).toBeGreaterThan(clumped.mostMissed)
})

test('a backlog grows if its line rises by more than chance explains', () => {
  const moments = Array.from({ length: 16 }, (_, at) => at)
  expect(
    growsOver(
      moments.map((at) => at * 4),
      260,
    ),
  ).toBe(true)
  expect(
    growsOver(
      moments.map((at) => at * 2),
      260,
    ),
  ).toBe(false)
  expect(
    growsOver(
      moments.map((at) => (at % 2) * 50),
      260,
    ),
  ).toBe(false)
  expect(growsOver([], 260)).toBe(false)
})

test('a watch ends a trial at the first miss too many, and a growing backlog at half of it', () => {
  const plan: TrialPlan = {
    ...{ step: 'refine', ratePerS: 10, requests: 200, mayMiss: 10, mostUs: null },
    ...{ budget: 'quick', nth: 0 },
  }
  const watch = new TrialWatch(plan, 20e6)
  expect(watch.see({ atUs: 1e6, sent: 10, missed: 10, inFlight: 5 })).toBe(null)
  expect(watch.see({ atUs: 2e6, sent: 20, missed: 11, inFlight: 9 })).toBe('misses')
  const growing = new TrialWatch(plan, 20e6)
  const ends = Array.from({ length: 20 }, (_, at) =>
    growing.see({ atUs: (at + 1) * 1e6, sent: (at + 1) * 10, missed: 0, inFlight: at * 8 }),
  )
  expect(ends.indexOf('backlog')).toBe(9)
  expect(growing.moments(20e6)).toHaveLength(16)
})

test('times that grow over a hold are found, and times that only vary are not', () => {
  const judged = even(1200)
  const grown = even(0).map((_, at) => 20 * Math.log(1000 * (1 + at / 60)))
  expect(driftOf({ judged, missed: even(0), logUs: grown })).toBeGreaterThan(0.5)
  const flat = even(0).map((_, at) => 20 * Math.log(1000 * (1 + (at % 7) / 60)))
  expect(driftOf({ judged, missed: even(0), logUs: flat })).toBe(null)
})

test('a rate that failed when the service was cold is tried again if every rate below it held', () => {
  const { safeRate } = searched(search, (plan, trials) => {
    const isCold = trials.filter(({ step }) => step !== 'warm-up').length < 2
    return sharp(plan, isCold ? 12 : 50)
  })
  if (safeRate.kind !== 'held') throw new Error(safeRate.kind)
  expect(safeRate.safePerS).toBeGreaterThan(35)
})

test('figures are those of the trial that the answer is about', () => {
  const { safeRate, trials } = searched(search, (plan) => sharp(plan, 60))
  const hold = trials.findLast(({ step }) => step === 'hold')!
  expect(claimedPhase(trials, safeRate)).toBe(hold.phase)
  const upTo = trials.slice(0, -1)
  const cut = safeRateOf(search, upTo)
  if (cut.kind !== 'bracket') throw new Error(cut.kind)
  const low = upTo.findLast(({ ratePerS }) => ratePerS === cut.lowPerS)!
  expect(claimedPhase(upTo, cut)).toBe(low.phase)
})

/** A trial of a service that sustains 15/s. */
function judged(
  step: 'bracket' | 'hold',
  ratePerS: number,
  change: Partial<TrialEvidence> = {},
  phase = `${step} ${ratePerS}`,
): Trial {
  const [requests, mayMiss] = step === 'hold' ? [800, 20] : [60, 3]
  const plan: TrialPlan = {
    ...{ step, ratePerS, requests, mayMiss, mostUs: null, budget: 'quick', nth: 0 },
  }
  return judgeTrial({ search, plan }, { ...sharp(plan, 15), ...change }, { phase })
}

test('a confirmation that is void, or that a smaller budget held, says nothing against its rate', () => {
  const rough = [judged('bracket', 10), judged('bracket', 20)]
  const late = judged('hold', 9, { late: 400 })
  expect(late.result).toBe('void')
  expect(safeRateOf(search, [...rough, late])).toMatchObject({ kind: 'bracket', lowPerS: 10 })
  const quick = { ...judged('hold', 9), earlier: true }
  expect(quick.result).toBe('held')
  expect(safeRateOf({ ...search, budget: 'standard' }, [...rough, quick])).toMatchObject({
    kind: 'bracket',
    lowPerS: 10,
  })
  const low = judged('hold', 3, { late: 400 })
  expect(safeRateOf(search, [...rough, low]).kind).toBe('bracket')
  const failed = judged('hold', 9, { missed: 400, end: 'misses' })
  expect(safeRateOf(search, [...rough, failed])).toMatchObject({ kind: 'bracket', lowPerS: null })
  const lowest = judged('hold', 3, { missed: 400, end: 'misses' })
  expect(safeRateOf(search, [...rough, lowest])).toMatchObject({ kind: 'none', because: 'no hold' })
})

test.each([null, 255e6])(
  'a void confirmation is tried once more, and not again if that one fails: mostUs %s',
  (mostUs) => {
    const { trials } = searched({ ...search, mostUs }, (plan, before) => {
      const seen = sharp(plan, plan.step === 'hold' ? 40 : 60)
      const isFirst = !before.some(({ step }) => step === 'hold')
      return plan.step === 'hold' && isFirst
        ? { ...seen, missed: 0, end: 'plan', late: seen.sent }
        : seen
    })
    const holds = trials.filter(({ step }) => step === 'hold')
    const results = holds.map(({ ratePerS, result }) => [ratePerS > 40, result])
    expect(holds[0]!.result).toBe('void')
    expect(holds[1]!.ratePerS).toBe(holds[0]!.ratePerS)
    expect(holds.slice(2).every(({ ratePerS }) => ratePerS < holds[0]!.ratePerS)).toBe(true)
    expect(results.at(-1)).toEqual([false, 'held'])
  },
)

test('figures are never those of a void trial at the rate that another one sustained', () => {
  const trials = [
    judged('bracket', 10),
    judged('hold', 9, {}, 'first'),
    judged('hold', 9, { late: 400 }, 'second'),
  ]
  const safeRate = safeRateOf(search, trials)
  expect(safeRate).toMatchObject({ kind: 'held', heldPerS: 9 })
  expect(claimedPhase(trials, safeRate)).toBe('first')
  const rough = [judged('bracket', 10, {}, 'first'), judged('bracket', 10, { late: 40 }, 'second')]
  expect(claimedPhase(rough, safeRateOf(search, rough))).toBe('first')
})
