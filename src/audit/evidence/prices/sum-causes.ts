import {
  absolute,
  add,
  compare,
  decimalText,
  divide,
  isZero,
  multiply,
  powerOfTen,
  rational,
  roundTo,
  roundWhole,
  zero,
} from '../../../money/rational.ts'
import { expectedCosts } from '../../../price/judge/expected.ts'
import { boundsOfLeft } from '../../../price/judge/left-answer.ts'
import { endingCharged } from '../../../price/judge/other-causes.ts'
import { type CountedPart, countedParts, otherCount } from '../../../price/judge/other-count.ts'
import { otherPrices } from '../../../price/judge/other-price.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import { formsOf, type Groups, isGiven, onlyTheseWords } from './sum-changes.ts'
import { exactCost, type Window } from './windows.ts'

/** Causes of wrong sums that are no change to the calculation with a value that the contract has. */

/** One price, or the whole cost, at another number than the contract has. */
export function pricedOtherwise(
  wrong: readonly Window[],
  right: readonly Window[],
  judge: PriceJudge,
): readonly string[] {
  for (const [words, has] of formsOf([...wrong, ...right])) {
    const amounts = (windows: readonly Window[]) =>
      windows.map(({ requests, apart, unit }) => {
        const own = requests.filter((each) => has(each) && exactCost(each, judge) !== null)
        const cost = own.map((each) => exactCost(each, judge)!).reduce(add, zero)
        const readings = own.flatMap((each) => expectedCosts(each, judge).readings.slice(0, 1))
        return { amount: add(cost, apart), unit, readings }
      })
    const found = otherPrices(amounts(wrong), amounts(right))
    if (found.length > 0) return found.map(({ summary }) => summary + words)
  }
  return []
}

/** The same for one request of a lone window: of several windows, one request in each has too many combinations. */
export function pricedInOne(wrong: readonly Window[], judge: PriceJudge): readonly string[] {
  const [window, second] = wrong
  if (second !== undefined) return []
  return window!.requests.flatMap((request) => {
    const { readings } = expectedCosts(request, judge)
    const cost = exactCost(request, judge)
    if (cost === null) return []
    const amount = add(cost, window!.apart)
    const found = otherPrices([{ amount, unit: window!.unit, readings: readings.slice(0, 1) }])
    return found.map(({ summary }) => summary + onlyTheseWords)
  })
}

/** Other counts of tokens that give wrong sums of one stream each. */
export function countedOtherwise(wrong: readonly Window[], judge: PriceJudge): readonly string[] {
  if (!wrong.every(({ requests: [request, second] }) => second === undefined && request?.isStream))
    return []
  return (Object.keys(countedParts) as CountedPart[]).flatMap((part) => {
    const counts = wrong.map(({ requests, apart, unit }) => {
      const cost = exactCost(requests[0]!, judge)
      const { readings } = expectedCosts(requests[0]!, judge)
      return cost === null ? null : otherCount(add(cost, apart), readings, unit, part)
    })
    return counts.includes(null)
      ? []
      : [`another count of ${countedParts[part]} tokens: ${counts[0]} (of streams)`]
  })
}

/** What one account did not lose, and another one lost at the same time. */
export function ofAnotherAccount(wrong: readonly Window[]): readonly string[] {
  const sum = wrong.map(({ apart }) => apart).reduce(add, zero)
  const unit = wrong.map((each) => each.unit).reduce(add, zero)
  const isPaired = wrong.every((a) =>
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

/**
 * One way to end that costs nothing, and that was charged: nothing else is in a window of which too much was taken, or what was
 * taken is a possible cost of the one request that ended so.
 */
export function chargedEnding(wrong: Groups, judge: PriceJudge): readonly string[] {
  const endings = wrong.map(
    (windows) => new Set(windows.flatMap((each) => chargedEndingIn(each, judge) ?? [])),
  )
  const [first, ...others] = endings
  const common = [...(first ?? [])].filter((ending) => others.every((each) => each.has(ending)))
  return common.length === 1 ? [endingCharged(common[0]!)] : []
}

function chargedEndingIn({ requests, apart }: Window, judge: PriceJudge): string | null {
  const free = requests.filter((request) => {
    const { costs } = expectedCosts(request, judge)
    const isOther = request.isSurelyAgain || !request.outcomes.includes('success')
    return costs.length === 1 && isZero(costs[0]!) && isOther
  })
  const [request, second] = free
  if (request === undefined || apart.numerator <= 0n) return null
  const [ending] = request.outcomes
  if (free.length === requests.length)
    return free.every(({ outcomes }) => outcomes[0] === ending) ? ending! : null
  if (second !== undefined) return null
  const [reading] = expectedCosts(request, judge).readings
  if (reading === undefined) return null
  const { model, context } = reading
  const inFull = { ...model, charged: { ...model.charged, [context.outcome]: 'full' as const } }
  const bounds = boundsOfLeft(request, inFull, context, judge)
  const isPossible =
    typeof bounds !== 'string' && compare(apart, bounds[0]) >= 0 && compare(apart, bounds[1]) <= 0
  return isPossible ? ending! : null
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

/** What was taken in each wrong window without any request in it. */
export function takenAlone(wrong: readonly Window[], unit: string): readonly string[] {
  const isAlone = wrong.every(
    ({ apart, requests }) => requests.length === 0 && apart.numerator > 0n,
  )
  const amounts = wrong.slice(0, 2).map(({ apart }) => `${decimalText(apart)} ${unit}`)
  return isAlone
    ? [
        `${amounts.join(' and ')} taken without a request: a fee, or the rest of a grant that expired early`,
      ]
    : []
}
