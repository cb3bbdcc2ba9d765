import type { BudgetName, Search } from '../../scenario/loads.ts'
import { mayMissOf } from './judge.ts'
import { limitOf, limitWaitUs } from './limit.ts'
import { elapsedUs, warmUpOf } from './outcome.ts'
import { budgets, type JudgedStep, mostPauseUs, scaleOf, stepOf, type TrialPlan } from './search.ts'
import type { Trial } from './trial.ts'

/** What remains of a search, predicted from the results so far. */
export interface Forecast {
  readonly requests: number
  readonly us: number
}

export interface PlannedTrial {
  readonly kind: 'try'
  readonly plan: TrialPlan
  /** Pause before it, after a failed trial. */
  readonly pauseUs: number
  /** Of the pause, the part in which a limit of the service resets; 0 for none. */
  readonly limitWaitUs: number
  /** Of the whole search; null until the rate is roughly known. */
  readonly toGo: Forecast | null
}

/** Share of the time of a search for one rough trial. */
const roughShare = 1 / 12
const requestsOfRough = 60
/** A rough trial that has little time; the confirmation decides, not this. */
const fewestOfRough = 10
const boundsOfRough = 10
const leastHoldUs = 60e6
/** Requests of a confirmation that has little time. It is judged like any other: with fewer requests, fewer may miss. */
const fewestOfHold = 110
/** Share of the time of a search that is kept for such a confirmation. */
const holdShare = 0.4
/** Where such a confirmation is, as a share of the bracket's lower rate, and of a rate that was not confirmed. */
const [belowLow, belowFailed] = [0.75, 0.65]
/** The same if there is time for one alone, which must not fail; and at most, if only a higher rate has the time for its requests. */
const [belowLowAlone, nearLow] = [0.4, 0.9]
/** The same below a limit of the service, which is known better than a speed: of its steady rate, and at most of the limit. */
const [belowLimit, nearLimit] = [0.95, 0.9]
/** The same after a whole confirmation that failed, if time is limited. */
const belowWhole = 0.85
/** Of the time for two such confirmations, the share of the first: the second has as many requests at a lower rate. */
const firstShare = belowFailed / (1 + belowFailed)

/** A search does not wait longer for a limit to reset. */
export const mostWaitUs = 3600e6

/** The trials that a search can plan at a moment, and the time that they take. */
export class Plans {
  private readonly search: Search
  private readonly name: BudgetName
  private readonly trials: readonly Trial[]
  private readonly scale: number
  /** Until a limit of the service resets. */
  private readonly waitUs: number
  /** After that wait. */
  private readonly leftUs: number

  constructor(search: Search, name: BudgetName, trials: readonly Trial[]) {
    this.search = search
    this.name = name
    this.trials = trials
    this.scale = scaleOf(search)
    const last = trials.at(-1)
    this.waitUs = last === undefined || last.earlier ? 0 : limitWaitUs(last)
    this.leftUs =
      search.mostUs === null ? Infinity : search.mostUs - elapsedUs(trials) - this.waitUs
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

  /** A rate that failed in a rough trial. It is not rescued by luck: twice the requests, and the margin of a confirmation. */
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

  /** Whether a confirmation may be shorter than its budget says: there is a limit of time, and no length that a user asked for. */
  private get mayBeBrief(): boolean {
    const { mostUs, hold } = this.search
    return mostUs !== null && hold === null && this.name === 'quick'
  }

  /** Whether there is no time for two whole confirmations, one of which may fail. */
  isShort(ratePerS: number): boolean {
    return this.mayBeBrief && this.leftUs < 2 * this.usOf(this.hold(ratePerS))
  }

  /** The least time of arrivals of a confirmation that lacks time. */
  private leastBriefUs(ratePerS: number): number {
    return Math.max(leastHoldUs, (1e6 * fewestOfHold * this.scale) / ratePerS)
  }

  /**
   * A confirmation that leaves the time for a second one, or takes all of it if both do not fit; null if even that is too little.
   */
  brief(ratePerS: number): TrialPlan | null {
    if (!this.mayBeBrief) return null
    const us = this.holdUs
    const leastUs = this.leastBriefUs(ratePerS)
    if (us < leastUs) return null
    const firstUs = us * firstShare
    const takesUs = firstUs < leastUs ? us : firstUs
    return this.plan(
      'hold',
      ratePerS,
      Math.min(this.hold(ratePerS).requests, Math.floor((ratePerS * takesUs) / 1e6)),
    )
  }

  /** Whether a confirmation below a rate has its time now, and would not have it after a trial. */
  mustHold(before: TrialPlan, lowPerS: number): boolean {
    return this.brief(this.enoughPerS(lowPerS)) !== null && !this.leavesHold(before, lowPerS)
  }

  /** Whether a confirmation below a rate has its time after a trial. */
  leavesHold(before: TrialPlan, lowPerS: number): boolean {
    const { mostUs } = this.search
    const leastUs = this.leastBriefUs(this.enoughPerS(lowPerS))
    const us = Math.max(leastUs, holdShare * (mostUs ?? 0))
    return this.fits(before, us + mostPauseUs + this.search.boundUs)
  }

  /** A brief confirmation must succeed: well below what a short trial sustained, or below the confirmation that failed. */
  nextBriefPerS(lowPerS: number): number {
    const enoughPerS = this.enoughPerS(lowPerS)
    if (this.againPerS !== null || this.failedBelow(lowPerS) !== null) return enoughPerS
    const limit = limitOf(this.trials)
    const isByLimit = lowPerS === limit?.steadyPerS
    const isAlone = enoughPerS < lowPerS * belowLow
    const wantedPerS = isAlone ? lowPerS * belowLowAlone : enoughPerS
    // The fewest requests take less time at a higher rate, which succeeds with more luck.
    const forFewestPerS = (1.001e6 * fewestOfHold * this.scale) / this.holdUs
    const mostPerS = isByLimit ? limit.perS * nearLimit : lowPerS * nearLow
    return Math.min(mostPerS, Math.max(wantedPerS, forFewestPerS))
  }

  /** A rate that is low enough for a brief confirmation. */
  private enoughPerS(lowPerS: number): number {
    if (this.againPerS !== null) return this.againPerS
    const failed = this.failedBelow(lowPerS)
    if (failed !== null) return failed.ratePerS * belowFailed
    if (lowPerS === limitOf(this.trials)?.steadyPerS) return lowPerS * belowLimit
    const usual = lowPerS * belowLow
    return this.leftUs < this.leastBriefUs(usual) / firstShare ? lowPerS * belowFailed : usual
  }

  private failedBelow(lowPerS: number): Trial | null {
    const last = this.lastUnheld
    return last !== undefined && last.ratePerS <= lowPerS ? last : null
  }

  /** The rate of the last confirmation, if it is void for the first time there: it is tried once more. */
  private get againPerS(): number | null {
    const last = this.lastUnheld
    return last?.result === 'void' && this.voidsAt(last.ratePerS) === 1 ? last.ratePerS : null
  }

  /** One step below the last confirmation of this budget, or some steps below the bracket. */
  nextHoldPerS(lowPerS: number): number {
    if (this.againPerS !== null) return this.againPerS
    const last = this.lastUnheld
    if (last !== undefined) {
      return this.mayBeBrief ? last.ratePerS * belowWhole : last.ratePerS / this.step
    }
    const first = lowPerS / this.step ** this.budget.below
    // A single confirmation must succeed, so it starts two steps lower.
    const isOnlyOne = this.leftUs < 2 * this.usOf(this.hold(first))
    return isOnlyOne ? first / this.step ** 2 : first
  }

  /** The last confirmation, if it is of this budget and did not hold: it failed, or is void. */
  get lastUnheld(): Trial | undefined {
    const last = this.trials.findLast(({ step }) => step === 'hold')
    return last?.budget === this.name && last.result !== 'held' ? last : undefined
  }

  /** The time that remains for the arrivals of one last confirmation. */
  private get holdUs(): number {
    return Math.max(1, this.leftUs - this.pauseUs - this.lastAnswerUs)
  }

  usOf({ ratePerS, requests }: TrialPlan): number {
    return (requests / ratePerS) * 1e6 + this.lastAnswerUs
  }

  /** Time after the last arrival of a trial. */
  private get lastAnswerUs(): number {
    return this.search.boundUs + (warmUpOf(this.trials).meanUs ?? 0)
  }

  /** @param besidesUs time that must remain after it */
  fits(plan: TrialPlan, besidesUs = 0): boolean {
    return this.usOf(plan) + this.pauseUs + besidesUs <= this.leftUs
  }

  /** The trial, if its time remains; a void trial is planned again. */
  tried(plan: TrialPlan, toGo: Forecast | null): PlannedTrial | null {
    if (!this.fits(plan) || this.waitUs > mostWaitUs) return null
    const { waitUs } = this
    return { kind: 'try', plan, pauseUs: waitUs + this.pauseUs, limitWaitUs: waitUs, toGo }
  }

  private voidsAt(ratePerS: number): number {
    return this.trials.filter((each) => each.result === 'void' && each.ratePerS === ratePerS).length
  }

  /** The backlog of a failed trial is gone before the next, and a tenth of the trial passes, unless a limit resets meanwhile. */
  private get pauseUs(): number {
    const last = this.trials.at(-1)
    if (last === undefined || last.earlier || last.result === 'held' || this.waitUs > 0) return 0
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
      step,
      ratePerS,
      requests,
      mostUs: null,
      budget: this.name,
      nth: this.trials.filter((trial) => trial.step === 'hold' && trial.result === 'failed').length,
      mayMiss: mayMissOf(step, requests, goodput, this.name),
    }
  }
}
