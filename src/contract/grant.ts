/** Credits of one grant, which share an expiry. */
export interface Grant {
  readonly name: string
  readonly credits: number
  /** Null if they never expire. */
  readonly expiresUs: number | null
}
