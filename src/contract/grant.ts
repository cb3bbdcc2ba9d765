/** Credits that were granted together. */
export interface Grant {
  readonly name: string
  readonly credits: number
  /** Null never expires. */
  readonly expiresUs: number | null
}
