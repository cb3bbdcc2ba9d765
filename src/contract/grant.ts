/** Credits of one grant, which share an expiry. */
export interface Grant {
  readonly name: string
  readonly credits: number
  /** Null never expires. */
  readonly expiresUs: number | null
}
