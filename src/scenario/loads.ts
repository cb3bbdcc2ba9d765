import { words } from '../user/words.ts'
import type { ThinkTime } from './steps.ts'

/** A segment of a rate over time: it changes linearly from one rate to the other. */
export interface RateSegment {
  readonly durationUs: number
  readonly fromPerS: number
  readonly toPerS: number
}

export const spacings = ['constant', 'poisson', 'gamma'] as const

/**
 * The distribution of gaps between arrivals. `gamma` has mean 1 and coefficient of variation
 * 1/sqrt(shape): a shape below 1 is bursty, 1 is Poisson, above 1 is smoother.
 */
export type Spacing =
  | { readonly kind: Exclude<(typeof spacings)[number], 'gamma'> }
  | { readonly kind: 'gamma'; readonly shape: number }

export const budgetNames = ['quick', 'standard', 'thorough'] as const
export type BudgetName = (typeof budgetNames)[number]

/** What a search for the highest safe rate may spend, and what must hold. */
export interface Search {
  /** The first rate; null for the one that has one request in flight on average. */
  readonly startPerS: number | null
  readonly maxPerS: number
  /** Share of requests that must meet every objective of the scenario, below 1. */
  readonly goodput: number
  /** Absent if it sends requests. Each task must end within a time, or only succeed if it is null. */
  readonly ofTasks?: { readonly withinUs: number | null }
  /** The longest time objective: a backlog shows once requests wait for so long. */
  readonly boundUs: number
  /** Null for the largest that fits into `mostUs`. */
  readonly budget: BudgetName | null
  /** Most time of the search; null for no bound. */
  readonly mostUs: number | null
  /** Replaces the step of the budget: 0.05 is 5 %. */
  readonly precision: number | null
  /** Replaces the requests of the confirmation. */
  readonly hold: number | null
  /** Steps between the rate that held and the rate that is called safe. */
  readonly headroom: number
  /** Least length of a trial, and the pause after a failed one; null for those of the procedure. */
  readonly trialUs: number | null
  readonly coolDownUs: number | null
}

/** Formats of a trace; `columns` is any other CSV or JSON Lines, whose columns the scenario names. */
export const traceFormats = words('mooncake bailian azure burstgpt weka servegen assay columns')
export type TraceFormat = (typeof traceFormats)[number]

export const traceUnits = ['s', 'ms', 'us', 'ns'] as const
export type TraceUnit = (typeof traceUnits)[number]

/** Names of the columns of a trace that no format of ours describes. */
export interface TraceColumns {
  readonly time: string
  readonly input: string
  readonly output: string
  readonly session?: string | undefined
}

export type Load =
  /** Open: planned in advance, never waits for responses. */
  | { readonly kind: 'arrivals'; readonly spacing: Spacing; readonly rate: readonly RateSegment[] }
  /** Closed: users with think time, without a planned rate. */
  | {
      readonly kind: 'concurrency'
      readonly fromUsers: number
      readonly toUsers: number
      /** Time over which users join or leave. */
      readonly rampUs: number
      readonly think: ThinkTime
    }
  /** Closed, users without think time: finds a ceiling. */
  | { readonly kind: 'saturate'; readonly connections: number }
  /** Finds the highest rate that meets the objectives. */
  | {
      readonly kind: 'sweep'
      readonly search: Search
      readonly spacing: Spacing
    }
  /** A trace, request by request. */
  | {
      readonly kind: 'replay'
      readonly path: string
      /** Null to recognise it by its fields. */
      readonly format: TraceFormat | null
      /** Null to read it from the format and the rows. */
      readonly unit: TraceUnit | null
      /** Names of the columns of a trace in the format `columns`. */
      readonly columns: TraceColumns | null
      /** 10 replays an hour in six minutes. */
      readonly speed: number
      /**
       * Null to send each request at its recorded time. Else it waits for the answer before it, and then for the recorded
       * gap, but not longer than `capUs`.
       */
      readonly gaps: { readonly capUs: number | null } | null
      /** Users that do one session after the other, in the order of the trace; null to start each at its recorded time. */
      readonly users: number | null
    }

export const parts = ['warmup', 'steady', 'drain'] as const

export interface Phase {
  readonly name: string
  readonly part: (typeof parts)[number]
  readonly load: Load
  /** Null if the load decides its end: a replay, a sweep, a number of requests. */
  readonly durationUs: number | null
  /** Most requests; null for no bound. */
  readonly maxRequests: number | null
  /** Names of the steps that it draws from; empty for all. Of a phase of tasks, the steps of their turns. */
  readonly steps: readonly string[]
  /** Names of the tasks that it draws from; absent in a phase of requests. */
  readonly tasks?: readonly string[]
  /** How many of its first tasks begin in their middle; absent for none. */
  readonly middle?: number | 'by load'
}
