import type { BalanceTerms } from '../../../contract/prices.ts'
import {
  absolute,
  add,
  compare,
  larger,
  multiply,
  negate,
  powerOfTen,
  type Rational,
  rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { ChargeSums } from './charge-sums.ts'
import { expiredBetween } from './grants.ts'
import { type Reading, unitOfReadings } from './readings.ts'
import {
  chargeOf,
  computedBounds,
  isWholeIn,
  type Recorded,
  recordedBounds,
} from './request-charge.ts'

/** What a balance did between two readings, and what the costs say that it must do. */
export interface ReadingStretch {
  readonly first: Reading
  readonly last: Reading
  /** Whether it is the stretch over all readings, which contains the others. */
  readonly isWhole: boolean
  /** What was taken: the fall of a balance, the rise of a spend. */
  readonly taken: Rational
  /** Of the requests that surely were charged between, less those that the first reading may count and the last one not yet. */
  readonly low: Rational
  /** And of those that perhaps were, with what expired. Null without an upper bound: a cost is open. */
  readonly high: Rational | null
  /** What may have expired of grants. */
  readonly expired: Rational
  /** How many requests may have been charged between. */
  readonly count: number
  /** These requests. Each call lists them anew: neighbouring stretches share most of them where a value may be late. */
  readonly requests: () => readonly PricedRequest[]
  /** How far what was taken may be beyond these bounds: the places that the values show, and what rounding may add. */
  readonly slack: Rational
  readonly isRight: boolean
  /** Whether it is right only if the last place that the values show hides a difference, although each cost is a whole number of it. */
  readonly isOffByPlace: boolean
  /** Whether each cost follows from the prices alone, without what the service recorded. */
  readonly isComputed: boolean
  /** Whether the costs are large enough for the place of the readings to show an error. */
  readonly isShown: boolean
}

/** Wrong changes from one value to the next; without one, that over all values. */
export function wrongOf(stretches: readonly ReadingStretch[]): readonly ReadingStretch[] {
  const wrong = stretches.filter(({ isRight }) => !isRight)
  const parts = wrong.filter(({ isWhole }) => !isWhole)
  return parts.length > 0 ? parts : wrong
}

/** From one value to the next. */
export interface Change extends Omit<ReadingStretch, 'isWhole'> {
  /** Whether it may be a payment, or a new period: then it is no stretch that is judged. */
  readonly isLeftOut: boolean
}

type Between = Omit<ReadingStretch, 'isWhole'>

/** The changes from each value of an account to the next one, and from its first to its last. */
export interface Changes {
  readonly all: readonly Change[]
  /** Null for two values or fewer. */
  readonly whole: Between | null
  /** Begins to compare any two values, in the order of the first of them. */
  readonly between: () => (first: Reading, last: Reading) => Between
  /** One unit of the last place that the values show. */
  readonly unit: Rational
}

/** The changes of each account, payments and new periods among them. */
export function changesOf(
  readings: readonly Reading[],
  requests: readonly PricedRequest[],
  terms: BalanceTerms,
  judge: PriceJudge,
  recorded: Recorded = new Map(),
): readonly Changes[] {
  const byAccount = Map.groupBy(requests, ({ account }) => account)
  const unit = unitOfReadings(readings, terms, judge)
  const smallest = powerOfTen(-judge.currency.digits)
  return [...Map.groupBy(readings, ({ account }) => account)].map(([account, own]) => {
    const charges = (byAccount.get(account) ?? []).map((request) =>
      chargeOf(request, judge, recordedBounds(recorded.get(request), unit)),
    )
    // After a charge that is no whole unit, the balance is none either, and its values are rounded.
    const isRounded = charges.some(({ isWhole, high }) => !isWhole && high !== null)
    const areOfUnit = charges.every(
      ({ low, high }) => high !== null && isWholeIn(low, unit) && isWholeIn(high, unit),
    )
    const between = () => {
      const sums = new ChargeSums(charges, terms.withinMs)
      return (first: Reading, last: Reading) =>
        stretchOf(first, last, sums, terms, { unit, smallest, isRounded, areOfUnit })
    }
    const stretch = between()
    // The whole comes first: the sums go forward in time.
    const whole = own.length > 2 ? stretch(own[0]!, own.at(-1)!) : null
    const all = own.slice(1).map((last, at) => stretch(own[at]!, last))
    const added = all.filter((each) => isAdded(each, terms, unit)).map(({ last }) => last)
    const isLeftOut = (each: Between) =>
      isRestart(each, terms, unit) || isAdded(each, terms, unit) || mayPrecede(each, added, terms)
    const changes = all.map((each) => ({ ...each, isLeftOut: isLeftOut(each) }))
    return { whole, all: changes, between, unit }
  })
}

/**
 * Stretches between neighbouring readings of an account, and the one over all of them. A value may be `within` late,
 * so a request near a reading may count on either side of it. A counter that resets, or a payment, ends a stretch.
 */
export function stretchesOf(
  readings: readonly Reading[],
  requests: readonly PricedRequest[],
  terms: BalanceTerms,
  judge: PriceJudge,
  recorded: Recorded = new Map(),
): readonly ReadingStretch[] {
  return changesOf(readings, requests, terms, judge, recorded).flatMap(({ all, whole }) => {
    const kept = all.filter(({ isLeftOut }) => !isLeftOut)
    const isSteady = whole !== null && kept.length === all.length
    return [
      ...kept.map((each) => ({ ...each, isWhole: false })),
      ...(isSteady ? [{ ...whole, isWhole: true }] : []),
    ]
  })
}

/** Requests that certainly cost something, and those of them that no two values of their account have between them. */
export function besideReadings(
  readings: readonly Reading[],
  requests: readonly PricedRequest[],
  { withinMs }: BalanceTerms,
  judge: PriceJudge,
): { readonly paid: number; readonly beside: readonly PricedRequest[] } {
  const read = new Map(
    [...Map.groupBy(readings, ({ account }) => account)].map(([account, own]) => [
      account,
      own.length < 2 ? null : { fromMs: own[0]!.fromMs, untilMs: own.at(-1)!.untilMs },
    ]),
  )
  const paid = requests.filter(
    (request) => !request.isRepeat && computedBounds(request, judge).low.numerator > 0n,
  )
  const beside = paid.filter(({ account, startMs, endMs }) => {
    const of = read.get(account)
    return of == null || endMs + withinMs < of.fromMs || startMs > of.untilMs
  })
  return { paid: paid.length, beside }
}

/**
 * A spend that falls to about 0, or to what the requests between cost at most, begins a new period. The rest
 * that the old period took is not known.
 */
function isRestart(
  { first, last, high }: Between,
  { moves }: BalanceTerms,
  unit: Rational,
): boolean {
  const fall = subtract(first.value, last.value)
  if (moves !== 'up' || fall.numerator <= 0n) return false
  const isNearZero = compare(absolute(last.value), fall) < 0
  const isOfThese = high !== null && compare(last.value, add(high, unit)) <= 0
  return isNearZero || (last.value.numerator >= 0n && isOfThese)
}

/**
 * A balance that rises by more than the requests between can have cost was added to: a payment, a grant. What they
 * cost is not known then. A smaller rise may be a charge that was given back.
 */
function isAdded(
  { first, last, high, expired }: Between,
  { moves }: BalanceTerms,
  unit: Rational,
): boolean {
  const rise = subtract(last.value, first.value)
  const most = high === null ? unit : add(subtract(high, expired), unit)
  return moves === 'down' && compare(rise, most) > 0
}

/**
 * A value beside others may be older than one that was read before it. If that one shows what was added, the older one may
 * not have it yet: the fall between them is no charge.
 */
function mayPrecede(
  { last, high, taken }: Between,
  added: readonly Reading[],
  { withinMs }: BalanceTerms,
): boolean {
  return (
    high !== null &&
    compare(taken, high) > 0 &&
    added.some(({ fromMs, untilMs }) => fromMs <= last.untilMs && last.fromMs <= untilMs + withinMs)
  )
}

function stretchOf(
  first: Reading,
  last: Reading,
  sums: ChargeSums,
  terms: BalanceTerms,
  {
    unit,
    smallest,
    isRounded,
    areOfUnit,
  }: {
    readonly unit: Rational
    readonly smallest: Rational
    readonly isRounded: boolean
    readonly areOfUnit: boolean
  },
): Between {
  const change = subtract(last.value, first.value)
  const taken = terms.moves === 'up' ? change : negate(change)
  const touching = sums.touching(first.fromMs, last.untilMs)
  const { count, notComputed, notWhole } = touching
  const expired = expiredBetween(first, last, terms)
  const high = touching.high === null ? null : add(touching.high, expired)
  // A late value may be older than the one before it: a cache or a replica is behind.
  const { surely, behind } = sums.between(first.untilMs, last.fromMs)
  const low = behind.high === null ? null : subtract(surely.low, behind.high)
  // The places that two readings show, and what rounding each charge that is no whole unit may add.
  const ofCharges = multiply(smallest, rational(BigInt(notWhole)))
  const isExact =
    !isRounded &&
    notWhole === 0 &&
    compare(unit, smallest) === 0 &&
    [first, last].every(({ value }) => isWholeIn(value, smallest, count))
  const slack = isExact ? zero : larger(unit, ofCharges)
  return {
    first,
    last,
    taken,
    low: low ?? zero,
    high,
    expired,
    count,
    requests: () => sums.listed(first.fromMs, last.untilMs, first.untilMs, last.fromMs),
    slack,
    isRight:
      (low === null || compare(add(taken, slack), low) >= 0) &&
      (high === null || compare(subtract(taken, slack), high) <= 0),
    isOffByPlace:
      areOfUnit &&
      ((low !== null && compare(taken, low) < 0) || (high !== null && compare(taken, high) > 0)),
    isComputed: notComputed === 0,
    isShown: high !== null && low !== null && compare(low, slack) > 0,
  }
}
