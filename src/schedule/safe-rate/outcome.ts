import { type BudgetName, budgetNames, type Search } from '../../scenario/loads.ts'
import { largest, smallest } from '../../user/extremes.ts'
import { isLimited, limitOf, sustainsLimit } from './limit.ts'
import { budgets, scaleOf, stepOf } from './search.ts'
import type { Trial } from './trial.ts'

/** The answer of a search. The verdict, the chart, the cards and the terminal read this one value. */
export type SafeRate =
  | {
      readonly kind: 'held'
      readonly heldPerS: number
      /** Some steps below the rate that held. */
      readonly safePerS: number
      /** The lowest rate that failed above it; null if none did. */
      readonly failedPerS: number | null
      readonly budget: BudgetName
      /** What a whole confirmation at this rate takes, if the time allowed a shorter one; else null. */
      readonly needs: Needs | null
    }
  /** Not enough time or requests to decide. */
  | {
      readonly kind: 'bracket'
      /** The highest rate that succeeded in a trial, without a confirmation; null if none did. */
      readonly lowPerS: number | null
      readonly failedPerS: number | null
      readonly needs: Needs | null
    }
  | {
      readonly kind: 'none'
      readonly because: 'one at a time' | 'no hold' | 'every rate' | 'unknown'
      readonly failedPerS: number | null
    }

/** What a verdict still takes. */
export interface Needs {
  readonly budget: BudgetName
  readonly ratePerS: number
  readonly requests: number
}

/** Time that this run has spent on its trials. */
export const elapsedUs = (trials: readonly Trial[]) =>
  trials.reduce((sum, { tookUs, earlier }) => sum + (earlier ? 0 : tookUs), 0)

/** The last group of the warm-up: its mean time, and whether most requests missed although each was alone. */
export function warmUpOf(trials: readonly Trial[]): {
  readonly meanUs: number | null
  readonly allMiss: boolean
} {
  const groups = trials.filter(({ step }) => step === 'warm-up')
  // What a limiter refuses says nothing about the speed of the service.
  const last = groups.findLast((group) => !isLimited(group))
  if (last === undefined) return { meanUs: null, allMiss: false }
  return { meanUs: last.meanUs, allMiss: last.judged >= 3 && last.missed > last.judged / 2 }
}

/**
 * Between which rates the capacity lies, by all trials but the confirmations. A limit of the service is the upper rate if no
 * lower one failed; the service may be known to be fast enough for it.
 */
export function bracketOf(trials: readonly Trial[]): {
  readonly lowPerS: number | null
  readonly highPerS: number | null
  /** Whether the limit of the service, not its speed, is between them. */
  readonly isByLimit: boolean
} {
  const limit = limitOf(trials)
  const rough = trials.filter(({ step }) => step === 'bracket' || step === 'refine')
  // A service that was cold, or that has grown since, may sustain what it failed before.
  const heldLater = (trial: Trial, at: number) =>
    rough
      .slice(at + 1)
      .some(({ result, ratePerS }) => result === 'held' && ratePerS >= trial.ratePerS)
  const failed = rough
    .filter((trial, at) => isFailed(trial, rough) && !heldLater(trial, at))
    // A trial below the limit that was refused says nothing: earlier trials had used up the limiter's window.
    .filter((trial) => limit === null || trial.ratePerS > limit.perS || !isLimited(trial))
    .map(({ ratePerS }) => ratePerS)
    .concat(limit === null ? [] : [limit.perS])
  const highPerS = failed.length === 0 ? null : smallest(failed)
  const held = rough
    .filter(({ result, ratePerS }) => result === 'held' && ratePerS < (highPerS ?? Infinity))
    .map(({ ratePerS }) => ratePerS)
  const isByLimit = limit !== null && highPerS === limit.perS && sustainsLimit(trials, limit)
  if (isByLimit) held.push(limit.steadyPerS)
  return { lowPerS: held.length === 0 ? null : largest(held), highPerS, isByLimit }
}

/** A rate that could not be sent twice is the limit of this machine: no search goes above it. */
function isFailed(trial: Trial, trials: readonly Trial[]): boolean {
  if (trial.result !== 'void' || trial.why === 'unknown') return trial.result === 'failed'
  const same = trials.filter((each) => each.result === 'void' && each.ratePerS === trial.ratePerS)
  return same.length >= 2
}

/** Whether the last trial of this run did not know which of its requests are good: further ones would not either. */
export const isUnknown = (trials: readonly Trial[]): boolean =>
  trials.findLast(({ earlier }) => !earlier)?.why === 'unknown'

/** Holds end at this share of the bracket's lower rate: the capacity falls while it is measured. */
export const mostFall = 0.4

/** The answer after any number of trials. */
export function safeRateOf(search: Search, trials: readonly Trial[]): SafeRate {
  const held = trials.findLast(
    ({ step, result, budget }) =>
      step === 'hold' && result === 'held' && isEnough(budget, search.budget),
  )
  const failures = trials.filter((trial) => isFailed(trial, trials) && trial.ratePerS > 0)
  const lowestAbove = (perS: number) => {
    const above = failures.map(({ ratePerS }) => ratePerS).filter((rate) => rate > perS)
    return above.length === 0 ? null : smallest(above)
  }
  if (held !== undefined) {
    const step = stepOf(search, budgets[held.budget])
    return {
      kind: 'held',
      heldPerS: held.ratePerS,
      safePerS: held.ratePerS / step ** search.headroom,
      failedPerS: lowestAbove(held.ratePerS),
      budget: held.budget,
      needs: isWhole(search, held)
        ? null
        : {
            budget: held.budget,
            ratePerS: held.ratePerS,
            requests: holdRequests(search, held.budget),
          },
    }
  }
  const failedPerS = lowestAbove(0)
  if (isUnknown(trials)) return { kind: 'none', because: 'unknown', failedPerS }
  if (warmUpOf(trials).allMiss) return { kind: 'none', because: 'one at a time', failedPerS }
  const { lowPerS, isByLimit } = bracketOf(trials)
  const holds = trials.filter(({ step }) => step === 'hold')
  // A void confirmation, or one of a smaller budget that held, says nothing against its rate.
  const failedHolds = holds.filter((hold) => isFailed(hold, trials))
  const lowestFailed = smallest(failedHolds.map(({ ratePerS }) => ratePerS))
  const budget = search.budget ?? holds.at(-1)?.budget ?? 'quick'
  const step = stepOf(search, budgets[budget])
  const lowestFailedWhole = smallest(
    failedHolds.filter((hold) => isWhole(search, hold)).map(({ ratePerS }) => ratePerS),
  )
  if (lowPerS !== null && lowestFailedWhole / step < mostFall * lowPerS) {
    return { kind: 'none', because: 'no hold', failedPerS }
  }
  if (lowPerS === null) {
    if (isLowest(search, trials)) return { kind: 'none', because: 'every rate', failedPerS }
    return { kind: 'bracket', lowPerS, failedPerS, needs: null }
  }
  const ratePerS = Number.isFinite(lowestFailed)
    ? lowestFailed / step
    : lowPerS / step ** budgets[budget].below
  return {
    kind: 'bracket',
    // A rate whose confirmation failed is not sustained, whatever a shorter trial said.
    lowPerS: lowestFailed <= lowPerS || isByLimit ? null : lowPerS,
    failedPerS,
    needs: { budget, ratePerS, requests: holdRequests(search, budget) },
  }
}

const mostHalvings = 10
/** Without a limit of time, a search that sustained no rate takes as long at most, or as many times its first trial if that is longer. */
const mostDownUs = 1200e6
const mostOfFirst = 8

/**
 * Whether every rate failed, and none below is tried: a thousandth of the first did, or a search without a limit of time would take too long.
 * Misses that do not depend on the rate, such as wrong answers, would else keep it busy for hours. A limiter may admit any low rate.
 */
export function isLowest(search: Search, trials: readonly Trial[]): boolean {
  const { lowPerS, highPerS } = bracketOf(trials)
  const rough = trials.filter(({ step }) => step === 'bracket')
  const [first, last] = [rough[0], rough.findLast(({ ratePerS }) => ratePerS === highPerS)]
  if (lowPerS !== null || first === undefined || last === undefined) return false
  const nextPerS = last.ratePerS / 2
  if (nextPerS < first.ratePerS / 2 ** mostHalvings) return true
  if (search.mostUs !== null || isLimited(last)) return false
  const mostUs = Math.max(
    mostDownUs * scaleOf(search),
    (mostOfFirst * 1e6 * first.planned) / first.ratePerS,
  )
  const mine = trials.filter(({ earlier }) => !earlier)
  return elapsedUs(mine) + (1e6 * last.planned) / nextPerS > mostUs
}

/** Requests of a whole confirmation. */
const holdRequests = (search: Search, budget: BudgetName) =>
  Math.ceil((search.hold ?? budgets[budget].hold * scaleOf(search)) - 1e-9)

/** Whether a confirmation had all requests of its budget: a search of limited time may plan fewer. */
export const isWhole = (search: Search, { planned, budget }: Trial) =>
  planned >= holdRequests(search, budget)

const isEnough = (budget: BudgetName, wanted: BudgetName | null) =>
  wanted === null || budgetNames.indexOf(budget) >= budgetNames.indexOf(wanted)

/**
 * The phase whose figures describe the answer: the confirmation of the safe rate, or the highest rate that a trial sustained, or
 * the lowest that failed. Null if this run sent no such trial.
 */
export function claimedPhase(trials: readonly Trial[], safeRate: SafeRate): string | null {
  const rated = trials.filter(({ step, earlier }) => step !== 'warm-up' && !earlier)
  const sustained = (perS: number | null) =>
    rated.findLast(({ result, ratePerS }) => result === 'held' && ratePerS === perS)
  switch (safeRate.kind) {
    case 'held':
      return sustained(safeRate.heldPerS)?.phase ?? null
    case 'bracket':
      return (sustained(safeRate.lowPerS) ?? lowest(rated))?.phase ?? null
    case 'none':
      return lowest(rated)?.phase ?? null
  }
}

const lowest = (trials: readonly Trial[]) =>
  trials.reduce<Trial | undefined>(
    (low, trial) => (low === undefined || trial.ratePerS < low.ratePerS ? trial : low),
    undefined,
  )
