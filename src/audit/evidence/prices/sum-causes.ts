import type { ChargedOutcome } from '../../../contract/prices.ts'
import {
  absolute,
  add,
  compare,
  decimalsOf,
  decimalText,
  divide,
  isEqual,
  isZero,
  multiply,
  powerOfTen,
  type Rational,
  rational,
  roundTo,
  roundWhole,
  subtract,
  zero,
} from '../../../money/rational.ts'
import { calculate } from '../../../price/calculate.ts'
import { expectedCosts } from '../../../price/judge/expected.ts'
import { type Bounds, boundsOfLeft } from '../../../price/judge/left-answer.ts'
import { endingCharged } from '../../../price/judge/other-causes.ts'
import { type CountedPart, countedParts, otherCount } from '../../../price/judge/other-count.ts'
import { otherPrices } from '../../../price/judge/other-price.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { spread } from '../../../user/spread.ts'
import { formsOf, type Groups, isGiven, onlyTheseWords } from './sum-changes.ts'
import { exactCost, type Window } from './windows.ts'

/** Causes of wrong sums that are no change to the calculation with a value that the contract has. */

/** What gives all wrong sums. */
export interface SumCause {
  readonly summary: string
  /** As in `Explanation`. */
  readonly isDiscount: boolean
}

/** A price is solved for in so many wrong windows, and compared with so many more, and with right ones. */
const mostSolved = 300
const mostCompared = 2_000

/** One price, or the whole cost, at another number than the contract has. */
export function pricedOtherwise(
  wrong: readonly Window[],
  right: readonly Window[],
  judge: PriceJudge,
): readonly SumCause[] {
  const [some, most, spared] = [
    spread(wrong, mostSolved),
    spread(wrong, mostCompared),
    spread(right, mostCompared),
  ]
  for (const [words, has] of formsOf([...most, ...spared])) {
    const amounts = (windows: readonly Window[]) =>
      windows.map(({ requests, apart, unit }) => {
        const own = requests.filter((each) => has(each) && exactCost(each, judge) !== null)
        const cost = own.map((each) => exactCost(each, judge)!).reduce(add, zero)
        const readings = own.flatMap((each) => expectedCosts(each, judge).readings.slice(0, 1))
        return { amount: add(cost, apart), unit, readings }
      })
    if (otherPrices(amounts(some), [], judge.others).length === 0) continue
    const found = otherPrices(amounts(most), amounts(spared), judge.others)
    if (found.length > 0) return found.map(within(words))
  }
  return []
}

const within =
  (words: string) =>
  ({ summary, isDiscount }: SumCause): SumCause => ({ summary: summary + words, isDiscount })

/** The same for one request of a lone window: of several windows, one request in each has too many combinations. */
export function pricedInOne(wrong: readonly Window[], judge: PriceJudge): readonly SumCause[] {
  const [window, second] = wrong
  if (second !== undefined) return []
  return window!.requests.flatMap((request) => {
    const { readings } = expectedCosts(request, judge)
    const cost = exactCost(request, judge)
    if (cost === null) return []
    const amount = add(cost, window!.apart)
    const found = otherPrices([{ amount, unit: window!.unit, readings: readings.slice(0, 1) }])
    return found.map(within(onlyTheseWords))
  })
}

/** Other counts of tokens that give wrong sums of one stream each. */
export function countedOtherwise(wrong: readonly Window[], judge: PriceJudge): readonly string[] {
  if (!wrong.every(({ requests: [request, second] }) => second === undefined && request?.isStream))
    return []
  return (Object.keys(countedParts) as CountedPart[]).flatMap((part) => {
    const countIn = ({ requests, apart, unit }: Window) => {
      const cost = exactCost(requests[0]!, judge)
      const { readings } = expectedCosts(requests[0]!, judge)
      return cost === null ? null : otherCount(add(cost, apart), readings, unit, part)
    }
    return wrong.every((window) => countIn(window) !== null)
      ? [`another count of ${countedParts[part]} tokens: ${countIn(wrong[0]!)} (of streams)`]
      : []
  })
}

/** What one account did not lose, and another one lost at the same time. */
export function ofAnotherAccount(wrong: readonly Window[]): readonly string[] {
  const sum = wrong.map(({ apart }) => apart).reduce(add, zero)
  const unit = wrong.map((each) => each.unit).reduce(add, zero)
  const isPaired = spread(wrong, mostPaired).every((a) =>
    wrong.some(
      (b) =>
        a.account !== b.account &&
        a.apart.numerator > 0n !== b.apart.numerator > 0n &&
        a.fromMs <= b.untilMs &&
        b.fromMs <= a.untilMs,
    ),
  )
  return isPaired && compare(absolute(sum), unit) <= 0
    ? ['requests of one account charged to another account']
    : []
}

/** What was taken from one key, or account, is what requests of another one cost at that time. */
export function ofAnotherKey(
  wrong: readonly Window[],
  requests: readonly PricedRequest[],
  judge: PriceJudge,
): readonly string[] {
  const accounts = [...Map.groupBy(requests, ({ account }) => account)].slice(0, mostAccounts)
  if (accounts.length < 2) return []
  const some = spread(wrong, mostPaired)
  const isGivenBy = ([account, own]: (typeof accounts)[number]) =>
    some.every((window) => {
      if (window.account === account) return false
      const costs = own
        .filter(
          ({ startMs, endMs }) => startMs >= window.first.untilMs && endMs <= window.last.fromMs,
        )
        .map((each) => exactCost(each, judge))
      return (
        !costs.includes(null) && isGiven(window, (costs as readonly Rational[]).reduce(add, zero))
      )
    })
  return accounts.some(isGivenBy) ? ['requests of another key or account counted, too'] : []
}

/** Requests of so many other accounts are compared, in so many windows. */
const mostAccounts = 20
const mostPaired = 100

/**
 * One way to end that costs nothing, and that was charged, or not given back: nothing else is in a window of which too much was taken, or
 * what was taken is a possible cost of one request that ended so, or the costs of several of them.
 */
export function chargedEnding(wrong: Groups, judge: PriceJudge): readonly string[] {
  const endings = wrong.map(
    (windows) => new Set(windows.flatMap((each) => chargedEndingsIn(each, judge))),
  )
  const [first, ...others] = endings
  const common = [...(first ?? [])].filter((ending) => others.every((each) => each.has(ending)))
  return common.length === 1 ? [endingCharged(common[0]!)] : []
}

function chargedEndingsIn(
  { requests, apart, slack }: Window,
  judge: PriceJudge,
): readonly ChargedOutcome[] {
  const free = requests.filter((request) => {
    const { costs } = expectedCosts(request, judge)
    const isOther = request.isSurelyAgain || !request.outcomes.includes('success')
    return costs.length === 1 && isZero(costs[0]!) && isOther
  })
  if (apart.numerator <= 0n) return []
  const byEnding = Map.groupBy(free, ({ outcomes }) => outcomes[0]!)
  if (free.length === requests.length) return byEnding.size === 1 ? [...byEnding.keys()] : []
  return [...byEnding].flatMap(([ending, own]) => {
    const [request, second] = own
    const isPossible =
      second === undefined
        ? mayCost(request!, apart, judge)
        : areCostsOfSome(own, apart, slack, judge)
    return isPossible ? [ending] : []
  })
}

/** What a request that costs nothing would cost if it were charged in full; null if the answer does not say. */
function boundsInFull(request: PricedRequest, judge: PriceJudge): Bounds | null {
  const [reading] = expectedCosts(request, judge).readings
  if (reading === undefined) return null
  const { model, context, usage } = reading
  const inFull = { ...model, charged: { ...model.charged, [context.outcome]: 'full' as const } }
  const exact = calculate(inFull, usage, context).cost
  if (exact !== null) return [exact, exact]
  const bounds = boundsOfLeft(request, inFull, context, judge)
  return typeof bounds === 'string' ? null : bounds
}

function mayCost(request: PricedRequest, apart: Rational, judge: PriceJudge): boolean {
  const bounds = boundsInFull(request, judge)
  return bounds !== null && compare(apart, bounds[0]) >= 0 && compare(apart, bounds[1]) <= 0
}

/** Whether some of these requests, which cost as much each, give an amount: so many refunds that never came. */
function areCostsOfSome(
  requests: readonly PricedRequest[],
  apart: Rational,
  slack: Rational,
  judge: PriceJudge,
): boolean {
  const [first, ...others] = requests.map((each) => boundsInFull(each, judge))
  if (first === undefined || first === null || isZero(first[0])) return false
  const [cost] = first
  const isOne = (bounds: Bounds | null) =>
    bounds !== null && isEqual(bounds[0], cost) && isEqual(bounds[1], cost)
  if (![first, ...others].every(isOne)) return false
  const times = roundWhole(divide(apart, cost), 'half_even')
  const isWhole = compare(absolute(subtract(apart, multiply(cost, rational(times)))), slack) <= 0
  return isWhole && times >= 1n && times <= BigInt(requests.length)
}

/** The places of a round amount are so many times coarser than what the values hide. */
const coarser = rational(1000n)
/** Decimals of a round amount. */
const mostPlaces = 4

/** The same round amount, once or several times in each wrong window, that no request explains. */
export function withoutRequest(wrong: readonly Window[], unit: string): readonly string[] {
  const [least] = wrong.toSorted((a, b) => compare(a.apart, b.apart))
  if (least === undefined || least.apart.numerator <= 0n) return []
  for (let places = 0; places <= mostPlaces; places++) {
    const amount = roundTo(least.apart, places, 'half_even')
    const isRound = compare(multiply(least.unit, coarser), powerOfTen(-places)) <= 0
    if (amount.numerator <= 0n || !isRound) continue
    const isEach = wrong.every((window) => {
      const times = roundWhole(divide(window.apart, amount), 'half_even')
      return isGiven(window, multiply(amount, rational(times)))
    })
    if (isEach)
      return [
        `${decimalText(amount)} ${unit} taken without a request, once or more in each: a fee, or a grant that expired early`,
      ]
  }
  return []
}

/** What was taken in each wrong window without any request in it: once, or again and again. */
export function takenAlone(wrong: readonly Window[], unit: string): readonly string[] {
  const isMore = wrong.every(({ apart }) => apart.numerator > 0n)
  const alone = wrong.filter(({ requests }) => requests.length === 0)
  const unlike = new Set(alone.map(({ apart }) => decimalText(apart)))
  const amounts = alone.slice(0, 2).map(({ apart }) => `${decimalText(apart)} ${unit}`)
  if (!isMore || (alone.length < wrong.length && unlike.size < 2)) return []
  return [
    `${amounts.join(' and ')} taken without a request: ${
      unlike.size > 1
        ? 'another key, or somebody else, used the account'
        : 'a fee, or the rest of a grant that expired early'
    }`,
  ]
}

/** The same amount for each request of the wrong windows, which have another number of requests, or other costs: a fee, or a deposit that was kept. */
export function forEachRequest(
  wrong: readonly Window[],
  right: readonly Window[],
  judge: PriceJudge,
): readonly string[] {
  const [first] = wrong
  if (first === undefined || first.requests.length === 0) return []
  const each = divide(first.apart, rational(BigInt(first.requests.length)))
  const isGivenIn = (window: Window) =>
    isGiven(window, multiply(each, rational(BigInt(window.requests.length))))
  const due = ({ requests }: Window) =>
    requests.map((request) => exactCost(request, judge) ?? zero).reduce(add, zero)
  const costs = new Set(wrong.map((window) => decimalText(due(window))))
  const isFee = costs.size > 1 && wrong.every(isGivenIn)
  const isSpared = right.some(({ requests }) => requests.length > 0)
  return isFee && !isSpared && isRoundIn(first, each)
    ? [
        each.numerator > 0n
          ? `${decimalText(each)} more for each request: a fee, or a deposit that was kept`
          : `${decimalText(absolute(each))} less for each request`,
      ]
    : []
}

/** Whether an amount has few decimals, beside those that the values show. */
function isRoundIn({ unit }: Window, amount: Rational): boolean {
  const places = decimalsOf(amount)
  return places !== null && compare(multiply(unit, coarser), powerOfTen(-places)) <= 0
}
