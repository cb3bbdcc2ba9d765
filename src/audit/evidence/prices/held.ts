import type { BalanceTerms } from '../../../contract/prices.ts'
import {
  add,
  compare,
  isZero,
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
import { smallest } from '../../../user/extremes.ts'
import { onceForEach } from '../../../user/once.ts'
import { firstReadings } from './explained-part.ts'
import type { Reading } from './readings.ts'
import { RequestsByStart } from './requests-by-start.ts'
import { type Change, type Changes, changesOf, stretchesOf } from './stretches.ts'

/**
 * Values of a balance that money is held back in. A service may hold what a request can cost while it runs, and give back the rest when
 * it settles:
 *
 *     balance   1.00 ──── 0.90 ──────────── 0.98     a request that may cost 0.10, and cost 0.02
 *     read        ^         ^  held back      ^
 *
 * Such a value has no charge too much. The next one that no request is near shows what was taken.
 */

/** The values that are compared, and those that are left out. */
export interface SettledReadings {
  readonly readings: readonly Reading[]
  /** Values with more taken than the requests cost, which may be held back for those that ran or could still settle. */
  readonly held: readonly Reading[]
  /** Those of them between which and a later value nothing shows that it was given back. */
  readonly unproven: readonly Reading[]
}

type From = Parameters<typeof changesOf>

/** The values without those in which money is held back, if the rest is right without them; all of them otherwise. */
export function settledReadings(...from: From): SettledReadings {
  const [all, requests, terms, judge, recorded] = from
  const none: SettledReadings = { readings: all, held: [], unproven: [] }
  if (terms.header !== null || stretchesOf(...from).every(({ isRight }) => isRight)) return none
  const chains = chainsOf(from)
  if (chains === null) return atRest(from) ?? none
  const held = new Set(chains.flatMap((chain) => chain.held))
  const readings = all.filter((reading) => !held.has(reading))
  const stretches = stretchesOf(readings, requests, terms, judge, recorded)
  if (held.size === 0 || !stretches.every(({ isRight }) => isRight)) return none
  const isGivenBack = ({ account, fromMs, untilMs }: Reading) =>
    stretches.some(
      ({ first, last }) =>
        first.account === account && first.untilMs <= fromMs && untilMs <= last.fromMs,
    )
  const unproven = [...held].filter((each) => !isGivenBack(each))
  // A service that gave nothing back, with nothing running, is not taken for one that holds money.
  const holds = (reading: Reading) => unproven.length < held.size || isBesideOne(reading, requests)
  return unproven.every(holds) ? { readings, held: [...held], unproven } : none
}

/**
 * The values at which nothing can be held, where a charge between them is wrong, and others show money that was given back: these tell
 * nothing of the charge. Null where that is not so.
 */
function atRest(from: From): SettledReadings | null {
  const [all, requests, terms, judge, recorded] = from
  const byAccount = Map.groupBy(requests, ({ account }) => account)
  const readings = [...Map.groupBy(all, ({ account }) => account)].flatMap(([account, own]) => {
    const mostAt = mostHeldAt(new RequestsByStart(byAccount.get(account) ?? []), terms, judge)
    return own.filter((reading) => mostAt(reading)?.numerator === 0n)
  })
  const rest = [readings, requests, terms, judge, recorded] as const
  const isGivenBack = ({ taken, isRight }: Change) => taken.numerator < 0n && !isRight
  const givesBack = (...of: From) =>
    changesOf(...of).some((changes) => changes.all.some(isGivenBack))
  const isWrong = stretchesOf(...rest).some(({ isRight }) => !isRight)
  if (!isWrong || givesBack(...rest) || !givesBack(...from)) return null
  const kept = new Set(readings)
  return { readings, held: all.filter((reading) => !kept.has(reading)), unproven: [] }
}

/** Whether a request ran when the value was read. */
const isBesideOne = ({ account, fromMs, untilMs }: Reading, requests: readonly PricedRequest[]) =>
  requests.some(
    (each) => each.account === account && each.startMs <= untilMs && each.endMs >= fromMs,
  )

/**
 * Whether the values in the headers of streams are right if money is held back in them: a balance rises without a payment, and what is
 * missing is never more than the requests may cost. No value is without it, so none shows what was taken.
 */
export function isHeldInHeaders(...from: From): boolean {
  const [readings, requests, ...of] = from
  if (from[2].header === null) return false
  const [first, ofFirst] = firstReadings(readings, requests)
  // What the first values contradict needs no look at the others.
  if (first !== readings && chainsOf([first, ofFirst, ...of]) === null) return false
  return chainsOf(from)?.some(({ givesBack }) => givesBack) ?? false
}

/** A time that is found is this exact: findings show tenths of a second. */
const exactMs = 50

/** Of so many values, the first and the last are looked at before all others. */
const manyReadings = 20_000

/**
 * How late values must be to be right, in ms; null if no time makes them so. The last value of each account has all charges even then, so
 * nothing is lost or taken twice.
 */
export function latenessOf(...from: From): number | null {
  const [all, requests, terms, judge, recorded] = from
  const most = mostLateMs(all, requests)
  const isRight = (withinMs: number) => {
    const late = { ...terms, withinMs }
    const { readings, unproven } = settledReadings(all, requests, late, judge, recorded)
    const stretches = stretchesOf(readings, requests, late, judge, recorded)
    const byAccount = Map.groupBy(readings, ({ account }) => account)
    const areCompared = [...byAccount.values()].every((own) =>
      stretches.some(({ first, last }) => first === own[0] && last === own.at(-1)),
    )
    return unproven.length === 0 && areCompared && stretches.every((each) => each.isRight)
  }
  const ends = [...Map.groupBy(all, ({ account }) => account).values()].flatMap((own) =>
    own.length === 1 ? own : [own[0]!, own.at(-1)!],
  )
  const mayBeRight = () =>
    all.length < manyReadings ||
    stretchesOf(ends, requests, { ...terms, withinMs: most }, judge, recorded).every(
      (each) => each.isRight,
    )
  return most <= terms.withinMs || !mayBeRight() ? null : leastMs(terms.withinMs, most, isRight)
}

/**
 * How late values may be if the last one has not everything yet, in ms: one took more than the requests near it cost, which earlier ones lack,
 * and in all too little was taken. Null if no time up to half of that of all values makes them right.
 */
export function perhapsLateMs(...from: From): number | null {
  const [all, requests, terms, judge, recorded] = from
  const [first, last] = [all[0], all.at(-1)]
  if (first === undefined || last === undefined || all.length > manyReadings) return null
  const wrong = stretchesOf(...from).filter(({ isRight }) => !isRight)
  const isMore = wrong.some(({ taken, high }) => high !== null && compare(taken, high) > 0)
  const isLess = wrong.some(({ taken, low, isWhole }) => isWhole && compare(taken, low) < 0)
  if (!isMore || !isLess) return null
  return leastMs(terms.withinMs, (last.untilMs - first.fromMs) / 2, (withinMs) =>
    stretchesOf(all, requests, { ...terms, withinMs }, judge, recorded).every(
      ({ isRight }) => isRight,
    ),
  )
}

/** The least time, a little more at most, that holds as all longer ones do; null if the longest one does not. */
function leastMs(from: number, most: number, holds: (ms: number) => boolean): number | null {
  if (most <= from || !holds(most)) return null
  let [low, high] = [from, most]
  while (high - low > exactMs) {
    const middle = (low + high) / 2
    if (holds(middle)) high = middle
    else low = middle
  }
  return high
}

/** How long the last value of each account waited for the requests before it, at least. */
function mostLateMs(all: readonly Reading[], requests: readonly PricedRequest[]): number {
  const ofAccounts = Map.groupBy(requests, ({ account }) => account)
  const waits = [...Map.groupBy(all, ({ account }) => account)].map(([account, own]) => {
    const last = own.at(-1)!
    const before = (ofAccounts.get(account) ?? []).filter(
      (each) => each !== last.request && each.startMs <= last.untilMs,
    )
    return last.fromMs - before.reduce((latest, { endMs }) => Math.max(latest, endMs), 0)
  })
  return Math.floor(smallest(waits))
}

/** What may be held back at each value of an account. */
interface Chain {
  /** Values in which something must be. */
  readonly held: readonly Reading[]
  /** Whether a balance rose by what was given back. */
  readonly givesBack: boolean
}

/** Null if no amounts that may be held back make all changes right. */
function chainsOf(from: From): readonly Chain[] | null {
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
  const least = compare(a.least, b.least) > 0 ? a.least : b.least
  const most = a.most === null || (b.most !== null && compare(b.most, a.most) < 0) ? b.most : a.most
  return most !== null && compare(least, most) > 0 ? null : { least, most }
}

/** The most that may be held back at a value: nothing if no request ran or could still settle; null without a bound. */
function mostHeldAt(
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
  const most = rest.reduce((a, b) => (compare(a, b) > 0 ? a : b), first)
  return isZero(most) ? null : multiply(most, estimate)
}
