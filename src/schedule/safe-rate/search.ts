import type { BudgetName, Search } from '../../scenario/loads.ts'

/**
 * The search for the highest rate that a service sustains. It is pure: `nextTrial` (next-trial.ts) decides the next trial from the
 * results so far, and has no clock. A run and the simulations of `bench/safe-rate.ts` drive the same code.
 *
 *     warm-up ──▶ bracket ──▶ refine ──▶ confirmation ──▶ safe rate, one step below the confirmed rate
 *     one at a    doubles     halves     one long trial,
 *     time        or halves              strictly judged
 */

/** What a search may spend. Requests are those for a p95; `scaleOf` adapts them to other shares. */
export interface SearchBudget {
  /** Requests of a trial that refines the bracket. */
  readonly fine: number
  /** Requests of the confirmation: one long trial. */
  readonly hold: number
  /** Ratio of neighbouring rates at the end. */
  readonly step: number
  /** Steps below the bracket at which the confirmation starts. */
  readonly below: number
  /** Share of the allowed misses that a confirmation may use. */
  readonly use: number
}

export const budgets: Readonly<Record<BudgetName, SearchBudget>> = {
  quick: { fine: 130, hold: 800, step: 1.1, below: 0.5, use: 0.5 },
  standard: { fine: 260, hold: 2500, step: 1.04, below: 1.5, use: 0.6 },
  thorough: { fine: 1000, hold: 12_000, step: 1.02, below: 1.5, use: 0.8 },
}

export type TrialStep = 'warm-up' | JudgedStep
export type JudgedStep = 'bracket' | 'refine' | 'hold'

export interface TrialPlan {
  readonly step: TrialStep
  /** 0 in the warm-up, which sends one request at a time. */
  readonly ratePerS: number
  readonly requests: number
  /** Misses above which the trial has failed. */
  readonly mayMiss: number
  /** Most time; null for as long as its requests need. */
  readonly mostUs: number | null
  readonly budget: BudgetName
  /** Confirmations that failed before it. */
  readonly nth: number
}

/** Requests for a share are those for 95 %, times this: a p99 needs five times as many for as many misses. */
export const scaleOf = ({ goodput }: Pick<Search, 'goodput'>) => 0.05 / (1 - goodput)

/** Longest pause after a trial, unless the service asks for a longer one. */
export const mostPauseUs = 5e6

/** Whole requests, without the rounding error of a product such as 0.05 × 60. */
export const allowed = (share: number, requests: number) => Math.floor(share * requests + 1e-9)

export const stepOf = ({ precision }: Search, { step }: SearchBudget) =>
  precision === null ? step : 1 + precision
