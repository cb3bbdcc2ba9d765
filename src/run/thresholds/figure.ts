import type { Contract } from '../../contract/contract.ts'
import type { Rational } from '../../money/rational.ts'
import type { Objectives } from '../../scenario/scenario.ts'
import type { Threshold } from '../../scenario/threshold.ts'

export interface ThresholdScope {
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
  /** Share of the samples at or below the bound; null if it does not matter. */
  readonly within: number | null
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
  within: null,
}

export const exactly = (value: number | null, samples: number): Figure =>
  value === null ? { ...none, samples } : { value, low: value, high: value, samples, within: null }

/** Conditions on the rows of a threshold, and their parameters. */
export function chosenRows({ phase, step }: Threshold, runId: string, named = 'step') {
  const parameters: string[] = [runId]
  const parameter = (value: string) => `$${parameters.push(value)}`
  const where = ['run_id = $1', phase === null ? `part = 'steady'` : `phase = ${parameter(phase)}`]
  if (step !== null) where.push(`${named} = ${parameter(step)}`)
  return { where, parameters }
}
