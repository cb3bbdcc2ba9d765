import type { Allowance } from '../../../contract/prices.ts'
import { add, compare, isZero, type Rational, subtract, zero } from '../../../money/rational.ts'
import type { Explanation } from '../../../price/judge/explain.ts'
import { momentText, ordersOf } from '../../../price/judge/in-order.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { largest, smallest } from '../../../user/extremes.ts'
import { allowanceOf, type Charged, fewestOrders } from './allowance.ts'
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
  for (const each of judged) {
    const { request, is } = each
    const { value } = each.statement
    if (is === 'wrong' && !isBelow(each)) return null
    if (is === 'open' || (is === 'right' && isZero(value))) continue
    const [requests, isFree] = [[request], isZero(value)]
    charged.push({ requests, is: is === 'right' ? 'full' : isFree ? 'free' : 'less' })
  }
  const causes = explained.isWhole ? explained.explanations : []
  return chargedLess(charged, allowance, () => causes.every(({ isDiscount }) => isDiscount))
}

/** Whether an amount is less than each that the contract allows. */
export function isBelow({ statement: { value }, expected }: Judged): boolean {
  const [least] = [...expected.costs, ...(expected.between ?? [])].toSorted(compare)
  return least !== undefined && value.numerator >= 0n && compare(value, least) < 0
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
  const each = (requests: readonly PricedRequest[], is: Charged['is']) =>
    inOrder(requests).map((request): Charged => ({ requests: [request], is }))
  const charged = wrong.flatMap(({ taken, low, slack, requests }): readonly Charged[] => {
    if (compare(taken, slack) <= 0) return each(requests(), 'free')
    const own = inOrder(requests())
    const freeFrom = (startMs: number) => {
      const later = own.filter((request) => request.startMs >= startMs)
      return freeIn(later, subtract(low, taken), slack, judge)
    }
    return [{ requests: own, is: 'less', freeFrom }]
  })
  // Neighbours share requests where a value may be late: each counts once.
  const seen = new Set(requestsOf(charged))
  for (const { low, slack, isRight, requests } of parts) {
    if (!isRight || compare(low, slack) <= 0) continue
    const own = requests().filter((request) => !seen.has(request))
    for (const request of own) seen.add(request)
    for (const one of each(own, 'full')) charged.push(one)
  }
  return chargedLess(charged, allowance, () => causes().every(({ isDiscount }) => isDiscount))
}

/** How many of the first requests cost together what is missing; null if no number of them does. */
function freeIn(
  requests: readonly PricedRequest[],
  lack: Rational,
  slack: Rational,
  judge: PriceJudge,
): number | null {
  let sum = zero
  for (const [at, request] of requests.entries()) {
    sum = add(sum, exactCost(request, judge) ?? zero)
    const apart = subtract(sum, lack)
    if (compare(apart, slack) > 0) return null
    if (compare(add(apart, slack), zero) >= 0) return at + 1
  }
  return null
}

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

const requestsOf = (charged: readonly Charged[]) => charged.flatMap(({ requests }) => requests)

/** Whether each costs less from a time on, which is none by chance. Requests that ran together have no order. */
function discountOf(all: readonly Charged[]): string | null {
  if (all.some(({ is }) => is === 'free')) return null
  const [full, less] = (['full', 'less'] as const).map((kind) =>
    requestsOf(all.filter(({ is }) => is === kind)),
  ) as [PricedRequest[], PricedRequest[]]
  if (full.length === 0 || less.length === 0) return null
  const sinceMs = smallest(less.map(({ startMs }) => startMs))
  const isTorn =
    smallest(less.map(({ endMs }) => endMs)) < largest(full.map(({ startMs }) => startMs))
  const fullMs = largest(full.map(({ endMs }) => endMs))
  const surelyAfter = less.filter(({ startMs }) => startMs >= fullMs).length
  return !isTorn && ordersOf(full.length, surelyAfter, fewestOrders) >= fewestOrders
    ? `charged less than listed from ${momentText(sinceMs)} on: a discount for what was used before, which the contract does not name, or a lower price`
    : null
}
