import { largest } from '../../user/extremes.ts'
import { allowed, budgets, type JudgedStep, type TrialPlan } from './search.ts'
import type { JudgedBy, PartCounts, Trial, TrialEvidence, TrialReason } from './trial.ts'
import { partsOfTrial } from './trial.ts'

/** Shares of requests without which a trial proves nothing: those that were judged, those sent in time. */
const enoughJudged = 0.9
const enoughInTime = 0.99

const voids: ReadonlySet<TrialReason> = new Set(['unknown', 'too few', 'late'])

/** Judges a trial. It has succeeded only if no test failed, and is void only if nothing else failed it. */
export function judgeTrial(
  { search, plan }: JudgedBy,
  seen: TrialEvidence,
  at: { readonly phase: string },
): Trial {
  const { judged, missed, unknown, sent, notSent, late, lastedUs } = seen
  const strict = plan.step === 'hold' ? strictTest(seen.parts, 1 - search.goodput, plan) : null
  const reasons: readonly (readonly [TrialReason, boolean])[] = [
    ['misses', seen.end === 'misses' || missed > plan.mayMiss],
    ['backlog', seen.end === 'backlog' || growsOver(seen.inFlight, sent)],
    [
      'unknown',
      unknown > 0 &&
        (missed + unknown > plan.mayMiss || judged < enoughJudged * (judged + unknown)),
    ],
    ['too few', plan.step !== 'warm-up' && judged < enoughJudged * plan.requests],
    ['late', late + notSent > (1 - enoughInTime) * (sent + notSent)],
    ['margin', strict !== null && !strict.holds],
  ]
  const why = reasons.find(([, applies]) => applies)?.[0] ?? 'held'
  return {
    ...at,
    step: plan.step,
    budget: plan.budget,
    ratePerS: plan.ratePerS,
    sentPerS: sent === 0 || lastedUs === 0 ? null : sent / (lastedUs / 1e6),
    planned: plan.requests,
    sent,
    notSent,
    late,
    judged,
    missed,
    unknown,
    limited: seen.limited,
    goodput: judged === 0 ? null : (judged - missed) / judged,
    result: why === 'held' ? 'held' : voids.has(why) ? 'void' : 'failed',
    why,
    mostMissed: strict?.mostMissed ?? null,
    drift: plan.step === 'hold' && why === 'held' ? driftOf(seen.parts) : null,
    meanUs: seen.meanUs,
    lastedUs,
    tookUs: seen.tookUs,
    resetUs: seen.resetUs,
    earlier: false,
  }
}

/**
 * Student's t by number of groups, one-sided, at 99 % for the first confirmation of a search, and at 1 - 0.01 / n for its n-th:
 * a rate that is tried again and again must not succeed by luck.
 */
const student = { 10: [2.82, 3.25, 3.49, 3.69, 3.86], 20: [2.54, 2.86, 3.05, 3.17, 3.27] } as const
/** From so many requests on, twenty groups. */
const manyRequests = 10_000

/**
 * Whether the true share of misses is below `share` with 99 % confidence. Misses come in clumps, so groups of
 * neighbouring requests are compared, not single requests; one more group as bad as the worst is added.
 */
export function strictTest(
  parts: PartCounts,
  share: number,
  plan: Pick<TrialPlan, 'requests' | 'mayMiss' | 'nth'>,
): { readonly holds: boolean; readonly mostMissed: number } {
  const groups = plan.requests >= manyRequests ? 20 : 10
  const judged = inGroups(parts.judged, groups)
  const missed = inGroups(parts.missed, groups)
  const shares = missed.map((count, at) => (judged[at] === 0 ? 1 : count / judged[at]!))
  const size = sum(judged) / groups
  const all = [...shares, largest(shares, size === 0 ? 1 : 1 / size)]
  const mean = sum(all) / all.length
  const t = student[groups][Math.min(plan.nth, 4)]!
  const variance = sum(all.map((each) => (each - mean) ** 2)) / (all.length - 1)
  const mostMissed = mean + t * Math.sqrt(variance / all.length)
  return { holds: mostMissed <= share && sum(missed) <= plan.mayMiss, mostMissed }
}

/** Least growth of the requests in flight. */
const leastGrowth = 4

/**
 * Whether the requests in flight grow: their line over the last four fifths of a trial rises by more than chance
 * explains. With Poisson arrivals, a sum of n gaps varies by √n, and 2.33 is 99 % one-sided.
 *
 * @param inFlight at even moments over the last four fifths
 * @param sent requests of the whole trial so far
 */
export function growsOver(inFlight: readonly number[], sent: number): boolean {
  if (inFlight.length === 0) return false
  const growth = slopeOf(inFlight).slope * (inFlight.length - 1)
  return growth > 2.33 * Math.sqrt(0.8 * sent) && growth > leastGrowth
}

/** Student's t, one-sided 99 %, for twelve points. */
const studentOfDrift = 2.76
const groupsOfDrift = 12
const leastDrift = 0.05

/** The growth of the judged times over a confirmation, as a ratio; null if it is small or may be chance. */
export function driftOf({ judged, logUs }: PartCounts): number | null {
  const counts = inGroups(judged, groupsOfDrift)
  if (counts.some((count) => count === 0)) return null
  const means = inGroups(logUs, groupsOfDrift).map((log, at) => log / counts[at]!)
  const { slope, errorOfSlope } = slopeOf(means)
  const ratio = Math.exp(slope * (groupsOfDrift - 1)) - 1
  return slope > studentOfDrift * errorOfSlope && ratio > leastDrift ? ratio : null
}

/** The least-squares line of values at 0, 1, 2 …: its slope, and the standard error of the slope. */
function slopeOf(values: readonly number[]): {
  readonly slope: number
  readonly errorOfSlope: number
} {
  const n = values.length
  const middle = (n - 1) / 2
  const mean = sum(values) / n
  const spread = sum(values.map((_, at) => (at - middle) ** 2))
  const slope = sum(values.map((value, at) => (at - middle) * (value - mean))) / spread
  const rest = sum(values.map((value, at) => (value - mean - slope * (at - middle)) ** 2))
  return { slope, errorOfSlope: Math.sqrt(rest / (n - 2) / spread) }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

function inGroups(parts: readonly number[], groups: number): readonly number[] {
  const each = partsOfTrial / groups
  return Array.from({ length: groups }, (_, at) => sum(parts.slice(at * each, (at + 1) * each)))
}

/** Misses that a trial may have: of a confirmation, the share of the allowance that its budget may use. */
export function mayMissOf(
  step: JudgedStep,
  requests: number,
  goodput: number,
  budget: keyof typeof budgets,
): number {
  return allowed((1 - goodput) * (step === 'hold' ? budgets[budget].use : 1), requests)
}
