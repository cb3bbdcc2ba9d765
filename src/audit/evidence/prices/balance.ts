import type { BalanceTerms } from '../../../contract/prices.ts'
import {
  absolute,
  add,
  compare,
  divide,
  isZero,
  multiply,
  negate,
  powerOfTen,
  type Rational,
  rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import { expectedCosts } from '../../../price/judge/expected.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { amountOf, atPlace } from './answer-json.ts'
import { type ChargeBounds, ChargeSums } from './charge-sums.ts'
import type { MoneyPage } from './requests.ts'

/** A value of a balance or a spend. */
export interface Reading {
  readonly account: string
  readonly fromMs: number
  readonly untilMs: number
  readonly value: Rational
  /** One unit of the last decimal that the text shows, in the currency. */
  readonly place: Rational
  readonly text: string
  readonly request: PricedRequest
}

/** The values that the service showed, in their order. */
export function readingsOf(
  {
    requests,
    pages,
  }: { readonly requests: readonly PricedRequest[]; readonly pages: readonly MoneyPage[] },
  terms: BalanceTerms,
): readonly Reading[] {
  const fromPages = pages.flatMap((page): readonly Reading[] => {
    if (!isAt(page.path, terms.get)) return []
    const amount = amountOf(terms.value === null ? page.body : atPlace(page.body, terms.value))
    if (amount === null) return []
    const { account, fromMs, untilMs, request } = page
    return [{ account, fromMs, untilMs, request, ...inCurrency(amount, terms) }]
  })
  const fromHeaders = requests.flatMap((request): readonly Reading[] => {
    const amount = terms.header === null ? null : amountOf(request.header(terms.header))
    if (amount === null) return []
    return [
      {
        account: request.account,
        fromMs: request.startMs,
        untilMs: request.endMs,
        request,
        ...inCurrency(amount, terms),
      },
    ]
  })
  return [...fromPages, ...fromHeaders].toSorted((a, b) => a.untilMs - b.untilMs)
}

/** Values of the balance that are texts and no numbers, such as `1,499`. */
export function unreadable(
  { requests, pages }: Parameters<typeof readingsOf>[0],
  { get, header, value }: BalanceTerms,
): readonly { readonly request: PricedRequest; readonly text: string }[] {
  const ofHeaders = requests.map((request) => ({
    request,
    shown: header === null ? undefined : request.header(header),
  }))
  const ofPages = pages
    .filter(({ path }) => isAt(path, get))
    .map(({ request, body }) => ({ request, shown: value === null ? body : atPlace(body, value) }))
  return [...ofHeaders, ...ofPages].flatMap(({ request, shown }) =>
    typeof shown === 'string' && amountOf(shown) === null ? [{ request, text: shown }] : [],
  )
}

/**
 * Why there is no value of the balance although it was shown, or answers were stored that should have it; null if nothing says so. What
 * a contract promises is not dropped because it is not there.
 */
export function whyNone(
  { requests, pages }: Parameters<typeof readingsOf>[0],
  { get, header, value }: BalanceTerms,
): string | null {
  if (header !== null) {
    const stored = requests.filter(({ outcomes, hasHead }) => hasHead && outcomes[0] === 'success')
    return stored.length === 0
      ? null
      : `none of ${stored.length} stored answers has the header ${header}`
  }
  const read = pages.filter(({ path, request }) => isAt(path, get) && !isRefused(request))
  const blank = read.filter(
    ({ body }) => amountOf(value === null ? body : atPlace(body, value)) === null,
  )
  return blank.length === 0
    ? null
    : `${blank.length} of ${read.length} answers of ${get} have no number${value === null ? '' : ` at ${value}`}`
}

const isAt = (path: string, get: string | null) =>
  get !== null && path.split('?')[0] === get.split('?')[0]
const isRefused = ({ outcomes }: PricedRequest) => outcomes[0] === 'refused'

/** Numbers that have three decimals each time, or are below 1,000: they may be thousands with a point. */
const withPoint = /^\d{1,3}\.\d{3}$/

/** A value that may be another number, where the currency has too few decimals for it: `1.499` credits; null without one. */
export function mayBeThousands(
  readings: readonly Reading[],
  { digits }: PriceJudge['currency'],
): string | null {
  const texts = readings.map(({ text }) => text)
  const isOfThousands =
    digits < 3 && texts.every((text) => withPoint.test(text) || /^\d{1,3}$/.test(text))
  return isOfThousands ? (texts.find((text) => withPoint.test(text)) ?? null) : null
}

function inCurrency(
  { text, value, decimals }: NonNullable<ReturnType<typeof amountOf>>,
  { times }: BalanceTerms,
): Pick<Reading, 'text' | 'value' | 'place'> {
  return { text, value: multiply(value, times), place: multiply(powerOfTen(-decimals), times) }
}

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
  /** And of those that perhaps were. Null without an upper bound: a cost is open. */
  readonly high: Rational | null
  /** How many requests may have been charged between. */
  readonly count: number
  /** These requests. Each call lists them anew: neighbouring stretches share most of them where a value may be late. */
  readonly requests: () => readonly PricedRequest[]
  readonly isRight: boolean
  /** Whether it is right only if the last place that the values show hides a difference, although each cost is a whole number of it. */
  readonly isOffByPlace: boolean
  /** Whether each cost follows from the prices alone, without what the service recorded. */
  readonly isComputed: boolean
  /** Whether the costs are large enough for the place of the readings to show an error. */
  readonly isShown: boolean
}

/** What the service itself logged, or stated, for a request, and one unit of the last place that it shows. */
export type Recorded = ReadonlyMap<
  PricedRequest,
  { readonly value: Rational; readonly unit: Rational }
>

/** The changes from each value of an account to the next one, and from its first to its last. */
interface Changes {
  readonly all: readonly Omit<ReadingStretch, 'isWhole'>[]
  /** Null for two values or fewer. */
  readonly whole: Omit<ReadingStretch, 'isWhole'> | null
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
    const sums = new ChargeSums(charges, terms.withinMs)
    // After a charge that is no whole unit, the balance is none either, and its values are rounded.
    const isRounded = charges.some(({ isWhole, high }) => !isWhole && high !== null)
    const areOfUnit = charges.every(
      ({ low, high }) => high !== null && isWholeIn(low, unit) && isWholeIn(high, unit),
    )
    const stretch = (first: Reading, last: Reading) =>
      stretchOf(first, last, sums, terms, { unit, smallest, isRounded, areOfUnit })
    // The whole comes first: the sums go forward in time.
    const whole = own.length > 2 ? stretch(own[0]!, own.at(-1)!) : null
    return { whole, all: own.slice(1).map((last, at) => stretch(own[at]!, last)), unit }
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
  return changesOf(readings, requests, terms, judge, recorded).flatMap(({ all, whole, unit }) => {
    const added = all.filter((each) => isAdded(each, terms, unit)).map(({ last }) => last)
    const kept = all.filter(
      (each) =>
        !isRestart(each, terms, unit) &&
        !isAdded(each, terms, unit) &&
        !mayPrecede(each, added, terms),
    )
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

/** The last place that the values show, those of all accounts: a round value of one hides no more than those of the others. */
export function unitOfReadings(
  readings: readonly Reading[],
  { moves }: BalanceTerms,
  { currency }: PriceJudge,
): Rational {
  const smallest = powerOfTen(-currency.digits)
  // A spend that stays at 0 shows no place, and no charge either.
  const places = readings.flatMap(({ value, place }) =>
    moves === 'up' && isZero(value) ? [] : [place],
  )
  const [finest = smallest] = places.toSorted(compare)
  return compare(finest, smallest) < 0 ? smallest : finest
}

/**
 * A spend that falls to about 0, or to what the requests between cost at most, begins a new period. The rest
 * that the old period took is not known.
 */
function isRestart(
  { first, last, high }: Omit<ReadingStretch, 'isWhole'>,
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
  { first, last, high }: Omit<ReadingStretch, 'isWhole'>,
  { moves }: BalanceTerms,
  unit: Rational,
): boolean {
  const rise = subtract(last.value, first.value)
  return moves === 'down' && compare(rise, high === null ? unit : add(high, unit)) > 0
}

/**
 * A value beside others may be older than one that was read before it. If that one shows what was added, the older one may
 * not have it yet: the fall between them is no charge.
 */
function mayPrecede(
  { last, high, taken }: Omit<ReadingStretch, 'isWhole'>,
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
  { moves }: BalanceTerms,
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
): Omit<ReadingStretch, 'isWhole'> {
  const change = subtract(last.value, first.value)
  const taken = moves === 'up' ? change : negate(change)
  const { count, high, notComputed, notWhole } = sums.touching(first.fromMs, last.untilMs)
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
  const slack = isExact ? zero : compare(unit, ofCharges) > 0 ? unit : ofCharges
  return {
    first,
    last,
    taken,
    low: low ?? zero,
    high,
    count,
    requests: () => sums.listed(first.fromMs, last.untilMs, first.untilMs, last.fromMs),
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

/** Twice this many units are no longer exact as a double. */
const exactEnd = rational(2n ** 52n)

/** Whether a value is a whole number of units; after so many charges, a sum of doubles may be off by one. */
export function isWholeIn(value: Rational, unit: Rational, charges = 0): boolean {
  const units = divide(absolute(value), unit)
  const reach = multiply(units, rational(BigInt(charges + 1)))
  return units.denominator === 1n && compare(reach, exactEnd) < 0
}

/** What a recorded cost may be exactly, if the balance shows finer places than the record. */
function recordedBounds(
  recorded: { readonly value: Rational; readonly unit: Rational } | undefined,
  unit: Rational,
): readonly [Rational, Rational] | null {
  if (recorded === undefined) return null
  const hidden = compare(recorded.unit, unit) > 0 ? recorded.unit : zero
  return [subtract(recorded.value, hidden), add(recorded.value, hidden)]
}

/** A cost between bounds is what the service recorded for it, if that is between them. */
function chargeOf(
  request: PricedRequest,
  judge: PriceJudge,
  recorded: readonly [Rational, Rational] | null,
): ChargeBounds {
  const { low, high } = computedBounds(request, judge)
  const isComputed = high !== null && compare(low, high) === 0
  const unit = powerOfTen(-judge.currency.digits)
  const isWhole = high !== null && isWholeIn(low, unit) && isWholeIn(high, unit)
  if (recorded === null) return { request, low, high, isComputed, isWhole }
  const [least, most] = [
    compare(recorded[0], low) > 0 ? recorded[0] : low,
    high === null || compare(recorded[1], high) < 0 ? recorded[1] : high,
  ]
  return compare(least, most) <= 0
    ? { request, low: least, high: most, isComputed, isWhole: isComputed && isWhole }
    : { request, low, high, isComputed, isWhole }
}

/** The least and the most that a request costs by the prices alone; no most if its cost is open. */
export function computedBounds(
  request: PricedRequest,
  judge: PriceJudge,
): Pick<ChargeBounds, 'low' | 'high'> {
  const { costs, ifCached, between, open } = expectedCosts(request, judge)
  const all = [...costs, ...ifCached, ...(between ?? [])].toSorted(compare)
  // The first answer again costs nothing, or what it cost, where the contract does not say which. So does a part of one that came
  // whole later.
  if (
    request.isRepeat &&
    all.length > 0 &&
    open.every((name) => name === 'charged.gateway_cache')
  ) {
    const mayBeFree = open.length > 0 || request.outcomes[0] !== 'gateway_cache'
    return { low: mayBeFree ? zero : all[0]!, high: all.at(-1)! }
  }
  const isOpen = open.length > 0 || all.length === 0
  return { low: isOpen ? zero : all[0]!, high: isOpen ? null : all.at(-1)! }
}
