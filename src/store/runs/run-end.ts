/** How far a run is evidence, by its own tests: better ones first. Stored in `runs.verdict`. */
export const validities = ['valid', 'degraded', 'invalid'] as const

export type Validity = (typeof validities)[number]

/** What is known at the end of a run. */
export interface RunEnd {
  readonly endedUs: number
  readonly attemptCountsJson: string
  readonly verdict: Validity
  readonly verdictJson: string
}
