import { add, compare, isZero, type Rational, subtract, zero } from '../../../money/rational.ts'
import type { Explanation } from '../../../price/judge/explain.ts'
import { momentText, ordersOf } from '../../../price/judge/in-order.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { dayMs } from '../../../user/durations.ts'
import { largest, smallest } from '../../../user/extremes.ts'
import type { ReadingStretch } from './stretches.ts'
import { turnedSigns } from './turned-signs.ts'
import { exactCost } from './windows.ts'

/**
 * Charges below the price list in the order of time: what customers get, and contracts often leave out.
 *
 *     an allowance   0 0 0 0 0 x x x x x x     the first requests of a day cost nothing
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
  const names = explained.isWhole ? explained.explanations.map(({ summary }) => summary) : []
  return chargedLess(charged, () => !names.some(isOfContract))
}

/**
 * The same for what was taken between the values of a balance.
 *
 * @param cause finds the cause of the wrong sums; empty without one. It takes long, so it is asked last
 */
export function takenLess(
  stretches: readonly ReadingStretch[],
  judge: PriceJudge,
  cause: () => string,
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
  return chargedLess(charged, () => {
    const name = cause()
    return name === '' || !isOfContract(name)
  })
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

/** Whether a cause is another price of the contract, and no number that it has nowhere. */
const isOfContract = (summary: string) => !/\b0\.\d+ times (?:its price|the cost)/.test(summary)

/** As many orders of these requests would be as likely by chance. */
const fewestOrders = 20

/**
 * `the first 5 requests of a day cost nothing …`; null if the charges have no such order.
 *
 * @param mayBeDiscount false if lower charges are known to be something else; asked for an order that a discount has
 */
function chargedLess(charged: readonly Charged[], mayBeDiscount: () => boolean): string | null {
  const groups: readonly ((request: PricedRequest) => string)[] = [
    ({ account }) => account,
    ({ account, requestedModel }) => `${account} ${requestedModel}`,
    ({ key }) => key,
  ]
  const all = charged.filter(({ requests }) => requests.length > 0)
  // A day may be one of the calendar, or the last 24 hours.
  for (const whose of groups)
    for (const when of [dayOf, () => 0]) {
      const of = (request: PricedRequest) => `${whose(request)} ${when(request)}`
      const text = allowanceOf([...Map.groupBy(all, ({ requests }) => of(requests[0]!)).values()])
      if (text !== null) return text
    }
  const discount = discountOf(all)
  return discount !== null && mayBeDiscount() ? discount : null
}

const dayOf = ({ startMs }: PricedRequest) => Math.floor(startMs / dayMs)
const requestsOf = (charged: readonly Charged[]) => charged.flatMap(({ requests }) => requests)

/** Fewer free requests than these are lost charges as well. */
const fewestFree = 2

function allowanceOf(groups: readonly (readonly Charged[])[]): string | null {
  let most = 0
  let hasEnded = false
  for (const group of groups) {
    const of = (is: Charged['is']) => group.filter((each) => each.is === is)
    // What remains of an allowance may pay a part of the request after it.
    const [free, parts, full] = [of('free'), of('less'), of('full')]
    const count = requestsOf(free).length + (parts[0]?.free ?? 0)
    most = Math.max(most, count)
    if (full.length === 0 || free.length + parts.length === 0) continue
    const isFirst =
      parts.length < 2 && isBefore(free, parts) && isBefore([...free, ...parts], full, count)
    if (count < fewestFree || !isFirst) return null
    hasEnded = true
  }
  return hasEnded
    ? `the first ${most} requests of a day cost nothing, and the others their price: an allowance that the contract does not name, or charges that are missing`
    : null
}

function discountOf(all: readonly Charged[]): string | null {
  const full = all.filter(({ is }) => is === 'full')
  const less = all.filter(({ is }) => is === 'less')
  if (less.length === 0 || full.length + less.length < all.length) return null
  return isBefore(full, less, requestsOf(full).length)
    ? `charged less than listed from ${momentText(smallest(requestsOf(less).map(({ startMs }) => startMs)))} on: a discount for what was used before, which the contract does not name, or a lower price`
    : null
}

/**
 * Whether some came before others, as far as the client knows: no other one was over before one of them began. True if there are none.
 *
 * @param count of so many of them the order must be none by chance; requests that ran together have none
 */
function isBefore(
  some: readonly Charged[],
  others: readonly Charged[],
  count: number | null = null,
): boolean {
  const [first, then] = [requestsOf(some), requestsOf(others)]
  if (first.length === 0 || then.length === 0) return count === null
  const lastStart = largest(first.map(({ startMs }) => startMs))
  if (smallest(then.map(({ endMs }) => endMs)) < lastStart) return false
  const lastEnd = largest(first.map(({ endMs }) => endMs))
  const surelyAfter = then.filter(({ startMs }) => startMs >= lastEnd).length
  return count === null || ordersOf(count, surelyAfter, fewestOrders) >= fewestOrders
}
