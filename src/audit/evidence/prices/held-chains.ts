import type { BalanceTerms } from '../../../contract/prices.ts'
import {
  add,
  compare,
  isZero,
  larger,
  multiply,
  type Rational,
  rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import { expectedCosts } from '../../../price/judge/expected.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { type Parts, parts, unknownUsage } from '../../../tokens/usage.ts'
import { onceForEach } from '../../../user/once.ts'
import type { Reading } from './readings.ts'
import { RequestsByStart } from './requests-by-start.ts'
import { type Change, type Changes, changesOf } from './stretches.ts'

/** What may be held back at each value of an account. */
export interface Chain {
  /** Values in which something must be. */
  readonly held: readonly Reading[]
  /** Whether a balance rose by what was given back. */
  readonly givesBack: boolean
}

/** Null if no amounts that may be held back make all changes right. */
export function chainsOf(from: Parameters<typeof changesOf>): readonly Chain[] | null {
  const [, requests, terms, judge] = from
  const byAccount = Map.groupBy(requests, ({ account }) => account)
  const chains: Chain[] = []
  for (const changes of changesOf(...from)) {
    const [first] = changes.all
    if (first === undefined) continue
    const own = byAccount.get(first.first.account) ?? []
    const requestsByStart = new RequestsByStart(own)
    const mostAt = mostHeldAt(requestsByStart, terms, judge)
    const chain = chainOf(changes, mostAt, isPayment(requestsByStart, terms))
    if (chain === null) return null
    chains.push(chain)
  }
  return chains
}

/** Whether a rise is surely a payment: nothing ended from which it could be given back. What is held is not known from it. */
const isPayment =
  (requests: RequestsByStart, { withinMs }: BalanceTerms) =>
  ({ isLeftOut, first, last }: Change): boolean =>
    isLeftOut &&
    !requests
      .during(first.fromMs - withinMs, last.untilMs)
      .some(({ endMs }) => endMs <= last.untilMs)

/** Least and most of an amount; null without a most. */
interface Span {
  readonly least: Rational
  readonly most: Rational | null
}

function chainOf(
  changes: Changes,
  mostAt: (reading: Reading) => Rational | null,
  isPaid: (change: Change) => boolean,
): Chain | null {
  const { all } = changes
  const paid = all.map(isPaid)
  const readings = [all[0]!.first, ...all.map(({ last }) => last)]
  const spans: Span[] = readings.map((reading) => ({ least: zero, most: mostAt(reading) }))
  if (!areBetweenRests(spans, readings, changes, paid)) return null
  let givesBack = false
  for (const [at, change] of all.entries()) {
    if (paid[at]) continue
    const next = meeting(spans[at + 1]!, after(spans[at]!, change))
    if (next !== null) {
      spans[at + 1] = next
      if (change.taken.numerator < 0n) givesBack = true
    }
    // Perhaps a payment, or a new period: what is held is not known after it.
    else if (!change.isLeftOut) return null
  }
  for (const [at, change] of [...all.entries()].toReversed()) {
    if (paid[at]) continue
    const before = meeting(spans[at]!, beforeOf(spans[at + 1]!, change))
    if (before !== null) spans[at] = before
    else if (!change.isLeftOut) return null
  }
  return { held: readings.filter((_, at) => spans[at]!.least.numerator > 0n), givesBack }
}

/**
 * Narrows each value by the last one before it, and the first one after it, at which nothing can be held. A charge that may be late counts
 * once between those two, and with each neighbour anew:
 *
 *     balance   1.00 ──── 0.90 ── 0.90 ──── 0.98     the charge of 0.02 is before, between, or after the two
 *     nothing held ^                          ^      0.08 is held at both
 *
 * @returns false if no amount is possible at one of them
 */
function areBetweenRests(
  spans: Span[],
  readings: readonly Reading[],
  { all, between }: Changes,
  paid: readonly boolean[],
): boolean {
  const isRest = spans.map(({ most }) => most !== null && isZero(most))
  const hasLeftOut = anyBetween(all.map(({ isLeftOut }) => isLeftOut))
  const hasPayment = anyBetween(paid)
  const narrow = (at: number, other: Span, from: number, to: number): boolean => {
    const both = hasPayment(from, to) ? null : meeting(spans[at]!, other)
    if (both !== null) spans[at] = both
    return both !== null || hasLeftOut(from, to)
  }
  const forward = between()
  for (let at = 1, rest = isRest[0] ? 0 : -1; at < readings.length; at++) {
    if (rest >= 0) {
      const held = after(nothingHeld, forward(readings[rest]!, readings[at]!))
      if (!narrow(at, held, rest, at)) return false
    }
    if (isRest[at]) rest = at
  }
  const backward = between()
  let rest = 0
  for (let at = 0; at + 1 < readings.length; at++) {
    while (rest <= at || (rest < readings.length && !isRest[rest])) rest++
    if (rest >= readings.length) return true
    const held = beforeOf(nothingHeld, backward(readings[at]!, readings[rest]!))
    if (!narrow(at, held, at, rest)) return false
  }
  return true
}

/** Whether any of these is so, from one place until before another. */
function anyBetween(are: readonly boolean[]): (from: number, to: number) => boolean {
  const counts = [0]
  for (const is of are) counts.push(counts.at(-1)! + (is ? 1 : 0))
  return (from, to) => counts[to]! > counts[from]!
}

const nothingHeld: Span = { least: zero, most: zero }

/** What is held after a change: what was held before it, and what was taken beyond the costs. */
function after({ least, most }: Span, { taken, low, high, slack }: Sums): Span {
  return {
    least: high === null ? zero : subtract(subtract(add(least, taken), high), slack),
    most: most === null ? null : add(subtract(add(most, taken), low), slack),
  }
}

type Sums = Pick<Change, 'taken' | 'low' | 'high' | 'slack'>

function beforeOf({ least, most }: Span, { taken, low, high, slack }: Sums): Span {
  return {
    least: subtract(add(subtract(least, taken), low), slack),
    most: most === null || high === null ? null : add(add(subtract(most, taken), high), slack),
  }
}

/** What both allow; null if that is nothing. */
function meeting(a: Span, b: Span): Span | null {
  const least = larger(a.least, b.least)
  const most = a.most === null || (b.most !== null && compare(b.most, a.most) < 0) ? b.most : a.most
  return most !== null && compare(least, most) > 0 ? null : { least, most }
}

/** The most that may be held back at a value: nothing if no request ran or could still settle; null without a bound. */
export function mostHeldAt(
  requests: RequestsByStart,
  { withinMs }: BalanceTerms,
  judge: PriceJudge,
): (reading: Reading) => Rational | null {
  const mostOf = onceForEach((request: PricedRequest) => mostHeld(request, judge))
  const priced = new Set(requests.requests)
  return ({ request: own, fromMs, untilMs }) => {
    // What a plain answer cost is known when its head is sent, and charged then unless a value may be late.
    const isOwnOver = !own.isStream && (withinMs === 0 || !priced.has(own))
    const begun = requests.begunBy(untilMs)
    if (isOwnOver && requests.latestEndMs(begun) + withinMs < fromMs) return zero
    const running = requests
      .during(fromMs - withinMs, untilMs)
      .filter((each) => !(isOwnOver && each === own))
    return running.reduce<Rational | null>((sum, each) => {
      const most = mostOf(each)
      return sum === null || most === null ? null : add(sum, most)
    }, zero)
  }
}

/** Services hold what a request may cost by estimates of their own, up to so many times that. */
const estimate = rational(2n)

/** What a service may hold back for a request: all tokens that its text and its limit allow; null without such a limit. */
function mostHeld(request: PricedRequest, judge: PriceJudge): Rational | null {
  const { askedBytes, maxOutputTokens } = request
  if (askedBytes === null || maxOutputTokens === null) return null
  const none = Object.fromEntries(parts.map((part) => [part, 0])) as unknown as Parts
  const usage = {
    ...unknownUsage,
    parts: { ...none, input_uncached: askedBytes, output_visible: maxOutputTokens },
    named: {},
  }
  const { costs, open } = expectedCosts(
    { ...request, usage, outcomes: ['success'], isRepeat: false, isFreeRepeat: false },
    judge,
  )
  const [first, ...rest] = costs
  if (first === undefined || open.length > 0) return null
  const most = rest.reduce(larger, first)
  return isZero(most) ? null : multiply(most, estimate)
}
