import type { Contract } from '../../contract/contract.ts'
import type { Grant } from '../../contract/grant.ts'
import type { TokenField } from '../../measure/usage/quantities.ts'
import type { AccountScope } from '../../store/session/account.ts'
import type { ShownToken } from '../../tokens/kinds.ts'
import { suggestion } from '../../user/nearest.ts'
import { userError } from '../../user/user-error.ts'
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
  readonly credits: CreditsHeld | null
  readonly bandLosses: readonly BandLoss[]
  /** Null without a contract, whose packages it uses. */
  readonly plan: PlanAdvice | null
  readonly reconciliation: Reconciliation
  readonly anomalies: readonly Anomaly[]
}

export type UsagePart = Exclude<keyof UsagePage, 'scope'>

/** The scope, and these parts of a page. */
export type PartsOfUsage<Part extends UsagePart> = Pick<UsagePage, 'scope' | Part>

/** All parts, in the order in which they are read and written. */
export const usageParts = [
  ...[
    'days',
    'bandLosses',
    'forecast',
    'otherForecasts',
    'courses',
    'depletion',
    'credits',
    'totals',
  ],
  ...['cards', 'hours', 'weekHours', 'balance', 'errors', 'topKeys', 'peak', 'plan'],
  ...['reconciliation', 'anomalies'],
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
>

export interface UsageScope {
  readonly fromUs: number
  readonly toUs: number
  readonly timezone: string
  readonly by: UsageDimension
  /** The account that everything is of; null for all. */
  readonly account: string | null
  readonly nowUs: number
  readonly sources: readonly {
    /** A poll has a balance but no requests. Polls are sources only if there are no others. */
    readonly origin: UsageJson['scope']['sources'][number]['origin']
    readonly source: string
    readonly requests: number
    readonly firstUs: number
    readonly lastUs: number
    /** The longest interval over which it has sums, seconds; null if it has requests or quarters of an hour. */
    readonly widestS: number | null
    /** The time of its imports that are parts of a log (`--partial`): at least so much was used in it. Null: none. */
    readonly partial: { readonly fromUs: number; readonly toUs: number } | null
    /** UTC if its sums are over intervals that no local day contains. */
    readonly days: UsageJson['scope']['sources'][number]['days']
  }[]
  /** The unit of `credits` everywhere on the page: that of most amounts. `totals.money` has every unit. */
  readonly unit: string
  /** The units of all amounts, that of most amounts first. */
  readonly units: readonly string[]
  /** Price of a credit in US dollars; null if none was given. */
  readonly creditUsd: number | null
  /** Caveats for the reader, as sentences. */
  readonly notes: readonly string[]
}

/** A sum, and the requests that do not report its value: with some, it is at least the sum. */
export interface Total {
  /** Null if nothing reports it. */
  readonly value: number | null
  readonly unknown: number
}

/** What was used in the period. */
export interface UsageTotals {
  /** `unknown` are sums over an interval that do not say how many requests they are of. */
  readonly requests: Total
  /** `cached` and `cacheWrite` are part of `input`, `reasoning` of `output`. */
  readonly tokens: Readonly<Record<ShownToken, Total>>
  /** One entry for each unit, as exact decimals. Units are never added up. */
  readonly money: readonly {
    readonly unit: string
    /** Usage less refunds. */
    readonly used: string
    /** 0 or less, and part of `used`. */
    readonly refunds: string
    /** Part of `used`: what the user's prices gave, and no log. */
    readonly computed: string
  }[]
  /** The contracts whose prices gave the computed amounts. */
  readonly pricedBy: readonly string[]
  /** Requests whose cost is not known, in any unit. */
  readonly unknownCost: number
  /** Entries that are no usage: adjustments, grants, purchases, gifts, expiries. */
  readonly ledger: readonly {
    readonly type: string
    readonly unit: string
    readonly entries: number
    readonly amount: string
  }[]
}

export interface Card {
  readonly name: UsageJson['cards'][number]['name']
  readonly value: number | null
  /** The same over the preceding period of equal length; null if that was not measured completely. */
  readonly before: number | null
  /** value / before - 1. */
  readonly change: number | null
  /** Requests behind the value. */
  readonly n: number
  /** Requests without the value. */
  readonly unmeasured: number
}

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
export interface UsageSums extends Readonly<Record<TokenField, number | null>> {
  readonly requests: number
  readonly ok: number
  /** All that did not succeed (`src/measure/usage/ends.ts`). */
  readonly failed: number
  /** Status 429, part of `failed`. */
  readonly limited: number
  /** Broken, aborted or timed out, part of `failed`; they may have been charged. */
  readonly ambiguous: number
  readonly credits: number | null
  readonly possibleCredits: number | null
}

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

export interface WeekHour {
  /** 1 is Monday. */
  readonly weekday: number
  readonly hour: number
  /** Mean over `hours` covered hours; null if there are none. */
  readonly credits: number | null
  readonly requests: number | null
  readonly hours: number
}

export interface BalancePoint {
  readonly atUs: number
  readonly account: string
  readonly remaining: number
  readonly from: UsageJson['balance'][number]['from']
}

export interface ErrorPoint {
  readonly startUs: number
  readonly label: string
  /** `429 rate_limit_exceeded`, `timeout`. */
  readonly error: string
  readonly count: number
}

export interface KeyRow extends UsageSums {
  readonly keyFp: string
  readonly name: string | null
  readonly account: string | null
  readonly firstUs: number
  readonly lastUs: number
}

/**
 * The busiest clock minute, hour and day (UTC) of one key, which the band must allow. Minutes are exact above the
 * lowest limit of the contract; below it, they come from the busiest hours.
 */
export interface Peak {
  readonly minute: number | null
  readonly hour: number | null
  readonly day: number | null
}

/** The peaks of the page. */
export interface SeenPeak extends Peak {
  /** Why shorter peaks are not known: sums over longer intervals. Null if all are known. */
  readonly unknown: string | null
}

export type Forecast =
  | {
      readonly known: true
      /** Median and 80 % interval of the burn on a day of the coming week. */
      readonly medianPerDay: number
      readonly lowPerDay: number
      readonly highPerDay: number
      readonly fullDays: number
      readonly summary: string
    }
  | { readonly known: false; readonly fullDays: number; readonly summary: string }

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

/** The forecast that burns credits; one that is not known, if nothing is used in them. */
export const forecastOfCredits = ({
  scope,
  forecast,
  otherForecasts,
}: Pick<UsagePage, 'forecast' | 'otherForecasts'> & {
  readonly scope: Pick<UsageScope, 'unit'>
}): Forecast =>
  scope.unit === 'credits'
    ? forecast
    : (otherForecasts.find(({ unit }) => unit === 'credits')?.forecast ?? noneInCredits)

/** The burn of credits where everything is in other units. */
export const noneInCredits: Forecast = {
  known: false,
  fullDays: 0,
  summary: 'Nothing that was used is in credits.',
}

/** A date with an 80 % interval: 10 % of the futures are before `earlyUs`, 10 % after `lateUs`. */
export interface DateBand {
  /** Null: not within `horizonDays`. */
  readonly earlyUs: number | null
  readonly medianUs: number | null
  readonly lateUs: number | null
  readonly horizonDays: number
}

export type Depletion =
  | {
      readonly known: true
      readonly balance: number
      readonly runsOut: DateBand
      /** Credits that expire unused in the median future, earliest first. */
      readonly wasted: readonly {
        readonly grant: string
        readonly expiresUs: number
        readonly creditsLow: number
        readonly creditsMedian: number
        readonly creditsHigh: number
      }[]
      readonly summary: string
    }
  | { readonly known: false; readonly summary: string }

/** When the balance falls below the minimum of a rate band. */
export interface BandLoss {
  readonly band: string
  readonly minBalance: number
  readonly requestsPerMinute: number
  /** Null if the balance is already below it. */
  readonly lost: DateBand | null
  readonly summary: string
}

export interface PackagePlan {
  /** Every package in the order of the contract, even with a count of 0. */
  readonly packs: readonly { readonly name: string; readonly count: number }[]
  readonly credits: number
  readonly priceUsdCents: number
}

export type PlanAdvice =
  | {
      readonly known: true
      readonly needCredits: number
      /** Balance that the observed peak needs at all times; 0 if any band allows it. */
      readonly floorBalance: number
      /** The cheapest plan for the month's burn, whatever the band. */
      readonly cheapest: PackagePlan
      readonly chosen: PackagePlan
      /** The cheapest plan, if the band rules it out. */
      readonly vetoed: PackagePlan | null
      /** Expiring credits left over. */
      readonly wastedCredits: number
      readonly reasons: readonly string[]
    }
  | { readonly known: false; readonly summary: string }

type Verdict = Extract<UsageJson['reconciliation'], { known: true }>['verdict']

export interface ReconciliationRow {
  readonly fromUs: number
  readonly toUs: number
  readonly account: string
  readonly serviceReported: number
  /** Certainly charged; `seenAtMost` adds the ambiguous ones. */
  readonly seen: number
  readonly seenAtMost: number
  readonly verdict: Verdict
  /** Outside the observed interval; positive if the service charged more. */
  readonly difference: number
}

export type Reconciliation =
  | {
      readonly known: true
      readonly rows: readonly ReconciliationRow[]
      readonly verdict: Verdict
      readonly summary: string
    }
  | { readonly known: false; readonly summary: string }

export interface Anomaly {
  readonly kind: UsageJson['anomalies'][number]['kind']
  readonly summary: string
  readonly count: number
  /** Examples: source and id, or the bucket. */
  readonly rows: readonly {
    readonly source: string
    readonly id: string
    readonly atUs: number
    readonly shows: string
    /** Of an unusual hour: what was used in it and in a usual one. Only pages for customers have it. */
    readonly hour?: UnusualHour
  }[]
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
