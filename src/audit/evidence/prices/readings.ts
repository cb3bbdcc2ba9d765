import type { BalanceTerms } from '../../../contract/prices.ts'
import {
  compare,
  isZero,
  larger,
  multiply,
  powerOfTen,
  type Rational,
} from '../../../money/rational.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { isObject } from '../../../user/json.ts'
import { amountOf, atPlace } from './answer-json.ts'
import { grantsOn, type ShownGrants } from './grants.ts'
import type { MoneyPage } from './requests.ts'

/** A value of a balance or a spend. */
export interface Reading {
  readonly account: string
  readonly fromMs: number
  readonly untilMs: number
  readonly value: Rational
  /** One unit of the last decimal that the text shows, in the currency. */
  readonly lastUnit: Rational
  readonly text: string
  readonly request: PricedRequest
  /** The page that shows it; absent for a header. */
  readonly page?: unknown
  /** Grants that this page lists; absent without any. */
  readonly grants?: ShownGrants
}

/** Where values are shown. */
interface Shown {
  readonly requests: readonly PricedRequest[]
  readonly pages: readonly MoneyPage[]
}

/** The values that the service showed, in their order, without those of accounts without a limit. */
export const readingsOf = (found: Shown, terms: BalanceTerms): readonly Reading[] =>
  byLimit(found, terms, true)

/** The values of accounts whose every value is -1: a word for an account without a limit, and no balance. */
export const withoutLimit = (found: Shown, terms: BalanceTerms): readonly Reading[] =>
  byLimit(found, terms, false)

function byLimit(found: Shown, terms: BalanceTerms, isLimited: boolean): readonly Reading[] {
  const shown = shownReadings(found, terms)
  const limited = new Map(
    [...Map.groupBy(shown, ({ account }) => account)].map(([account, own]) => [
      account,
      own.length < 2 || own.some(({ text }) => Number(text) !== -1),
    ]),
  )
  return shown.filter(({ account }) => limited.get(account) === isLimited)
}

function shownReadings({ requests, pages }: Shown, terms: BalanceTerms): readonly Reading[] {
  const fromPages = pages.flatMap((page): readonly Reading[] => {
    if (!isAt(page.path, terms.get)) return []
    const amount = amountOf(terms.value === null ? page.body : atPlace(page.body, terms.value))
    if (amount === null) return []
    const { account, fromMs, untilMs, request } = page
    const grants = grantsOn(page.body, terms)
    const shown = { page: page.body, ...(grants === null ? {} : { grants }) }
    return [{ account, fromMs, untilMs, request, ...inCurrency(amount, terms), ...shown }]
  })
  const fromHeaders = requests.flatMap((request): readonly Reading[] => {
    const amount = terms.header === null ? null : amountOf(request.header(terms.header))
    if (amount === null) return []
    return [
      {
        account: request.account,
        fromMs: request.startMs,
        // What a head says was so when it came, however long its stream was.
        untilMs: request.headMs,
        request,
        ...inCurrency(amount, terms),
      },
    ]
  })
  return [...fromPages, ...fromHeaders].toSorted((a, b) => a.untilMs - b.untilMs)
}

/** Whether the page says beside a value that the account has no limit: new-api's `unlimited_quota`. */
export function isUnlimited({ page }: Reading, { value }: BalanceTerms): boolean {
  const beside = value?.split('.').slice(0, -1).join('.') ?? ''
  const fields = beside === '' ? page : atPlace(page, beside)
  return (
    isObject(fields) &&
    Object.entries(fields).some(([name, is]) => /unlimited/i.test(name) && is === true)
  )
}

/** Values of the balance that are texts and no numbers, such as `1,499`. */
export function unreadable(
  { requests, pages }: Shown,
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
 * How many answers have no value of the balance, although they should; null if each has one, or none was stored. What a contract
 * promises is not dropped because it is not there.
 */
export function whyNone(
  { requests, pages }: Shown,
  { get, header, value }: BalanceTerms,
): string | null {
  if (header !== null) {
    const stored = requests.filter(({ outcomes, hasHead }) => hasHead && outcomes[0] === 'success')
    const without = stored.filter((request) => amountOf(request.header(header)) === null)
    if (without.length === 0) return null
    return without.length === stored.length
      ? `none of ${stored.length} stored answers has the header ${header}`
      : `${without.length} of ${stored.length} stored answers have no header ${header}`
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

/** `1.499`, which may be thousands with a point. */
const withPoint = /^\d{1,3}\.\d{3}$/

/**
 * A value that may be another number, where the currency has too few decimals for it: `1.499` credits, among values that have three
 * decimals each time, or are below 1,000. Null without one.
 */
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
): Pick<Reading, 'text' | 'value' | 'lastUnit'> {
  return { text, value: multiply(value, times), lastUnit: multiply(powerOfTen(-decimals), times) }
}

/**
 * The finest unit that any value shows, of all accounts: a value that happens to be round shows fewer decimals than the service
 * keeps.
 */
export function unitOfReadings(
  readings: readonly Reading[],
  { moves }: BalanceTerms,
  { currency }: PriceJudge,
): Rational {
  const ofCurrency = powerOfTen(-currency.digits)
  // A spend that stays at 0 shows no place, and no charge either.
  const units = readings.flatMap(({ value, lastUnit }) =>
    moves === 'up' && isZero(value) ? [] : [lastUnit],
  )
  const [finest = ofCurrency] = units.toSorted(compare)
  return larger(finest, ofCurrency)
}
