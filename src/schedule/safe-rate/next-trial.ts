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
  if (done.safeRate.kind === 'held' || allMiss || trials.length >= mostTrials) return done
  const bracket = bracketOf(trials)
  const { lowPerS, highPerS } = bracket
  const budget = budgetFor(search, trials)
  const plans = new Plans(search, budget, trials)
  const isClosed = lowPerS !== null && (highPerS !== null || lowPerS >= search.maxPerS)
  if (!isClosed) {
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
  const holdRate = plans.nextHoldPerS(lowPerS)
  const hold = plans.hold(holdRate)
  const isHolding = trials.some(({ step, budget: of }) => step === 'hold' && of === budget)
  const isWide = highPerS !== null && highPerS / lowPerS > stepOf(search, budgets[budget])
  if (highPerS !== null && !isHolding && (isWide || isDoubtful(trials, highPerS))) {
    const fine = isWide ? plans.fine(lowPerS, highPerS) : plans.again(highPerS)
    const toGo = forecastOf(search, budget, lowPerS, highPerS)
    // A hold decides, so a refining trial may not take its time, unless there is too little for any hold.
    const leaves = plans.fits(fine, plans.usOf(hold))
    if (leaves) return plans.tried(fine, toGo) ?? done
    // Without the time for a hold, a narrower bracket is worth more than what is left of it.
    if (!plans.fits(hold)) {
      return plans.tried(fine, toGo) ?? plans.tried(plans.short(fine), toGo) ?? done
    }
  }
  if (holdRate < mostFall * lowPerS) return done
  const holds = { requests: hold.requests, us: plans.usOf(hold) }
  return plans.tried(hold, holds) ?? done
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

  /** One step below the last hold of this budget, or some steps below the bracket. */
  nextHoldPerS(lowPerS: number): number {
    const last = this.trials.findLast(({ step }) => step === 'hold')
    const isVoid = last !== undefined && this.voidsAt(last.ratePerS) === 1
    if (last?.budget === this.name) return isVoid ? last.ratePerS : last.ratePerS / this.step
    const first = lowPerS / this.step ** this.budget.below
    // A single hold must succeed, so it starts two steps lower.
    const isOnlyOne = this.leftUs < 2 * this.usOf(this.hold(first))
    return isOnlyOne ? first / this.step ** 2 : first
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
