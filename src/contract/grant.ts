/** Credits of one grant, which share an expiry. */
export interface Grant {
  readonly name: string
  readonly credits: number
  /** Null if they never expire. */
  readonly expiresUs: number | null
  /** Grants of a lower number burn first; default: 0 for all. Of one number, the earliest expiry is first. */
  readonly rank?: number
}
