import type { HealthRow } from '../../store/attempts/recorder.ts'
import type { KeyReport } from '../crew/messages.ts'
import type { AttemptCounts } from './attempt-counts.ts'

/** The progress of one step, for the live view. Times in microseconds; null without samples. */
export interface StepProgress {
  readonly step: string
  readonly planned: number
  readonly sent: number
  readonly ok: number
  readonly failures: number
  /** Planned rate over the last second or so; null for a closed load. */
  readonly plannedPerS: number | null
  /** Sent rate over the same time. */
  readonly achievedPerS: number
  readonly responseUs: Percentiles | null
  readonly serviceUs: Percentiles | null
  readonly ttftUs: Percentiles | null
}

export interface Percentiles {
  readonly samples: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** The trial of a search that is being sent. */
export interface Searching {
  readonly step: string
  /** What is sent at the rate. */
  readonly of: 'requests' | 'tasks'
  /** 0 for one request at a time. */
  readonly ratePerS: number
  /** How many of them. */
  readonly requests: number
  /** Predicted end of the search, on the clock of `atUs`; null if it is not known yet. */
  readonly endsUs: number | null
  /** The reset of the service's limit that the trial waits for, on the same clock and as Unix time; null if it does not wait. */
  readonly reset: { readonly atUs: number; readonly unixMs: number } | null
}

/** Money of a run so far. Amounts are exact decimals. */
export interface RunCost {
  readonly spent: string
  readonly unit: string
  /** Requests whose cost is not known. */
  readonly unknown: number
  /** Bound on spending; null for none. */
  readonly most: string | null
}

export interface Progress {
  readonly runId: string
  readonly scenario: string
  readonly phase: string | null
  readonly atUs: number
  /** Planned end of the last phase so far; null if unknown. */
  readonly endsUs: number | null
  readonly counts: AttemptCounts
  readonly inFlight: number
  /** By the contract; null if it states no credits for these models. */
  readonly creditsSpent: number | null
  /** Money by the contract; null if it states no prices for these models. */
  readonly money: RunCost | null
  /** Bound on spending; null for none. */
  readonly maxCredits: number | null
  readonly steps: readonly StepProgress[]
  /** Failures and expected errors by code, most frequent first. */
  readonly errors: readonly (readonly [code: string, count: number])[]
  readonly keys: readonly ({ readonly name: string } & KeyReport)[]
  /** The fixed wait between requests that all users are in; null or absent for none. It ends on the clock of `atUs`. */
  readonly waiting?: { readonly us: number; readonly endsUs: number } | null
  /** Null or absent unless a search is running. */
  readonly searching?: Searching | null
  /** The last second of each sending thread. */
  readonly health: readonly HealthRow[]
}
