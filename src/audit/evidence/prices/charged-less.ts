import type { Allowance } from '../../../contract/prices.ts'
import { add, compare, isZero, type Rational, subtract, zero } from '../../../money/rational.ts'
import type { Explanation } from '../../../price/judge/explain.ts'
import { momentText, ordersOf } from '../../../price/judge/in-order.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { dayMs } from '../../../user/durations.ts'
import { largest, smallest } from '../../../user/extremes.ts'
import type { ReadingStretch } from './stretches.ts'
import type { SumCause } from './sum-causes.ts'
import { turnedSigns } from './turned-signs.ts'
import { exactCost } from './windows.ts'

/**
 * Charges below the price list in the order of time: what customers get, and contracts often leave out.
 *
 *     an allowance   0 0 0 0 0 x x x x x x     the first requests of a day cost nothing
 *                    x x x x|0 0 0 0 0 x x     a day that begins in between, in some zone
 *                    0 0 0 0 0 0 0 0 0 0 0     more than were sent: only where the contract says `allowance: open`
 *     a discount     x x x x x y y y y y y     from a time on, each costs less
 *
 * Nobody is charged too much by either, and lost charges are in no order. So neither is a broken promise, and neither is a pass.
 */

/** A request, or some between two values of a balance, and what they were charged. */
interface Charged {
  readonly requests: readonly PricedRequest[]
  /** `free`: nothing; `less`: a part of the price; `full`: the price. */
  readonly is: 'free' | 'less' | 'full'
  /** How many of them cost nothing, where the others cost their price; absent if that is not so. */
  readonly free?: number
}

/**
 * Why amounts that are less than the contract says may be right all the same. Null if some are more, if they are in no order, or if another
 * price of the contract gives them. Amounts below 0 that are right without their minus are debits.
 */
export function lessInOrder(
  judged: readonly Judged[],
  explained: { readonly explanations: readonly Explanation[]; readonly isWhole: boolean },
  allowance: Allowance | null,
): string | null {
  const turned = turnedSigns(judged)
  if (turned !== null) return turned
  const charged: Charged[] = []
  for (const { request, statement, expected, is } of judged) {
    const { value } = statement
    const least = [...expected.costs, ...(expected.between ?? [])].toSorted(compare)[0]
    const isLess = least !== undefined && value.numerator >= 0n && compare(value, least) < 0
    if (is === 'wrong' && !isLess) return null
    if (is === 'open' || (is === 'right' && isZero(value))) continue
    const [requests, isFree] = [[request], isZero(value)]
    charged.push({ requests, is: is === 'right' ? 'full' : isFree ? 'free' : 'less' })
  }
  const causes = explained.isWhole ? explained.explanations : []
  return chargedLess(charged, allowance, () => causes.every(({ isDiscount }) => isDiscount))
}

/**
 * The same for what was taken between the values of a balance.
 *
 * @param causes finds the causes of the wrong sums. It takes long, so it is asked last
 */
export function takenLess(
  stretches: readonly ReadingStretch[],
  judge: PriceJudge,
  allowance: Allowance | null,
  causes: () => readonly SumCause[],
): string | null {
  const parts = stretches.filter(({ isWhole }) => !isWhole)
  const wrong = parts.filter(({ isRight }) => !isRight)
  const isLess = ({ taken, low, slack }: ReadingStretch) =>
    taken.numerator >= 0n && compare(subtract(low, taken), slack) > 0
  if (!wrong.every(isLess)) return null
  const inOrder = (requests: readonly PricedRequest[]) =>
    requests
      .filter((request) => exactCost(request, judge)?.numerator !== 0n)
      .toSorted((a, b) => a.startMs - b.startMs)
  const charged = wrong.map(({ taken, low, slack, requests }): Charged => {
    const own = inOrder(requests())
    return compare(taken, slack) <= 0
      ? { requests: own, is: 'free' }
      : { requests: own, is: 'less', ...freeIn(own, subtract(low, taken), slack, judge) }
  })
  // Neighbours share requests where a value may be late: each counts once.
  const seen = new Set<PricedRequest>()
  for (const { low, slack, isRight, requests } of parts) {
    if (!isRight || compare(low, slack) <= 0) continue
    const own = requests().filter((request) => !seen.has(request))
    for (const request of own) seen.add(request)
    charged.push({ requests: inOrder(own), is: 'full' })
  }
  return chargedLess(charged, allowance, () => causes().every(({ isDiscount }) => isDiscount))
}

/** How many of the first requests cost together what is missing. */
function freeIn(
  requests: readonly PricedRequest[],
  lack: Rational,
  slack: Rational,
  judge: PriceJudge,
): { readonly free?: number } {
  let sum = zero
  for (const [at, request] of requests.entries()) {
    sum = add(sum, exactCost(request, judge) ?? zero)
    const apart = subtract(sum, lack)
    if (compare(apart, slack) > 0) return {}
    if (compare(add(apart, slack), zero) >= 0) return { free: at + 1 }
  }
  return {}
}

/** As many orders of these requests would be as likely by chance. */
const fewestOrders = 20

/**
 * `the first 5 requests of a day cost nothing …`; null if the charges have no such order.
 *
 * @param mayBeDiscount false if lower charges are known to be something else; asked for an order that a discount has
 */
function chargedLess(
  charged: readonly Charged[],
  allowance: Allowance | null,
  mayBeDiscount: () => boolean,
): string | null {
  const all = charged.filter(({ requests }) => requests.length > 0)
  const text = allowance === 'none' ? null : allowanceOf(all, allowance === 'open')
  if (text !== null) return text
  const discount = discountOf(all)
  return discount !== null && mayBeDiscount() ? discount : null
}

/** Those whose allowance it may be. */
const owners: readonly ((request: PricedRequest) => string)[] = [
  ({ account }) => account,
  ({ account, requestedModel }) => `${account} ${requestedModel}`,
  ({ key }) => key,
]

/** @param isPromised whether the contract says that some requests may cost nothing */
function allowanceOf(all: readonly Charged[], isPromised: boolean): string | null {
  const days = daysOf(all)
  for (const whose of owners) {
    const byOwner = [...Map.groupBy(all, ({ requests }) => whose(requests[0]!)).values()]
    for (const day of days) {
      const most = mostFree(
        byOwner.map((own) => inDays(own, day)),
        fewestOrders * days.length,
      )
      if (most > 0)
        return `the first ${most} requests of a day cost nothing, and the others their price: ${unlessNamed(isPromised)}`
    }
  }
  return isPromised && all.length > 0 && all.every(({ is }) => is === 'free')
    ? `all ${requestsOf(all).length} requests cost nothing: ${unlessNamed(isPromised)}`
    : null
}

const unlessNamed = (isPromised: boolean) =>
  isPromised
    ? 'an allowance, of which the contract does not say how many requests it has, or charges that are missing'
    : 'an allowance that the contract does not name, or charges that are missing'

/** The day of a request, by its start. */
type DayOf = (ms: number) => number
type Days = readonly (readonly Charged[])[]

/** The midnights of the world are so far apart. */
const zoneStepMs = dayMs / 96

/** The days that an allowance may be of: the last 24 hours, and those of each zone that begin between the requests. */
function daysOf(all: readonly Charged[]): readonly DayOf[] {
  const starts = requestsOf(all).map(({ startMs }) => startMs)
  const [first, last] = [smallest(starts), largest(starts)]
  const zones = Array.from(
    { length: dayMs / zoneStepMs },
    (_, nth) => (ms: number) => Math.floor((ms + nth * zoneStepMs) / dayMs),
  )
  return [() => 0, ...zones.filter((day) => all.length > 0 && day(first) !== day(last))]
}

/** Charges by day. What was taken over a midnight is of no day. */
function inDays(charged: readonly Charged[], day: DayOf): Days {
  const within = charged.flatMap((each) => {
    const days = each.requests.map(({ startMs }) => day(startMs))
    return days.every((one) => one === days[0]) ? [[days[0]!, each] as const] : []
  })
  return [...Map.groupBy(within, ([nth]) => nth)]
    .toSorted(([a], [b]) => a - b)
    .map(([, own]) => own.map(([, each]) => each))
}

const requestsOf = (charged: readonly Charged[]) => charged.flatMap(({ requests }) => requests)

/** Fewer free requests than these are lost charges as well. */
const fewestFree = 2

/**
 * How many requests at the beginning of a day were free; 0 if any day has another order, or if none shows where its allowance ends or begins.
 *
 * @param ofOwners the days of each owner
 * @param orders so many must be possible, for the order to be none by chance
 */
function mostFree(ofOwners: readonly Days[], orders: number): number {
  let most = 0
  let isShown = false
  for (const days of ofOwners)
    for (const [nth, day] of days.entries()) {
      const { free, parts, full, count } = partsOf(day)
      most = Math.max(most, count)
      if (free.length + parts.length === 0) continue
      if (full.length === 0) {
        // It has not ended yet: that of the day before had.
        const paid = partsOf(days[nth - 1] ?? []).full
        const isNew = isBefore(paid, free, { count: requestsOf(paid).length, orders })
        isShown ||= count >= fewestFree && isNew
        continue
      }
      const isFirst =
        parts.length < 2 &&
        isBefore(free, parts) &&
        isBefore([...free, ...parts], full, { count, orders })
      if (count < fewestFree || !isFirst) return 0
      isShown = true
    }
  return isShown ? most : 0
}

/** What remains of an allowance may pay a part of the request after it. */
function partsOf(day: readonly Charged[]) {
  const of = (is: Charged['is']) => day.filter((each) => each.is === is)
  const [free, parts, full] = [of('free'), of('less'), of('full')]
  return { free, parts, full, count: requestsOf(free).length + (parts[0]?.free ?? 0) }
}

function discountOf(all: readonly Charged[]): string | null {
  const full = all.filter(({ is }) => is === 'full')
  const less = all.filter(({ is }) => is === 'less')
  if (less.length === 0 || full.length + less.length < all.length) return null
  return isBefore(full, less, { count: requestsOf(full).length, orders: fewestOrders })
    ? `charged less than listed from ${momentText(smallest(requestsOf(less).map(({ startMs }) => startMs)))} on: a discount for what was used before, which the contract does not name, or a lower price`
    : null
}

/**
 * Whether some came before others, as far as the client knows: no other one was over before one of them began. True if there are none.
 *
 * @param chance of `count` of them the order must be one of at least so many; requests that ran together have none
 */
function isBefore(
  some: readonly Charged[],
  others: readonly Charged[],
  chance: { readonly count: number; readonly orders: number } | null = null,
): boolean {
  const [first, then] = [requestsOf(some), requestsOf(others)]
  if (first.length === 0 || then.length === 0) return chance === null
  const lastStart = largest(first.map(({ startMs }) => startMs))
  if (smallest(then.map(({ endMs }) => endMs)) < lastStart) return false
  const lastEnd = largest(first.map(({ endMs }) => endMs))
  const surelyAfter = then.filter(({ startMs }) => startMs >= lastEnd).length
  return chance === null || ordersOf(chance.count, surelyAfter, chance.orders) >= chance.orders
}
