import type { BalanceTerms } from '../../../contract/prices.ts'
import {
  absolute,
  add,
  compare,
  isZero,
  negate,
  type Rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import { expectedCosts } from '../../../price/judge/expected.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { expiredBetween } from './grants.ts'
import { type Reading, unitOfReadings } from './readings.ts'
import { computedBounds, isWholeIn, type Recorded } from './request-charge.ts'
import { RequestsByStart } from './requests-by-start.ts'
import { type ReadingStretch, wrongOf } from './stretches.ts'

/** What a balance lost between two values, and the requests that were charged between them: these, and no other. */
export interface Window {
  readonly account: string
  readonly fromMs: number
  readonly untilMs: number
  readonly requests: readonly PricedRequest[]
  readonly first: Reading
  readonly last: Reading
  /** What was taken without what these requests cost: 0 if nothing is wrong. */
  readonly apart: Rational
  /** The last place that the two values show. */
  readonly unit: Rational
  /** How far two sums may be apart and still be equal: nothing where no charge has a smaller place, for then nothing is rounded. */
  readonly slack: Rational
  readonly isRight: boolean
}

/** Whether a value in the header of an answer has its own charge. */
interface Meaning {
  readonly plain: boolean
  readonly stream: boolean
}

const meanings: readonly Meaning[] = [
  { plain: true, stream: false },
  { plain: false, stream: false },
  { plain: true, stream: true },
  { plain: false, stream: true },
]

/** A wrong window of more requests has too many explanations. */
const mostRequests = 50

/**
 * The exact windows between the values of a balance, by each meaning that the values may have; those first that leave the fewest
 * windows wrong. A value that other requests overlap is no edge of a window, and a window with an open cost is none.
 *
 * @param stretches those that are judged: a payment or a new period between two values ends a window
 * @param recorded costs that the service recorded: an open one is what it recorded, if the contract allows that
 */
export function windowsOf(
  stretches: readonly ReadingStretch[],
  requests: readonly PricedRequest[],
  terms: BalanceTerms,
  judge: PriceJudge,
  recorded: Recorded = new Map(),
): readonly (readonly Window[])[] {
  const by = windowsBy(stretches, requests, terms, judge, recorded)
  const found = (terms.header === null ? meanings.slice(0, 1) : meanings).map(by)
  const wrongOf = (windows: readonly Window[]) => windows.filter(({ isRight }) => !isRight).length
  return found.filter((windows) => wrongOf(windows) > 0).toSorted((a, b) => wrongOf(a) - wrongOf(b))
}

/** The same windows if each value has its own charge. */
export const windowsAfterCharges = (...of: Parameters<typeof windowsOf>): readonly Window[] =>
  windowsBy(...of)(meanings[2]!)

function windowsBy(
  ...[stretches, requests, terms, judge, recorded = new Map()]: Parameters<typeof windowsOf>
): (meaning: Meaning) => readonly Window[] {
  const chains = chainsOf(stretches)
  const unit = unitOfReadings(chains.flat(), terms, judge)
  const costOf = costsIn(judge, recorded, unit)
  const byAccount = Map.groupBy(requests, ({ account }) => account)
  const lines = new Map(
    [...byAccount].map(([account, own]) => [account, new Line(own, terms.withinMs)]),
  )
  const slacks = new Map(
    [...byAccount].map(([account, own]) => [account, areWhole(own, unit, costOf) ? zero : unit]),
  )
  return (meaning) =>
    chains.flatMap((readings) => {
      const { account } = readings[0]!
      const line = lines.get(account) ?? new Line([], 0)
      const edges = readings.flatMap((reading) => line.edgeAt(reading, meaning) ?? [])
      const units = { unit, slack: slacks.get(account) ?? unit }
      return edges
        .slice(1)
        .flatMap((last, at) => windowOf(edges[at]!, last, line, terms, costOf, units) ?? [])
    })
}

/** Whether each cost that is known is a whole number of the place that the values show. */
function areWhole(requests: readonly PricedRequest[], unit: Rational, costOf: CostOf): boolean {
  return requests.every((request) => {
    const cost = costOf(request)
    return cost === null || isWholeIn(cost, unit)
  })
}

/** So many right stretches are compared with a cause. */
const mostCompared = 1_000

/** So many requests may be on either side of a value: each of their sets is a window of its own. */
const mostPerhaps = 6

/** Stretches whose edges are not certain, each as the windows that it may be. */
export interface LooseWindows {
  /** Empty if one of them has too many, or an open cost. */
  readonly wrong: readonly (readonly Window[])[]
  /** Those with few enough. */
  readonly right: readonly (readonly Window[])[]
}

/** Each stretch as one window for each set of the requests that may be charged on either side of a value. */
export function looseWindows(
  stretches: readonly ReadingStretch[],
  terms: BalanceTerms,
  judge: PriceJudge,
  recorded: Recorded,
): LooseWindows {
  const readings = stretches.flatMap(({ first, last }) => [first, last])
  const unit = unitOfReadings(readings, terms, judge)
  const costOf = costsIn(judge, recorded, unit)
  const windowsOf = (of: readonly ReadingStretch[]) =>
    of.map((stretch) => windowsIn(stretch, terms, costOf, unit))
  const found = windowsOf(wrongOf(stretches))
  const right = stretches.filter(({ isRight, isWhole }) => isRight && !isWhole)
  return {
    wrong: found.some((windows) => windows.length === 0) ? [] : found,
    right: windowsOf(right.slice(0, mostCompared)).filter((windows) => windows.length > 0),
  }
}

function windowsIn(
  { first, last, taken, requests, expired }: ReadingStretch,
  { withinMs }: BalanceTerms,
  costOf: CostOf,
  unit: Rational,
): readonly Window[] {
  const all = requests()
  const isSure = ({ startMs, endMs }: PricedRequest) =>
    startMs >= first.untilMs && endMs + withinMs <= last.fromMs
  const perhaps = all.filter((each) => !isSure(each))
  if (!isZero(expired) || all.length > mostRequests || perhaps.length > mostPerhaps) return []
  if (all.some((each) => costOf(each) === null)) return []
  const sets = perhaps.reduce<readonly (readonly PricedRequest[])[]>(
    (before, request) => before.flatMap((set) => [set, [...set, request]]),
    [all.filter(isSure)],
  )
  return sets.map((own) => {
    const apart = own.reduce((rest, each) => subtract(rest, costOf(each)!), taken)
    return {
      ...{ account: first.account, fromMs: first.fromMs, untilMs: last.untilMs },
      ...{ first, last, requests: own, apart, unit, slack: unit, isRight: false },
    }
  })
}

export function exactCost(request: PricedRequest, judge: PriceJudge): Rational | null {
  const { costs, between, open } = expectedCosts(request, judge)
  const isExact = costs.length === 1 && between === null && open.length === 0
  return isExact && (!request.isRepeat || request.isSurelyAgain) ? costs[0]! : null
}

type CostOf = (request: PricedRequest) => Rational | null

/** The one cost of a request: by the contract, or else what the service recorded as exactly as the balance shows it. */
function costsIn(judge: PriceJudge, recorded: Recorded, unit: Rational): CostOf {
  return (request) => {
    const exact = exactCost(request, judge)
    const of = recorded.get(request)
    if (exact !== null || of === undefined || compare(of.unit, unit) > 0) return exact
    const { low, high } = computedBounds(request, judge)
    const isAllowed = compare(of.value, low) >= 0 && (high === null || compare(of.value, high) <= 0)
    return isAllowed ? of.value : null
  }
}

/** Values of one account with no payment between them. */
function chainsOf(stretches: readonly ReadingStretch[]): readonly (readonly Reading[])[] {
  const chains: Reading[][] = []
  for (const { first, last, isWhole } of stretches) {
    if (isWhole) continue
    const chain = chains.at(-1)
    if (chain?.at(-1) === first) chain.push(last)
    else chains.push([first, last])
  }
  return chains
}

/** A value that has the first requests of its account, by their start, and no other. */
interface Edge {
  readonly reading: Reading
  readonly charged: number
}

/** The requests of an account, and the values of its balance among them. */
class Line {
  readonly requests: readonly PricedRequest[]
  private readonly byStart: RequestsByStart
  private readonly withinMs: number
  private readonly rank: ReadonlyMap<PricedRequest, number>

  constructor(requests: readonly PricedRequest[], withinMs: number) {
    this.withinMs = withinMs
    this.byStart = new RequestsByStart(requests)
    this.requests = this.byStart.requests
    this.rank = new Map(this.requests.map((request, at) => [request, at]))
  }

  /** Null if a request may be charged on either side of the value. */
  edgeAt(reading: Reading, meaning: Meaning): Edge | null {
    const { request, fromMs, untilMs } = reading
    const own = this.rank.get(request)
    const begun = this.byStart.begunBy(untilMs)
    const before = own ?? begun
    const isAlone = own === undefined || own === begun - 1
    const isOver = this.byStart.latestEndMs(before) + this.withinMs <= fromMs
    if (!isAlone || !isOver) return null
    const isCounted = own !== undefined && (request.isStream ? meaning.stream : meaning.plain)
    return { reading, charged: before + (isCounted ? 1 : 0) }
  }
}

function windowOf(
  first: Edge,
  last: Edge,
  { requests }: Line,
  terms: BalanceTerms,
  costOf: CostOf,
  { unit, slack }: Pick<Window, 'unit' | 'slack'>,
): Window | null {
  const own = requests.slice(first.charged, last.charged)
  if (own.length > mostRequests || !isZero(expiredBetween(first.reading, last.reading, terms)))
    return null
  let sum: Rational = zero
  for (const request of own) {
    const cost = costOf(request)
    if (cost === null) return null
    sum = add(sum, cost)
  }
  const change = subtract(last.reading.value, first.reading.value)
  const apart = subtract(terms.moves === 'up' ? change : negate(change), sum)
  const { account, fromMs } = first.reading
  return {
    ...{ account, fromMs, untilMs: last.reading.untilMs, requests: own },
    ...{ first: first.reading, last: last.reading, apart, unit, slack },
    isRight: compare(absolute(apart), slack) <= 0,
  }
}
