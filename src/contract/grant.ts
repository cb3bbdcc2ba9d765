/** Credits that were granted together. */
export interface Grant {
  readonly name: string
  readonly credits: number
  /** Null if they never expire. */
  readonly expiresUs: number | null
}
