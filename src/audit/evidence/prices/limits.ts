import { type BalanceTerms, valuesOf } from '../../../contract/prices.ts'
import {
  absolute,
  add,
  compare,
  decimalText,
  multiply,
  type Rational,
  smaller,
  subtract,
  zero,
} from '../../../money/rational.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import { isSuccess, type PricedRequest } from '../../../price/judge/request.ts'
import { amountOf, atPlace } from './answer-json.ts'
import { expiredBetween } from './grants.ts'
import type { PriceJudgements } from './judgements.ts'
import { isUnlimited, type Reading, readingsOf } from './readings.ts'
import { computedBounds } from './request-charge.ts'
import { unreadableText } from './unreadable.ts'

/** Names of a limit beside a spend, where the contract names none. */
const usualNames = ['max_budget', 'limit', 'hard_limit_usd']

/** The limit that a contract states, or that the page with this reading shows; null if neither does. One below 0 is none, and so is a 0 that the contract does not name. */
export function limitAt(
  found: Pick<PriceJudgements, 'pages'>,
  terms: BalanceTerms,
  reading: Reading,
): Rational | null {
  const { limit, limitTimes, times } = terms
  if (limit !== null && typeof limit !== 'string') return multiply(limit, limitTimes)
  const amounts = limitsShown(found, terms, reading).map(amountOf)
  // Services write 0 for a limit that is not set; a place that the contract names has what it says.
  const least = limit === null ? 1n : 0n
  const shown = amounts.find((amount) => amount !== null && amount.value.numerator >= least)
  return shown == null ? null : multiply(shown.value, limit === null ? times : limitTimes)
}

/** What the page with a reading has where its limit may be. */
function limitsShown(
  { pages }: Pick<PriceJudgements, 'pages'>,
  { limit, value }: BalanceTerms,
  { request }: Reading,
): readonly unknown[] {
  const page = pages.find((each) => each.request === request)
  const beside = value?.split('.').slice(0, -1).join('.') ?? ''
  const names =
    typeof limit === 'string'
      ? [limit]
      : usualNames.map((name) => (beside === '' ? name : `${beside}.${name}`))
  return names.map((name) =>
    page === undefined ? request.header(name.toLowerCase()) : atPlace(page.body, name),
  )
}

const noLimit = /^(?:no limit|unlimited|inf(?:inity)?|∞)$/i

/** The text of a limit that is no number and does not say that there is none: `1,000`; null without one. */
export function unreadableLimit(
  found: PriceJudgements,
  values: readonly { readonly each: BalanceTerms; readonly readings: readonly Reading[] }[],
): string | null {
  const texts = values.flatMap(({ each, readings }) =>
    typeof each.limit === 'string' || each.limit === null
      ? readings.flatMap((reading) => limitsShown(found, each, reading).map(unreadableText))
      : [],
  )
  return texts.find((text) => text !== null && !noLimit.test(text)) ?? null
}

/** What is wrong with a balance, and at which request. */
export interface Overrun {
  readonly shows: string
  readonly request: PricedRequest
}

/** Values of a balance below 0, or below what the contract says. */
export function belowZero(
  terms: BalanceTerms,
  readings: readonly Reading[],
  unit: string,
): readonly Overrun[] {
  const { moves, lowest } = terms
  if (moves === 'up' || lowest === null) return []
  return readings
    .filter((each) => compare(each.value, lowest) < 0 && !isUnlimited(each, terms))
    .map(({ text, request }) => ({ shows: `a balance of ${text} ${unit}`, request }))
}

/**
 * The first request that was served after each value above its limit, until the last of the values in a row that are above it. After that
 * one, the spend may have begun anew, or money that was held back may have been given back, for the next value is within the limit.
 *
 *     values     within      above      above      above      within
 *     served                   ├─── is reported ─────┤    ?             the last row of all has no end
 */
export function servedAboveLimit(
  { requests, pages }: Pick<PriceJudgements, 'requests' | 'pages'>,
  terms: BalanceTerms,
  readings: readonly Reading[],
  unit: string,
): readonly Overrun[] {
  if (terms.moves === 'down') return []
  const limited = readings.map((reading) => ({
    reading,
    limit: limitAt({ pages }, terms, reading),
  }))
  const isAbove = ({ reading, limit }: (typeof limited)[number]) =>
    limit !== null && compare(reading.value, limit) > 0
  return [...Map.groupBy(limited, ({ reading }) => reading.account)].flatMap(([account, own]) => {
    const found: Overrun[] = []
    let lastAboveMs = Number.POSITIVE_INFINITY
    // Backwards: the values of a row come after the last one of it, which ends before a value that is within.
    for (const [nth, at] of [...own.entries()].toReversed()) {
      if (!isAbove(at)) {
        lastAboveMs = own[nth - 1]?.reading.untilMs ?? lastAboveMs
        continue
      }
      const served = requests.find(
        (request) =>
          request.account === account &&
          request.startMs > at.reading.untilMs + terms.withinMs &&
          request.endMs <= lastAboveMs &&
          isSuccess(request),
      )
      if (served !== undefined)
        found.push({
          shows: `served at a spend of ${at.reading.text}, above the limit of ${decimalText(at.limit!)} ${unit}`,
          request: served,
        })
    }
    return found.toReversed()
  })
}

/**
 * The first request of each account that was served when those that had ended before it had brought the spend above its limit, between two
 * values of which the first is within it. The costs before it and those after it must both say so.
 *
 *     within the limit ├───── ended before ─────┤ served, and all after it ├ above the limit
 */
export function servedBeyondLimit(
  { requests, judge, pages }: Pick<PriceJudgements, 'requests' | 'pages' | 'judge'>,
  terms: BalanceTerms,
  readings: readonly Reading[],
  unit: string,
): readonly Overrun[] {
  if (terms.moves === 'down') return []
  return [...Map.groupBy(readings, ({ account }) => account)].flatMap(([account, own]) => {
    const all = requests.filter((request) => request.account === account)
    const isIdle = ({ fromMs, untilMs }: Reading) =>
      !all.some(({ startMs, endMs }) => startMs <= untilMs && endMs >= fromMs)
    for (const [at, later] of own.entries()) {
      const earlier = own[at - 1]
      const limit = limitAt({ pages }, terms, later)
      const isCrossed =
        earlier !== undefined &&
        limit !== null &&
        compare(earlier.value, limit) <= 0 &&
        compare(later.value, limit) > 0 &&
        isIdle(earlier) &&
        isIdle(later)
      if (!isCrossed) continue
      // A number of JSON drops its last zeros.
      const unitOfBoth = smaller(earlier.lastUnit, later.lastUnit)
      const between = all.filter(
        ({ startMs, endMs }) => startMs >= earlier.untilMs && endMs <= later.fromMs,
      )
      const sums = sumsByEnd(between, judge)
      const served = between.filter(isSuccess).find(({ startMs }) => {
        const { least, most } = sums(startMs - terms.withinMs)
        return (
          most !== null &&
          compare(subtract(add(earlier.value, least), unitOfBoth), limit) > 0 &&
          compare(subtract(later.value, most), limit) > 0
        )
      })
      if (served !== undefined)
        return [
          {
            shows: `served when the requests before it had spent more than the limit of ${decimalText(limit)} ${unit}; ${later.text} are shown in the end`,
            request: served,
          },
        ]
    }
    return []
  })
}

/** The least that the requests cost which ended before a time, and the most that the others did; null if that is open. */
function sumsByEnd(requests: readonly PricedRequest[], judge: PriceJudge) {
  const byEnd = requests.toSorted((a, b) => a.endMs - b.endMs)
  const bounds = byEnd.map((each) => computedBounds(each, judge))
  const least: Rational[] = [zero]
  for (const { low } of bounds) least.push(add(least.at(-1)!, low))
  const most: (Rational | null)[] = [zero]
  for (const { high } of bounds.toReversed()) {
    const after = most.at(-1)!
    most.push(after === null || high === null ? null : add(after, high))
  }
  return (ms: number) => {
    let [from, to] = [0, byEnd.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (byEnd[middle]!.endMs < ms) from = middle + 1
      else to = middle
    }
    return { least: least[from]!, most: most[byEnd.length - from]! }
  }
}

/** Requests that were served at a balance that shows 0, together for more than its last decimal. */
export function servedAtZero(
  { requests, judge }: PriceJudgements,
  terms: BalanceTerms,
  readings: readonly Reading[],
  unit: string,
): readonly Overrun[] {
  if (terms.moves === 'up' || terms.lowest?.numerator !== 0n) return []
  return [...Map.groupBy(readings, ({ account }) => account)].flatMap(([account, own]) =>
    own.flatMap((reading, at) => {
      const before = own[at - 1]
      if (reading.value.numerator !== 0n || before?.value.numerator === 0n) return []
      const next = own.slice(at).find(({ value }) => value.numerator !== 0n)
      // 0 is shown until then. After its last reading, something may be paid in before the next request.
      const last = own
        .slice(at)
        .findLast(({ untilMs }) => next === undefined || untilMs < next.untilMs)!
      const served = requests.filter(
        (request) =>
          request.account === account &&
          isSuccess(request) &&
          request.startMs > reading.untilMs + terms.withinMs &&
          request.endMs <= last.untilMs,
      )
      const cost = served.map((request) => computedBounds(request, judge).low).reduce(add, zero)
      const [first] = served
      const shows = `${served.length} requests for ${decimalText(cost)} ${unit} served at a balance of ${reading.text}`
      return first === undefined || compare(cost, reading.lastUnit) <= 0
        ? []
        : [{ shows, request: first }]
    }),
  )
}

/** A page whose values do not add up, and what explains it without a fault; null if nothing does. */
export interface Unequal extends Overrun {
  readonly unless: string | null
}

/**
 * What remains and what is used add up to the limit; without one, to the same on every page of an account, unless
 * something is paid in, or a period begins anew. A page beside a request decides nothing: a value may be behind, or money held back.
 *
 *     limit 10     7 + 3     6 + 4     6 + 5      11, where the limit has 10: all that happened since the first page may explain it
 *     no limit     7 + 3     6 + 4     6 + 5      11, where the page before has 10: only what happened since that page may
 */
export function unequalSums(
  found: PriceJudgements,
  terms: BalanceTerms,
  unit: string,
): { readonly compared: number; readonly unequal: readonly Unequal[] } {
  const values = valuesOf(terms)
  if (!values.some(({ moves }) => moves === 'up') || !values.some(({ moves }) => moves === 'down'))
    return { compared: 0, unequal: [] }
  let compared = 0
  const [first = [], ...others] = values.map((each) => readingsOf(found, each))
  const besides = others.map((all) => new Map(all.map((each) => [each.request, each])))
  const sums = first.flatMap((reading) => {
    // One of each of `values`, in their order, unless a place is missing, and then the page is left out.
    const all = [reading, ...besides.flatMap((beside) => beside.get(reading.request) ?? [])]
    const isSettled = !found.requests.some(
      ({ account, startMs, endMs }) =>
        account === reading.account &&
        startMs <= reading.untilMs &&
        endMs + terms.withinMs >= reading.fromMs,
    )
    if (all.length < values.length || !isSettled) return []
    const sum = all.map(({ value }) => value).reduce(add, zero)
    const slack = all.map(({ lastUnit }) => lastUnit).reduce(add, zero)
    const moved = (moves: BalanceTerms['moves']) =>
      all.flatMap(({ value }, at) => (values[at]!.moves === moves ? [value] : [])).reduce(add, zero)
    const [left, used] = [moved('down'), moved('up')]
    return [{ reading, sum, slack, left, used, text: all.map(({ text }) => text).join(' + ') }]
  })
  const unequal = [...Map.groupBy(sums, ({ reading }) => reading.account).values()].flatMap((own) =>
    own.flatMap(({ reading, sum, slack, text }, at): readonly Unequal[] => {
      const limit = limitAt(found, terms, reading)
      const before = own[at - 1]
      // An amount in the contract does not know of a payment or a new period, as a limit on the page would.
      const isFixed = limit !== null && typeof terms.limit !== 'string'
      // The pages from the one that has the total to this one.
      const since = limit === null ? own.slice(Math.max(0, at - 1), at + 1) : own.slice(0, at + 1)
      const did = (is: (each: (typeof own)[0], last: (typeof own)[0]) => boolean) =>
        since.some((each, nth) => nth > 0 && is(each, since[nth - 1]!))
      const total = limit ?? before?.sum
      if (total !== undefined) compared++
      const expired = since
        .slice(1)
        .map((each, nth) =>
          expiredBetween(
            since[nth]!.reading,
            each.reading,
            values.find(({ moves }) => moves === 'down')!,
          ),
        )
        .reduce(add, zero)
      if (total === undefined || compare(absolute(subtract(sum, total)), slack) <= 0) return []
      // What expired makes up for what is missing. The page before still had it; whether a limit has it is not known.
      const isExpired =
        compare(sum, total) < 0 && compare(add(add(sum, expired), slack), total) >= 0
      if (limit === null && isExpired) return []
      const unless = () => {
        if (isExpired) return 'a grant expired'
        if (limit !== null && !isFixed) return null
        if (did((each, last) => compare(each.used, last.used) < 0))
          return 'a period of what is used began anew'
        const isPaidIn = did((each, last) => compare(each.left, last.left) > 0)
        return compare(sum, total) > 0 && (limit === null || isPaidIn)
          ? 'something was paid in'
          : null
      }
      const shows = `${text} = ${decimalText(sum)} ${unit}, where ${limit === null ? 'the page before' : 'the limit'} has ${decimalText(total)}`
      return [{ shows, request: reading.request, unless: unless() }]
    }),
  )
  return { compared, unequal }
}
