import { type BudgetName, budgetNames, type Search } from '../../scenario/scenario.ts'
import { mayMissOf } from './judge.ts'
import { bracketOf, elapsedUs, type SafeRate, safeRateOf, warmUpOf } from './outcome.ts'
import { budgets, type JudgedStep, scaleOf, stepOf, type TrialPlan } from './search.ts'
import type { Trial } from './trial.ts'

/** What remains of a search, predicted from the results so far. */
export interface Forecast {
  readonly requests: number
  readonly us: number
}

export type NextTrial =
  | {
      readonly kind: 'try'
      readonly plan: TrialPlan
      /** Pause before it, after a failed trial. */
      readonly pauseUs: number
      /** Of the whole search; null until the rate is roughly known. */
      readonly toGo: Forecast | null
    }
  | { readonly kind: 'done'; readonly safeRate: SafeRate }

/** Noise cannot prolong a search beyond this number of trials. */
const mostTrials = 80
const mostWarmUps = 20
const requestsOfWarmUp = 10
/** A warm-up is over when the mean falls by less than this from one group to the next. */
const stillFalls = 0.25
/** Shares of the time of a search for one group of the warm-up, and for one rough trial. */
const warmUpShare = 1 / 20
const roughShare = 1 / 12
/** Requests in flight at the first rate, by Little's law: a rate that fails costs little, because it ends early. */
const startInFlight = 1
const requestsOfRough = 60
/** A rough trial that has little time; the hold decides, not this. */
const fewestOfRough = 10
const boundsOfRough = 10
const leastHoldUs = 60e6
/** Requests of a hold that has little time. It is judged like any other: with fewer requests, fewer may miss. */
const fewestOfHold = 120
/** Share of the time of a search that is kept for such a hold. */
const holdShare = 0.4
/** Where such a hold is, as a share of the bracket's lower rate, and of a hold that failed. */
const [belowLow, belowFailed] = [0.75, 0.65]
/** The same after a whole hold that failed, if time is limited. */
const belowWhole = 0.85
const mostPauseUs = 5e6
/** Holds end at this share of the bracket's lower rate: the capacity falls while it is measured. */
const mostFall = 0.4
const mostHalvings = 10
/** Holds that a search needs on average. */
const holdsOnAverage = 1.6

/** The next trial of a search, or its end. */
export function nextTrial(search: Search, trials: readonly Trial[]): NextTrial {
  const done: NextTrial = { kind: 'done', safeRate: safeRateOf(search, trials) }
  const mine = trials.filter(({ earlier }) => !earlier)
  const warmUp = nextWarmUp(search, mine)
  if (warmUp !== null) return { kind: 'try', plan: warmUp, pauseUs: 0, toGo: null }
  const { allMiss, meanUs } = warmUpOf(trials)
  // A search that goes on has more time than the short hold that it begins with.
  const isDecided =
    done.safeRate.kind === 'held' &&
    (done.safeRate.needs === null ||
      mine.some(({ step, result }) => step === 'hold' && result === 'held'))
  if (isDecided || allMiss || trials.length >= mostTrials) return done
  const bracket = bracketOf(trials)
  const { lowPerS, highPerS } = bracket
  const budget = budgetFor(search, trials)
  const plans = new Plans(search, budget, trials)
  const isClosed = lowPerS !== null && (highPerS !== null || lowPerS >= search.maxPerS)
  if (!isClosed && !(lowPerS !== null && plans.mustHold(plans.rough(lowPerS * 2), lowPerS))) {
    const ratePerS =
      lowPerS !== null
        ? Math.min(lowPerS * 2, search.maxPerS)
        : highPerS !== null
          ? highPerS / 2
          : Math.min(search.startPerS ?? (startInFlight * 1e6) / (meanUs ?? 1e6), search.maxPerS)
    const first = trials.find(({ step }) => step === 'bracket')?.ratePerS ?? ratePerS
    if (ratePerS < first / 2 ** mostHalvings) return done
    return plans.tried(plans.rough(ratePerS), null) ?? done
  }
  if (lowPerS === null) return done
  const isBrief = plans.isShort(plans.nextHoldPerS(lowPerS))
  const holdRate = isBrief ? plans.nextBriefPerS(lowPerS) : plans.nextHoldPerS(lowPerS)
  const hold = plans.hold(holdRate)
  const brief = isBrief ? plans.brief(holdRate) : null
  const isHolding = plans.lastFailedHold !== undefined
  const isWide = highPerS !== null && highPerS / lowPerS > stepOf(search, budgets[budget])
  if (highPerS !== null && !isHolding && (isWide || isDoubtful(trials, highPerS))) {
    const fine = isWide ? plans.fine(lowPerS, highPerS) : plans.again(highPerS)
    const toGo = forecastOf(search, budget, lowPerS, highPerS)
    // A hold decides, so a refining trial may not take its time, unless there is too little for any hold.
    const leaves = plans.fits(fine, plans.usOf(hold)) || plans.leavesHold(fine, lowPerS)
    if (leaves) return plans.tried(fine, toGo) ?? done
    // Without the time for any hold, a narrower bracket is worth more than what is left of it.
    if (isBrief && brief === null) {
      return plans.tried(plans.short(fine), toGo) ?? done
    }
  }
  if (!isBrief && holdRate < mostFall * lowPerS) return done
  const last = brief ?? hold
  return plans.tried(last, { requests: last.requests, us: plans.usOf(last) }) ?? done
}

/** Whether every refining trial held, so that only a rough trial says that this rate fails: it may have been cold. */
function isDoubtful(trials: readonly Trial[], highPerS: number): boolean {
  const fine = trials.filter(({ step }) => step === 'refine')
  return (
    fine.length > 0 &&
    fine.every(({ result, ratePerS }) => result === 'held' || ratePerS > highPerS)
  )
}

function nextWarmUp(search: Search, mine: readonly Trial[]): TrialPlan | null {
  const groups = mine.filter(({ step }) => step === 'warm-up')
  const [before, last] = [groups.at(-2)?.meanUs ?? null, groups.at(-1)?.meanUs ?? null]
  const isWarm = before !== null && last !== null && last > (1 - stillFalls) * before
  const isLong = search.mostUs !== null && elapsedUs(mine) > 2 * warmUpShare * search.mostUs
  if (mine.length > groups.length || groups.length >= mostWarmUps || isWarm || isLong) return null
  return {
    step: 'warm-up',
    ratePerS: 0,
    requests: requestsOfWarmUp,
    mayMiss: requestsOfWarmUp,
    mostUs: search.mostUs === null ? null : warmUpShare * search.mostUs,
    budget: search.budget ?? 'quick',
    nth: 0,
  }
}

/** The trials that a search can plan at a moment, and the time that they take. */
class Plans {
  private readonly search: Search
  private readonly name: BudgetName
  private readonly trials: readonly Trial[]
  private readonly scale: number
  private readonly leftUs: number

  constructor(search: Search, name: BudgetName, trials: readonly Trial[]) {
    this.search = search
    this.name = name
    this.trials = trials
    this.scale = scaleOf(search)
    this.leftUs = search.mostUs === null ? Infinity : search.mostUs - elapsedUs(trials)
  }

  rough(ratePerS: number): TrialPlan {
    const { mostUs, boundUs } = this.search
    const capUs = mostUs === null ? Infinity : mostUs * roughShare
    const least = Math.ceil(fewestOfRough * this.scale)
    const wanted = Math.max(
      requestsOfRough * this.scale,
      (ratePerS * boundsOfRough * boundUs) / 1e6,
    )
    return this.plan(
      'bracket',
      ratePerS,
      Math.max(least, Math.min(wanted, (ratePerS * capUs) / 1e6)),
    )
  }

  fine(lowPerS: number, highPerS: number): TrialPlan {
    const { mostUs, boundUs } = this.search
    const capUs = mostUs === null ? Infinity : mostUs * roughShare
    const ratePerS = Math.sqrt(lowPerS * highPerS)
    const width = Math.max((highPerS / lowPerS - 1) / 2, this.step - 1)
    const forBacklog = (ratePerS * Math.min(boundUs / width, capUs)) / 1e6
    return this.plan('refine', ratePerS, Math.max(this.budget.fine * this.scale, forBacklog))
  }

  /** A refining trial with the requests of a rough one. */
  short({ ratePerS }: TrialPlan): TrialPlan {
    return this.plan('refine', ratePerS, this.rough(ratePerS).requests)
  }

  /** A rate that failed in a rough trial. It is not rescued by luck: twice the requests, and the margin of a hold. */
  again(ratePerS: number): TrialPlan {
    const { requests } = this.fine(ratePerS / this.step, ratePerS * this.step)
    const plan = this.plan('refine', ratePerS, 2 * requests)
    return { ...plan, mayMiss: Math.floor(plan.mayMiss * this.budget.use) }
  }

  hold(ratePerS: number): TrialPlan {
    const { boundUs, hold } = this.search
    const wanted = hold ?? this.budget.hold * this.scale
    const us = Math.max(hold === null ? leastHoldUs : 0, boundUs / (this.step - 1))
    return this.plan('hold', ratePerS, Math.max(wanted, (ratePerS * us) / 1e6))
  }

  /** Whether a hold may be shorter than its budget says: there is a limit of time, and no length that a user asked for. */
  private get mayBeBrief(): boolean {
    const { mostUs, hold } = this.search
    return mostUs !== null && hold === null && this.name === 'quick'
  }

  /** Whether there is no time for two whole holds, one of which may fail. */
  isShort(ratePerS: number): boolean {
    return this.mayBeBrief && this.leftUs < 2 * this.usOf(this.hold(ratePerS))
  }

  /**
   * A hold of the requests that half of the remaining time allows, or all of it if half is too little; null if even those are too few, or
   * last less than a minute.
   */
  brief(ratePerS: number): TrialPlan | null {
    const full = this.hold(ratePerS)
    if (!this.mayBeBrief) return null
    const us = this.leftUs - this.pauseUs - (this.usOf(full) - (full.requests / ratePerS) * 1e6)
    const leastUs = Math.max(leastHoldUs, (1e6 * fewestOfHold * this.scale) / ratePerS)
    if (us < leastUs) return null
    const takesUs = us / 2 < leastUs ? us : us / 2
    return this.plan(
      'hold',
      ratePerS,
      Math.min(full.requests, Math.floor((ratePerS * takesUs) / 1e6)),
    )
  }

  /** Whether a hold below a rate has its time now, and would not have it after a trial. */
  mustHold(before: TrialPlan, lowPerS: number): boolean {
    return this.brief(this.nextBriefPerS(lowPerS)) !== null && !this.leavesHold(before, lowPerS)
  }

  /** Whether a hold below a rate has its time after a trial. */
  leavesHold(before: TrialPlan, lowPerS: number): boolean {
    const { mostUs } = this.search
    const leastUs = (1e6 * fewestOfHold * this.scale) / this.nextBriefPerS(lowPerS)
    const us = Math.max(leastHoldUs, leastUs, holdShare * (mostUs ?? 0))
    return this.fits(before, us + mostPauseUs + this.search.boundUs)
  }

  /** A brief hold must succeed: well below what held for a moment, or below the hold that failed. */
  nextBriefPerS(lowPerS: number): number {
    const last = this.lastFailedHold
    if (last !== undefined && last.ratePerS <= lowPerS) return last.ratePerS * belowFailed
    // If there is time for one alone, it must not fail.
    const usual = lowPerS * belowLow
    const leastUs = Math.max(leastHoldUs, (1e6 * fewestOfHold * this.scale) / usual)
    return this.leftUs < 2 * leastUs ? lowPerS * belowFailed : usual
  }

  /** One step below the last hold of this budget, or some steps below the bracket. */
  nextHoldPerS(lowPerS: number): number {
    const last = this.lastFailedHold
    if (last !== undefined) {
      if (this.voidsAt(last.ratePerS) === 1) return last.ratePerS
      return this.mayBeBrief ? last.ratePerS * belowWhole : last.ratePerS / this.step
    }
    const first = lowPerS / this.step ** this.budget.below
    // A single hold must succeed, so it starts two steps lower.
    const isOnlyOne = this.leftUs < 2 * this.usOf(this.hold(first))
    return isOnlyOne ? first / this.step ** 2 : first
  }

  /** The last hold, if it is of this budget and did not hold. */
  get lastFailedHold(): Trial | undefined {
    const last = this.trials.findLast(({ step }) => step === 'hold')
    return last?.budget === this.name && last.result !== 'held' ? last : undefined
  }

  usOf({ ratePerS, requests }: TrialPlan): number {
    const { meanUs } = warmUpOf(this.trials)
    return (requests / ratePerS) * 1e6 + this.search.boundUs + (meanUs ?? 0)
  }

  /** @param besidesUs time that must remain after it */
  fits(plan: TrialPlan, besidesUs = 0): boolean {
    return this.usOf(plan) + this.pauseUs + besidesUs <= this.leftUs
  }

  /** The trial, if its time remains; a void trial is planned again. */
  tried(plan: TrialPlan, toGo: Forecast | null): NextTrial | null {
    return this.fits(plan) ? { kind: 'try', plan, pauseUs: this.pauseUs, toGo } : null
  }

  private voidsAt(ratePerS: number): number {
    return this.trials.filter((each) => each.result === 'void' && each.ratePerS === ratePerS).length
  }

  /** The backlog of a failed trial is gone before the next, and a tenth of the trial passes. */
  private get pauseUs(): number {
    const last = this.trials.at(-1)
    if (last === undefined || last.earlier || last.result === 'held') return 0
    return this.search.coolDownUs ?? Math.min(last.lastedUs / 10, mostPauseUs)
  }

  private get budget() {
    return budgets[this.name]
  }

  private get step(): number {
    return stepOf(this.search, this.budget)
  }

  private plan(step: JudgedStep, ratePerS: number, wanted: number): TrialPlan {
    const { trialUs, goodput } = this.search
    const requests = Math.ceil(Math.max(wanted, (ratePerS * (trialUs ?? 0)) / 1e6) - 1e-9)
    return {
      ...{ step, ratePerS, requests, mostUs: null, budget: this.name },
      nth: this.trials.filter((trial) => trial.step === 'hold' && trial.result === 'failed').length,
      mayMiss: mayMissOf(step, requests, goodput, this.name),
    }
  }
}

/** The budget of a search, or the largest that fits into the time that was left when its bracket was closed. */
export function budgetFor(search: Search, trials: readonly Trial[]): BudgetName {
  if (search.budget !== null) return search.budget
  const { lowPerS, highPerS } = bracketOf(trials)
  if (search.mostUs === null || lowPerS === null) return 'quick'
  const closedAt = trials.findIndex(
    (_, at) => trials[at]!.step !== 'warm-up' && isClosed(search, trials.slice(0, at + 1)),
  )
  const then = bracketOf(trials.slice(0, closedAt + 1))
  const before = trials.slice(0, closedAt + 1)
  const warm = trials.filter(({ step, earlier }) => step === 'warm-up' && !earlier)
  const spentUs = Math.max(elapsedUs(before), elapsedUs(warm))
  const fitting = budgetNames.filter((name) => {
    const { us } = forecastOf(search, name, then.lowPerS ?? lowPerS, then.highPerS ?? highPerS)
    return spentUs + us <= search.mostUs!
  })
  return fitting.at(-1) ?? 'quick'
}

function isClosed(search: Search, trials: readonly Trial[]): boolean {
  const { lowPerS, highPerS } = bracketOf(trials)
  return lowPerS !== null && (highPerS !== null || lowPerS >= search.maxPerS)
}

/** Requests and time from a closed bracket to a verdict, on average. */
export function forecastOf(
  search: Search,
  name: BudgetName,
  lowPerS: number,
  highPerS: number | null,
): Forecast {
  const plans = new Plans(search, name, [])
  const step = stepOf(search, budgets[name])
  let [requests, us, high] = [0, 0, highPerS]
  while (high !== null && high / lowPerS > step) {
    const fine = plans.fine(lowPerS, high)
    requests += fine.requests
    us += plans.usOf(fine)
    high = fine.ratePerS
  }
  const hold = plans.hold(lowPerS / step ** budgets[name].below)
  return {
    requests: Math.ceil(requests + holdsOnAverage * hold.requests),
    us: us + holdsOnAverage * plans.usOf(hold),
  }
}
