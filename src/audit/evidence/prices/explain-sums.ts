import type { BalanceTerms, ModelPrice } from '../../../contract/prices.ts'
import {
  absolute,
  add,
  compare,
  decimalText,
  divide,
  isZero,
  multiply,
  one,
  powerOfTen,
  type Rational,
  rational,
  roundTo,
  roundWhole,
  subtract,
  zero,
} from '../../../money/rational.ts'
import type { Change } from '../../../price/judge/changes/change.ts'
import { changesFor } from '../../../price/judge/changes/changes.ts'
import { wideChanges } from '../../../price/judge/changes/wide.ts'
import { expectedCosts } from '../../../price/judge/expected.ts'
import { endingCharged } from '../../../price/judge/explain.ts'
import { boundsOfLeft } from '../../../price/judge/left-answer.ts'
import { type CountedPart, countedParts, otherCount } from '../../../price/judge/other-count.ts'
import { otherPrices } from '../../../price/judge/other-price.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { smallest } from '../../../user/extremes.ts'
import type { ReadingStretch } from './balance.ts'
import { onceForEach } from './judgements.ts'
import { looseWindows, type Window, windowsOf } from './windows.ts'

const mostWindows = 20
const mostNamed = 2

/** A cause of all wrong sums, and how plain it is: the fewest extras come first. */
interface Cause {
  readonly summary: string
  /** 0: all requests; 1: those of a form; 2: some of the windows; 3: one request of each wrong window. */
  readonly extras: number
}

/**
 * `: cache_read at the price of input`: the simplest single change that gives all wrong sums; empty if there is none. A change is
 * tried on all requests, on streams, on plain answers, and on one request of each wrong window. Where no value is an edge without
 * a doubt, it is tried on each set of requests that may have been charged between two.
 */
export function explainSums(
  stretches: readonly ReadingStretch[],
  requests: readonly PricedRequest[],
  terms: BalanceTerms,
  judge: PriceJudge,
): string {
  for (const windows of windowsOf(stretches, requests, terms, judge)) {
    const some = (isRight: boolean) =>
      windows
        .filter((each) => each.isRight === isRight)
        .toSorted((a, b) => a.requests.length - b.requests.length)
        .slice(0, mostWindows)
    const names = causesOf(some(false), some(true), judge)
    if (names.length > 0) return named(names)
  }
  const loose = looseWindows(stretches, terms, judge)
  if (loose.length === 0) return ''
  const causes = plainest(changeCauses(loose, [], judge))
  return named(causes.length > 0 ? causes : chargedEnding(loose, judge))
}

const named = (names: readonly string[]) =>
  names.length === 0 ? '' : `: ${names.slice(0, mostNamed).join(', or ')}`

/** Causes of some windows, and those of one request in each, are as plain: nothing says which requests are meant. */
function plainest(causes: readonly Cause[]): readonly string[] {
  const fewest = smallest(causes.map(({ extras }) => extras))
  const most = fewest === 2 ? 3 : fewest
  const plain = causes
    .filter(({ extras }) => extras <= most)
    .toSorted((a, b) => a.extras - b.extras)
  return [...new Set(plain.map(({ summary }) => summary))]
}

function causesOf(
  wrong: readonly Window[],
  right: readonly Window[],
  judge: PriceJudge,
): readonly string[] {
  const groups = wrong.map((window) => [window])
  const causes = changeCauses(groups, right, judge)
  if (causes.length > 0) return plainest(causes)
  const found = [
    () => lessLikely(groups, right, judge),
    () => pricedOtherwise(wrong, right, judge),
    () => countedOtherwise(wrong, judge),
    () => ofAnotherAccount(wrong),
    () => withoutRequest(wrong, judge.currency.name),
    () => chargedEnding(groups, judge),
    () => takenAlone(wrong, judge.currency.name),
  ]
  for (const cause of found) {
    const names = cause()
    if (names.length > 0) return names
  }
  return []
}

const isWhole = ({ outcomes }: PricedRequest) => outcomes[0] === 'success'
const forms = [
  ['', () => true],
  [' (of streams)', ({ isStream }: PricedRequest) => isStream],
  [' (of plain answers)', ({ isStream }: PricedRequest) => !isStream],
  [' (of whole answers)', isWhole],
  [' (of whole streams)', (request: PricedRequest) => request.isStream && isWhole(request)],
] as const

/** What a balance can do with a charge beside what an answer or a log can show: so many times of it are taken. */
const bookings = [{ summary: 'charged, and given back twice', times: rational(-1n) }] as const

/** @param wrong each wrong window, as all of those that it may be */
function changeCauses(
  wrong: readonly (readonly Window[])[],
  right: readonly Window[],
  judge: PriceJudge,
): readonly Cause[] {
  const changes = changesFor(modelsOf([...wrong.flat(), ...right], judge), judge)
  let hasRounding = false
  const found = changes.flatMap((change): readonly Cause[] => {
    // Of roundings that give the same, one is enough.
    if (change.about === 'round' && hasRounding) return []
    const causes = causesBy(change.summary, movesOf(change, judge), wrong, right)
    if (change.about === 'round' && causes.length > 0) hasRounding = true
    return causes
  })
  const booked = bookings.flatMap(({ summary, times }) =>
    causesBy(
      summary,
      (request) => {
        const [cost = zero] = expectedCosts(request, judge).costs
        return multiply(cost, subtract(times, one))
      },
      wrong,
      right,
    ),
  )
  return [...found, ...booked]
}

/** Less likely changes, of all requests or of those of a form. */
function lessLikely(
  wrong: readonly (readonly Window[])[],
  right: readonly Window[],
  judge: PriceJudge,
): readonly string[] {
  const changes = wideChanges(modelsOf([...wrong.flat(), ...right], judge), judge)
  const causes = changes.flatMap((change) =>
    causesBy(change.summary, movesOf(change, judge), wrong, right),
  )
  return plainest(causes.filter(({ extras }) => extras < 2)).slice(0, mostNamed)
}

function modelsOf(windows: readonly Window[], { priceOf }: PriceJudge): readonly ModelPrice[] {
  const named = windows.flatMap(({ requests }) =>
    requests.flatMap(({ requestedModel }) => priceOf(requestedModel) ?? []),
  )
  return [...new Map(named.map((model) => [model.id, model])).values()]
}

const movesOf = (change: Change, judge: PriceJudge) =>
  onceForEach((request: PricedRequest) => movedBy(change, request, judge))

/** How much more a request costs by a change; null if it does not apply. */
function movedBy(change: Change, request: PricedRequest, judge: PriceJudge): Rational | null {
  const { costs, readings } = expectedCosts(request, judge)
  const [[reading], cost] = [readings, costs[0]]
  if (reading === undefined || cost === undefined) return null
  const other = change.costOf(request, reading.model, reading.usage, reading.context)
  return other === null || compare(other, cost) === 0 ? null : subtract(other, cost)
}

function causesBy(
  summary: string,
  moved: (request: PricedRequest) => Rational | null,
  wrong: readonly (readonly Window[])[],
  right: readonly Window[],
): readonly Cause[] {
  for (const [words, has] of forms) {
    const sumOf = ({ requests }: Window) =>
      requests.flatMap((each) => (has(each) ? (moved(each) ?? []) : [])).reduce(add, zero)
    if (!wrong.every((windows) => isGivenIn(windows, (each) => isGiven(each, sumOf(each)))))
      continue
    const isLoose = wrong.some(({ length }) => length > 1)
    if (isLoose) return [{ summary: `${summary} (only these requests)`, extras: 2 }]
    const spared = right.filter((window) => compare(absolute(sumOf(window)), window.slack) > 0)
    if (spared.length === 0) return [{ summary: summary + words, extras: words === '' ? 0 : 1 }]
    if (words === '' && !isOfForm(wrong.flat(), spared))
      return [{ summary: `${summary} (only these requests)`, extras: 2 }]
  }
  const isOne = wrong.every((windows) =>
    isGivenIn(
      windows,
      (window) =>
        (isFine(window, windows.length) ||
          (windows.length === 1 && window.requests.length === 1 && isZero(window.slack))) &&
        window.requests.some((request) => {
          const more = moved(request)
          return more !== null && isGiven(window, more)
        }),
    ),
  )
  return isOne ? [{ summary: `${summary} (only these requests)`, extras: 3 }] : []
}

/** One request of many explains a sum by chance unless the sum is so many times finer than what is wrong with it. */
const fineness = rational(200n)

const isFine = ({ apart, unit }: Window, sets: number) =>
  compare(absolute(apart), multiply(unit, multiply(fineness, rational(BigInt(sets))))) >= 0

/** Whether one of the windows that it may be is given: the more there are, the finer the sum must be. */
const isGivenIn = (windows: readonly Window[], isSo: (window: Window) => boolean) =>
  windows.some((each) => (windows.length === 1 || isFine(each, windows.length)) && isSo(each))

const isGiven = ({ apart, slack }: Window, moved: Rational) =>
  !isZero(moved) && compare(absolute(subtract(apart, moved)), slack) <= 0

/** Whether one form is all that tells the wrong windows from those that a change spares. */
function isOfForm(wrong: readonly Window[], spared: readonly Window[]): boolean {
  const all = (windows: readonly Window[], isStream: boolean) =>
    windows.every(({ requests }) => requests.every((each) => each.isStream === isStream))
  return [true, false].some((isStream) => all(wrong, isStream) && all(spared, !isStream))
}

/** One price, or the whole cost, at another number than the contract has. */
function pricedOtherwise(
  wrong: readonly Window[],
  right: readonly Window[],
  judge: PriceJudge,
): readonly string[] {
  for (const [words, has] of forms) {
    const amounts = (windows: readonly Window[]) =>
      windows.map(({ requests, apart, unit }) => {
        const own = requests.filter(has)
        const cost = own.map((each) => expectedCosts(each, judge).costs[0]!).reduce(add, zero)
        const readings = own.flatMap((each) => expectedCosts(each, judge).readings.slice(0, 1))
        return { amount: add(cost, apart), unit, readings }
      })
    const found = otherPrices(amounts(wrong), amounts(right))
    if (found.length > 0) return found.map(({ summary }) => summary + words)
  }
  // Of several windows, one request in each has too many combinations.
  const [window, second] = wrong
  if (second !== undefined) return []
  return window!.requests.flatMap((request) => {
    const { costs, readings } = expectedCosts(request, judge)
    const amount = add(costs[0]!, window!.apart)
    const found = otherPrices([{ amount, unit: window!.unit, readings: readings.slice(0, 1) }])
    return found.map(({ summary }) => `${summary} (only these requests)`)
  })
}

/** Other counts of tokens that give wrong sums of one stream each. */
function countedOtherwise(wrong: readonly Window[], judge: PriceJudge): readonly string[] {
  if (!wrong.every(({ requests: [request, second] }) => second === undefined && request?.isStream))
    return []
  return (Object.keys(countedParts) as CountedPart[]).flatMap((part) => {
    const counts = wrong.map(({ requests, apart, unit }) => {
      const { readings, costs } = expectedCosts(requests[0]!, judge)
      return otherCount(add(costs[0]!, apart), readings, unit, part)
    })
    return counts.includes(null)
      ? []
      : [`another count of ${countedParts[part]} tokens: ${counts[0]} (of streams)`]
  })
}

/** What one account did not lose, and another one lost at the same time. */
function ofAnotherAccount(wrong: readonly Window[]): readonly string[] {
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
function chargedEnding(
  wrong: readonly (readonly Window[])[],
  judge: PriceJudge,
): readonly string[] {
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
function withoutRequest(wrong: readonly Window[], unit: string): readonly string[] {
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
function takenAlone(wrong: readonly Window[], unit: string): readonly string[] {
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
