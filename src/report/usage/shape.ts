import type { Contract } from '../../contract/contract.ts'
import type { Grant } from '../../contract/grant.ts'
import type { AccountScope } from '../../store/session/account.ts'
import { suggestion } from '../../user/nearest.ts'
import { userError } from '../../user/user-error.ts'
import { words } from '../../user/words.ts'
import type { UsageDimension } from '../pages.ts'
import type { UsageJson } from './json/shape.ts'
import type { KeyNames } from './key-names.ts'
import type { BurnOrder, CreditsHeld, Holdings } from './ledger.ts'

/**
 * The usage page as data. Times are Unix microseconds UTC; null is "not measured" and never 0. Days and hours are
 * local to `scope.timezone`.
 */

export interface UsageOptions {
  /** Null for the default: the specification's contract if all usage comes from runs with it, else none. */
  readonly contract: Contract | null
  /** Inclusive; null for the first local day with usage, at most 31 days before `toUs`. */
  readonly fromUs: number | null
  /** Exclusive; null for the end of the last local day with usage. */
  readonly toUs: number | null
  /** IANA name. */
  readonly timezone: string
  readonly by: UsageDimension
  /** Only these runs; empty for all. */
  readonly runIds: readonly string[]
  /** Only these imported sources; empty for all (for none if only runs are named). */
  readonly sources: readonly string[]
  /** Only this account: everything on the page is computed within it. Null or absent for all. */
  readonly account?: string | null
  /** Only these keys, by fingerprint. Null or absent for all of the account; empty for none. */
  readonly keys?: readonly string[] | null
  /** Time of the report; later buckets are open. */
  readonly nowUs: number
  /** Seed of the simulated futures. */
  readonly seed: number
  /** The account's grants; null to derive them from polls and headers. */
  readonly grants: readonly Grant[] | null
  /** What the account got, from which its use is taken; it comes before `grants`. Null or absent for the grants of imported rows, if there are any. */
  readonly holdings?: Holdings | null
  /** Which of the grants of imported rows burns first, if neither `holdings` nor `grants` are given; default: the one that expires first. */
  readonly burnOrder?: BurnOrder
  /** Names that replace fingerprints. */
  readonly keyNames?: KeyNames
  /** Price of a credit in US dollars; without it, costs are omitted. */
  readonly creditUsd?: number | null
}

/** Whose usage it is, and from where. */
export type UsageSelection = Pick<UsageOptions, 'account' | 'keys' | 'runIds' | 'sources'>

export const accountOf = ({ account = null, keys = null }: UsageSelection): AccountScope => ({
  account,
  keys,
})

export interface UsagePage {
  readonly scope: UsageScope
  readonly totals: UsageTotals
  readonly cards: readonly Card[]
  readonly hours: readonly SeriesPoint[]
  readonly days: readonly SeriesPoint[]
  readonly weekHours: readonly WeekHour[]
  readonly balance: readonly BalancePoint[]
  readonly errors: readonly ErrorPoint[]
  readonly topKeys: readonly KeyRow[]
  readonly peak: SeenPeak
  /** Of the unit of the page. */
  readonly forecast: Forecast
  /** Of the other units. Only the forecast of credits burns what is held. */
  readonly otherForecasts: readonly { readonly unit: string; readonly forecast: Forecast }[]
  /** The days to come, for each unit; none without its forecast. */
  readonly courses: readonly CourseOfUnit[]
  readonly depletion: Depletion
  /** What is held now, by the options' `holdings` or by imported rows; null without either. */
  readonly credits: (Pick<Holdings, 'unit'> & CreditsHeld) | null
  readonly bandLosses: readonly BandLoss[]
  /** Null without a contract, whose packages it uses. */
  readonly plan: PlanAdvice | null
  readonly reconciliation: Reconciliation
  readonly anomalies: readonly Anomaly[]
}

export type UsagePart = Exclude<keyof UsagePage, 'scope'>

export type PartsOfUsage<Part extends UsagePart> = Pick<UsagePage, 'scope' | Part>

/** All parts, in the order in which they are read and written. */
export const usageParts = [
  ...words('days bandLosses forecast otherForecasts courses depletion credits totals cards hours'),
  ...words('weekHours balance errors topKeys peak plan reconciliation anomalies'),
] as const satisfies readonly UsagePart[]

/** What is shown to people. Hours are left out: they are most of a page, hundreds of rows for each month and series. */
export type ShownUsage = Omit<UsagePage, 'hours'>
export const shownParts = usageParts.filter((part) => part !== 'hours')

/** @throws UserError for a part that a page does not have */
export function checkParts(parts: readonly string[]): void {
  for (const part of parts)
    if (!usageParts.some((each) => each === part))
      throw userError.report(`"${part}" is no part of usage. ${suggestion(part, usageParts)}`)
}

/** What a forecast needs no page for. */
export type UsageForecast = Pick<
  UsagePage,
  | 'scope'
  | 'days'
  | 'forecast'
  | 'otherForecasts'
  | 'courses'
  | 'depletion'
  | 'bandLosses'
  | 'anomalies'
> & {
  /** What is left on the days to come; only `readForecastIn` reads it. */
  readonly balances?: readonly FutureBalance[]
  /** Hours that are busier than usual; only `readForecastIn` reads them. */
  readonly busyHours?: readonly BusyHour[]
}

/** A part of the JSON as a page has it, which nobody changes. */
type Frozen<Value> = Value extends object
  ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
  : Value
type InJson<Part extends keyof UsageJson> = Frozen<UsageJson[Part]>
type Known<Of> = Extract<Of, { readonly known: true }>

export type UsageScope = InJson<'scope'>
export type UsageTotals = InJson<'totals'>
export type Card = InJson<'cards'>[number]
export type WeekHour = InJson<'weekHours'>[number]
export type BalancePoint = InJson<'balance'>[number]
export type ErrorPoint = InJson<'errors'>[number]
export type KeyRow = InJson<'topKeys'>[number]
/** The peaks of the page. */
export type SeenPeak = InJson<'peak'>
export type Peak = Omit<SeenPeak, 'unknown'>
export type Forecast = InJson<'forecast'>
export type Depletion = InJson<'depletion'>
export type DateBand = Known<Depletion>['runsOut']
export type BandLoss = InJson<'bandLosses'>[number]
export type PlanAdvice = NonNullable<InJson<'plan'>>
export type PackagePlan = Known<PlanAdvice>['chosen']
export type Reconciliation = InJson<'reconciliation'>
export type ReconciliationRow = Known<Reconciliation>['rows'][number]
type JsonAnomaly = InJson<'anomalies'>[number]

/** The share of requests with the value, if some lack it; else null. */
export function measuredShare({ name, n, unmeasured }: Card): string | null {
  if (unmeasured === 0) return null
  const of = name === 'averageTokens' ? 'successes' : 'requests'
  return `of ${n.toLocaleString('en-US')} of ${(n + unmeasured).toLocaleString('en-US')} ${of}`
}

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })

/** The credits in money; null for other cards, and without a price. */
export function costText({ name, value }: Card, creditUsd: number | null): string | null {
  if (name !== 'credits' || value === null || creditUsd === null) return null
  return `${dollars.format(value * creditUsd)} at ${creditUsd} USD a credit`
}

/** Sums of a bucket. Tokens are null if no request reports them. */
export type UsageSums = Omit<
  KeyRow,
  'keyFp' | 'name' | 'lastFour' | 'account' | 'firstUs' | 'lastUs'
>

/** Sums that are null where no source covers the bucket. */
type CoveredSums = { readonly [Name in keyof UsageSums]: UsageSums[Name] | null }

export interface SeriesPoint extends CoveredSums {
  readonly startUs: number
  /** Local start with its offset: `2026-11-01 01:00 -04:00`, or the day `2026-11-01`. */
  readonly label: string
  /** Length of the bucket: 23 or 25 hours for a day across a clock change. */
  readonly lengthS: number
  /** The zone of its hours and days: the page's, or UTC for sums that no local day contains. */
  readonly timezone: string
  /** Usage less refunds by unit, as exact decimals; at least so much, if `unknownCost` is not 0. */
  readonly money: Readonly<Record<string, string>>
  /** Requests whose cost is not known. */
  readonly unknownCost: number | null
  readonly series: string
  /** Not over yet, or not covered to its end. */
  readonly open: boolean
}

/** What is to come in a unit. */
export interface CourseOfUnit {
  readonly unit: string
  /** Its start, until when use is known (`knownTo`). */
  readonly fromUs: number
  readonly days: readonly CoursePoint[]
}

/** What will be used from the start of its course to a moment: 80 % of the futures are from `low` to `high`. */
export interface CoursePoint {
  readonly endUs: number
  readonly low: number
  readonly median: number
  readonly high: number
}

/** The unit of what is held. */
export const unitHeld = ({ depletion }: Pick<UsagePage, 'depletion'>): string =>
  depletion.known ? depletion.unit : 'credits'

/** The forecast that burns what is held; one that is not known, if nothing is used in its unit. */
export function forecastOfHeld({
  scope,
  forecast,
  otherForecasts,
  depletion,
}: Pick<UsagePage, 'forecast' | 'otherForecasts' | 'depletion'> & {
  readonly scope: Pick<UsageScope, 'unit'>
}): Forecast {
  const held = unitHeld({ depletion })
  return scope.unit === held
    ? forecast
    : (otherForecasts.find(({ unit }) => unit === held)?.forecast ?? noneIn(held))
}

/** The burn of a unit where everything is in others. */
export const noneIn = (unit: string): Forecast => ({
  known: false,
  fullDays: 0,
  summary: `Nothing that was used is in ${unit}.`,
})

/** What is left at a moment: the median and 80 % of the futures. */
export interface FutureBalance {
  readonly atUs: number
  readonly low: number
  readonly median: number
  readonly high: number
}

/** What an hour used, and a usual one. */
export interface BusyHour {
  readonly unit: string
  readonly atUs: number
  readonly amount: number
  readonly usual: number
}

export interface Anomaly extends Omit<JsonAnomaly, 'rows'> {
  /** Examples: source and id, or the bucket. */
  readonly rows: readonly (JsonAnomaly['rows'][number] & {
    /** Of an unusual hour: what was used in it and in a usual one. Only pages for customers have it. */
    readonly hour?: UnusualHour
  })[]
}

export interface UnusualHour {
  readonly unit: string
  /** At least so much, if the hour is not over. */
  readonly amount: number
  readonly usual: number
  readonly requests: number
  /** The median of the hours with requests. */
  readonly usualRequests: number
}
