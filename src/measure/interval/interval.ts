/** An estimate and bounds of the true value, with 95 % confidence. Null: no bound on that side can be trusted. */
export interface Interval {
  readonly value: number
  readonly low: number | null
  readonly high: number | null
  /** How many independent requests the estimate is worth. */
  readonly worth: number
  /** How many standard errors half of the interval is. */
  readonly t: number
}
