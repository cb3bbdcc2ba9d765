import type { BudgetName, Search } from '../../scenario/loads.ts'
import type { TrialPlan, TrialStep } from './search.ts'

/** Parts of a trial, by the order of its requests; 10, 12 or 20 groups are sums of parts. */
export const partsOfTrial = 60

export interface PartCounts {
  readonly judged: readonly number[]
  readonly missed: readonly number[]
  /** Sum of the logarithms of the judged times, in microseconds. */
  readonly logUs: readonly number[]
}

/** What was seen of a trial. */
export interface TrialEvidence {
  /** Requests that were sent, and those that this client could not send. */
  readonly sent: number
  readonly notSent: number
  /** Of those sent, those sent more than a second late. */
  readonly late: number
  /** Requests that were meant to succeed and ended. */
  readonly judged: number
  /** Of those, the ones that were not good. */
  readonly missed: number
  /** Of those that missed, the ones that the service refused with a 429. */
  readonly limited: number
  /** Successes beside those judged, of which it is not known whether they are good. */
  readonly unknown: number
  /** Mean time from the send to the end; null without an end. */
  readonly meanUs: number | null
  readonly parts: PartCounts
  /** Requests in flight at even moments over its last four fifths. */
  readonly inFlight: readonly number[]
  /** How long after the end of the trial the service's limiter asks to wait; null if it refused nothing or names no time. */
  readonly resetUs: number | null
  /** Over the arrivals, and until nothing was in flight and the pause was over. */
  readonly lastedUs: number
  readonly tookUs: number
  /** Why it ended: by its plan, or early. */
  readonly end: 'plan' | EarlyEnd
}

/** Why a trial has failed. */
export type EarlyEnd = 'misses' | 'backlog'

export type TrialResult = 'held' | 'failed' | 'void'

/** A judged trial. It is stored, so that a later search can go on from it. */
export interface Trial extends Omit<TrialEvidence, 'unknown' | 'parts' | 'inFlight' | 'end'> {
  /** Its phase in the store. */
  readonly phase: string
  readonly step: TrialStep
  readonly budget: BudgetName
  readonly ratePerS: number
  /** The rate that was really sent; null if nothing was. */
  readonly sentPerS: number | null
  readonly planned: number
  /** Absent in a trial of an earlier version, which did not count them. */
  readonly unknown?: number
  /** Share of judged requests that were good; null without any. */
  readonly goodput: number | null
  readonly result: TrialResult
  readonly why: TrialReason
  /** Upper end of the share of misses with 99 % confidence; null unless it is a confirmation. */
  readonly mostMissed: number | null
  /** Growth of the judged times over a confirmation, as a ratio, if it is significant; null otherwise. */
  readonly drift: number | null
  /** Whether an earlier run of the same search sent it, and which; its rows are there. */
  readonly earlier: boolean
  readonly runId?: string
}

export type TrialReason =
  | 'held'
  /** Failed: too many misses, a growing backlog, or a confirmation whose margin is too small. */
  | 'misses'
  | 'backlog'
  | 'margin'
  /** Void: of too many requests nobody knows whether they are good; too few were judged, or sent in time. */
  | 'unknown'
  | 'too few'
  | 'late'

export interface JudgedBy {
  readonly search: Search
  readonly plan: TrialPlan
}
