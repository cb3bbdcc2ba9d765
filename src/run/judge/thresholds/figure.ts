import type { Contract } from '../../../contract/contract.ts'
import { countedSql } from '../../../measure/standings.ts'
import type { Rational } from '../../../money/rational.ts'
import type { Objectives } from '../../../scenario/scenario.ts'
import type { Threshold } from '../../../scenario/threshold.ts'

export interface ThresholdScope {
  /** Only requests of this side of a moment, microseconds of the run's clock; absent for all. */
  readonly side?: { readonly of: 'before' | 'from'; readonly atUs: number }
  readonly runId: string
  readonly contract: Contract
  readonly objectives: Objectives
}

/** A value, and bounds of the true value. */
export interface Figure {
  readonly value: number | null
  readonly low: number
  readonly high: number
  readonly samples: number
  /** How many independent samples they are worth; null for a fact of the run, which needs no interval. */
  readonly worth: number | null
  /** The result, if the bound is so far from all samples that it needs no interval. */
  readonly far: 'held' | 'missed' | null
  /** Samples that would decide it, if it is not decided; null if no number would. */
  readonly needs: number | null
  readonly currency?: string
  /** An amount of money, which is compared instead of `value`. */
  readonly amount?: Rational
  readonly unknown?: string
}

/** Nothing was measured. */
export const none: Figure = {
  value: null,
  low: -Infinity,
  high: Infinity,
  samples: 0,
  worth: null,
  far: null,
  needs: null,
}

/** A fact of the run. */
export const exactly = (value: number | null, samples: number): Figure =>
  value === null ? { ...none, samples } : { ...none, value, low: value, high: value, samples }

/** Conditions on the rows of a threshold, and their parameters. */
export function chosenRows(
  { phase, step }: Threshold,
  { runId, side }: ThresholdScope,
  named = 'step',
) {
  const parameters: string[] = [runId]
  const parameter = (value: string) => `$${parameters.push(value)}`
  const where = ['run_id = $1']
  if (phase === null) where.push(`part = 'steady'`)
  else {
    const named = parameter(phase)
    // `warmup: auto` moves the first requests of a steady phase to another part.
    where.push(
      `phase = ${named}`,
      countedSql(
        `EXISTS (FROM request_kinds WHERE run_id = $1 AND phase = ${named} AND part = 'steady')`,
      ),
    )
  }
  if (step !== null) where.push(`${named} = ${parameter(step)}`)
  if (side !== undefined)
    where.push(`intended_us ${side.of === 'before' ? '<' : '>='} ${Math.round(side.atUs)}`)
  return { where, parameters }
}
