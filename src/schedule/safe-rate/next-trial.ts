import { type BudgetName, budgetNames, type Search } from '../../scenario/loads.ts'
import { isLimited, limitWaitUs } from './limit.ts'
import {
  bracketOf,
  elapsedUs,
  isLowest,
  isUnknown,
  mostFall,
  type SafeRate,
  safeRateOf,
  warmUpOf,
} from './outcome.ts'
import { type Forecast, mostWaitUs, type PlannedTrial, Plans } from './plans.ts'
import { budgets, stepOf, type TrialPlan } from './search.ts'
import type { Trial } from './trial.ts'

export type NextTrial = PlannedTrial | { readonly kind: 'done'; readonly safeRate: SafeRate }

/** Noise cannot prolong a search beyond this number of trials. */
const mostTrials = 80
const mostWarmUps = 20
const requestsOfWarmUp = 10
/** Groups that a limiter refused, after which the search goes on. */
const mostLimited = 2
/** A warm-up is over when the mean falls by less than this from one group to the next. */
const stillFalls = 0.25
/** Share of the time of a search for one group of the warm-up. */
const warmUpShare = 1 / 20
/** Requests in flight at the first rate, by Little's law: a rate that fails costs little, because it ends early. */
const startInFlight = 1
/** Holds that a search needs on average. */
const holdsOnAverage = 1.6

/** The next trial of a search, or its end. */
export function nextTrial(search: Search, trials: readonly Trial[]): NextTrial {
  const done: NextTrial = { kind: 'done', safeRate: safeRateOf(search, trials) }
  const mine = trials.filter(({ earlier }) => !earlier)
  if (isUnknown(mine)) return done
  const warmUp = nextWarmUp(search, mine)
  if (warmUp !== null) {
    const waitUs = mine.length === 0 ? 0 : limitWaitUs(mine.at(-1)!)
    const isTooLong = waitUs > Math.min(mostWaitUs, (search.mostUs ?? Infinity) - elapsedUs(mine))
    if (isTooLong) return done
    return { kind: 'try', plan: warmUp, pauseUs: waitUs, limitWaitUs: waitUs, toGo: null }
  }
  const { allMiss, meanUs } = warmUpOf(trials)
  // A search that goes on has more time than the short confirmation that it begins with.
  const isDecided =
    done.safeRate.kind === 'held' &&
    (done.safeRate.needs === null ||
      mine.some(({ step, result }) => step === 'hold' && result === 'held'))
  if (isDecided || allMiss || trials.length >= mostTrials) return done
  const { lowPerS, highPerS, isByLimit } = bracketOf(trials)
  const budget = budgetFor(search, trials)
  const plans = new Plans(search, budget, trials)
  const mustHold = lowPerS !== null && plans.mustHold(plans.rough(lowPerS * 2), lowPerS)
  if (!isClosed(search, trials) && !mustHold) {
    const ratePerS =
      lowPerS !== null
        ? Math.min(lowPerS * 2, search.maxPerS)
        : highPerS !== null
          ? highPerS / 2
          : Math.min(search.startPerS ?? (startInFlight * 1e6) / (meanUs ?? 1e6), search.maxPerS)
    if (isLowest(search, trials)) return done
    return plans.tried(plans.rough(ratePerS), null) ?? done
  }
  if (lowPerS === null) return done
  const isBrief = plans.isShort(plans.nextHoldPerS(lowPerS))
  const holdRate = isBrief ? plans.nextBriefPerS(lowPerS) : plans.nextHoldPerS(lowPerS)
  const hold = plans.hold(holdRate)
  const brief = isBrief ? plans.brief(holdRate) : null
  const isHolding = plans.lastUnheld !== undefined
  const isWide = highPerS !== null && highPerS / lowPerS > stepOf(search, budgets[budget])
  const isRefined = isHolding || isByLimit
  if (highPerS !== null && !isRefined && (isWide || isDoubtful(trials, highPerS))) {
    const fine = isWide ? plans.fine(lowPerS, highPerS) : plans.again(highPerS)
    const toGo = forecastOf(search, budget, lowPerS, highPerS)
    // A confirmation decides, so a refining trial may not take its time, unless there is too little for any.
    const leaves = plans.fits(fine, plans.usOf(hold)) || plans.leavesHold(fine, lowPerS)
    if (leaves) return plans.tried(fine, toGo) ?? done
    // Without the time for any confirmation, a narrower bracket is worth more than what is left of it.
    if (isBrief && brief === null) return plans.tried(plans.short(fine), toGo) ?? done
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
  const all = mine.filter(({ step }) => step === 'warm-up')
  const groups = all.filter((group) => !isLimited(group))
  const [before, last] = [groups.at(-2)?.meanUs ?? null, groups.at(-1)?.meanUs ?? null]
  const isWarm = before !== null && last !== null && last > (1 - stillFalls) * before
  const isLong = search.mostUs !== null && elapsedUs(mine) > 2 * warmUpShare * search.mostUs
  const isEnough = isWarm || isLong || all.length - groups.length > mostLimited
  if (mine.length > all.length || all.length >= mostWarmUps || isEnough) return null
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
