import type { Contract } from '../../contract/contract.ts'
import type { Grant } from '../../contract/grant.ts'
import type { UsageDimension } from '../pages.ts'
import type { KeyNames } from './key-names.ts'

/**
 * What the usage page shows, as data. Times are Unix microseconds UTC, credits are credits; null
 * is "not measured" and never 0. Days and hours are local to `scope.timezone`.
 */

export interface UsageOptions {
  /** Null where nobody chose one: runs of the specification's contract keep it, others have none. */
  readonly contract: Contract | null
  /** Inclusive; null for 30 local days that end with `toUs`. */
  readonly fromUs: number | null
  /** Exclusive; null for the end of the last local day with usage. */
  readonly toUs: number | null
  /** IANA name. */
  readonly timezone: string
  readonly by: UsageDimension
  /** Only these runs; empty for all. */
  readonly runIds: readonly string[]
  /** Only these imported sources; empty for all (none at all when only runs are named). */
  readonly sources: readonly string[]
  /** The moment of the report: what is later is open. */
  readonly nowUs: number
  /** Seed of the bootstrap of the forecast. */
  readonly seed: number
  /** What the account holds and until when; null to take it from polls and headers. */
  readonly grants: readonly Grant[] | null
  /** What keys are called in place of their fingerprints. */
  readonly keyNames?: KeyNames
  /** US dollars that a credit costs its reader; without it there is no cost in money. */
  readonly creditUsd?: number | null
}

export interface UsagePage {
  readonly scope: UsageScope
  readonly cards: readonly Card[]
  readonly hours: readonly SeriesPoint[]
  readonly days: readonly SeriesPoint[]
  readonly weekHours: readonly WeekHour[]
  readonly balance: readonly BalancePoint[]
  readonly errors: readonly ErrorPoint[]
  readonly topKeys: readonly KeyRow[]
  readonly peak: Peak
  readonly forecast: Forecast
  readonly depletion: Depletion
  readonly bandLosses: readonly BandLoss[]
  /** Null without a contract, whose packages it is made of. */
  readonly plan: PlanAdvice | null
  readonly reconciliation: Reconciliation
  readonly anomalies: readonly Anomaly[]
}

export interface UsageScope {
  readonly fromUs: number
  readonly toUs: number
  readonly timezone: string
  readonly by: UsageDimension
  readonly nowUs: number
  readonly sources: readonly {
    /** A poll has a balance and no requests; polls are sources where there is nothing else. */
    readonly origin: 'run' | 'import' | 'poll'
    readonly source: string
    readonly requests: number
    readonly firstUs: number
    readonly lastUs: number
  }[]
  /** US dollars of a credit; null where nobody gave a price. */
  readonly creditUsd: number | null
  /** What a reader must know before believing the figures, in sentences. */
  readonly notes: readonly string[]
}

export interface Card {
  readonly name: 'credits' | 'requests' | 'tokens' | 'averageTokens'
  readonly value: number | null
  /** The same over the period of equal length before; null where that was not measured as a whole. */
  readonly before: number | null
  /** value / before - 1. */
  readonly change: number | null
  /** Requests behind the value. */
  readonly n: number
  /** Requests that do not tell it. */
  readonly unmeasured: number
}

/** What a value that some requests do not tell is of; null where all tell it. */
export function measuredShare({ name, n, unmeasured }: Card): string | null {
  if (unmeasured === 0) return null
  const of = name === 'tokens' || name === 'averageTokens' ? 'answers' : 'requests'
  return `of ${n.toLocaleString('en-US')} of ${(n + unmeasured).toLocaleString('en-US')} ${of}`
}

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })

/** What the credits cost in money; null of another card, and where nobody gave a price. */
export function costText({ name, value }: Card, creditUsd: number | null): string | null {
  if (name !== 'credits' || value === null || creditUsd === null) return null
  return `${dollars.format(value * creditUsd)} at ${creditUsd} USD a credit`
}

/** Sums of a bucket. */
export interface UsageSums {
  readonly requests: number
  readonly ok: number
  readonly failed: number
  /** Status 429, also among `failed`. */
  readonly limited: number
  /** Broken, aborted or timed out: may have been charged. */
  readonly ambiguous: number
  readonly credits: number | null
  readonly possibleCredits: number | null
  readonly promptTokens: number | null
  /** Tokens of prompts that a cache held; null where nothing told of them. */
  readonly cachedTokens: number | null
  readonly completionTokens: number | null
}

export interface SeriesPoint extends UsageSums {
  readonly startUs: number
  /** Local start with its offset: `2026-11-01 01:00 -04:00`, or the day `2026-11-01`. */
  readonly label: string
  /** Length of the bucket: 23 or 25 hours for a day across a clock change. */
  readonly lengthS: number
  readonly series: string
  /** Not over yet, or not covered to its end. */
  readonly open: boolean
}

export interface WeekHour {
  /** 1 is Monday. */
  readonly weekday: number
  readonly hour: number
  /** Mean over `hours` covered hours; null when none was. */
  readonly credits: number | null
  readonly requests: number | null
  readonly hours: number
}

export interface BalancePoint {
  readonly atUs: number
  readonly account: string
  readonly remaining: number
  readonly from: 'header' | 'poll'
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
 * The busiest clock minute, hour and day (UTC) of one key: what the band must carry. A minute is
 * exact above the lowest limit of the contract; below it, it is that of the busiest hours.
 */
export interface Peak {
  readonly minute: number | null
  readonly hour: number | null
  readonly day: number | null
}

export type Forecast =
  | {
      readonly known: true
      /** Median and 80 % interval of what a day of the coming week burns. */
      readonly medianPerDay: number
      readonly lowPerDay: number
      readonly highPerDay: number
      readonly fullDays: number
      readonly says: string
    }
  | { readonly known: false; readonly fullDays: number; readonly says: string }

/** A date as an 80 % interval: 10 % of the futures have it before `earlyUs`, 10 % after `lateUs`. */
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
      readonly says: string
    }
  | { readonly known: false; readonly says: string }

/** When the balance falls below what a rate band asks for. */
export interface BandLoss {
  readonly band: string
  readonly minBalance: number
  readonly requestsPerMinute: number
  /** Null when the balance is below it already. */
  readonly lost: DateBand | null
  readonly says: string
}

export interface PackagePlan {
  /** Packs of each package, in the order of the contract; none left out. */
  readonly packs: readonly { readonly name: string; readonly count: number }[]
  readonly credits: number
  readonly priceUsdCents: number
}

export type PlanAdvice =
  | {
      readonly known: true
      readonly needCredits: number
      /** Balance that the observed peak needs at all times; 0 when any band carries it. */
      readonly floorBalance: number
      /** Cheapest that pays for the month, whatever the band. */
      readonly cheapest: PackagePlan
      readonly chosen: PackagePlan
      /** Cheapest without the veto, where it differs. */
      readonly vetoed: PackagePlan | null
      /** Expiring credits that would be left over. */
      readonly wastedCredits: number
      readonly reasons: readonly string[]
    }
  | { readonly known: false; readonly says: string }

export interface ReconciliationRow {
  readonly fromUs: number
  readonly toUs: number
  readonly account: string
  readonly serviceSays: number
  /** Surely charged, and at most charged with what is ambiguous. */
  readonly seen: number
  readonly seenAtMost: number
  readonly verdict: 'agrees' | 'differs'
  /** Beyond the seen interval; positive when the service charged more. */
  readonly difference: number
}

export type Reconciliation =
  | {
      readonly known: true
      readonly rows: readonly ReconciliationRow[]
      readonly verdict: 'agrees' | 'differs'
      readonly says: string
    }
  | { readonly known: false; readonly says: string }

export interface Anomaly {
  readonly kind:
    | 'charge-without-success'
    | 'success-without-charge'
    | 'tokens-over-limit'
    | 'unusual-hour'
    | 'error-jump'
    | 'limit-jump'
    | 'new-key'
    | 'service-differs'
    | 'flat-remaining'
  readonly says: string
  readonly count: number
  /** Some of the rows behind it: source and id, or the bucket. */
  readonly rows: readonly {
    readonly source: string
    readonly id: string
    readonly atUs: number
    readonly shows: string
  }[]
}
