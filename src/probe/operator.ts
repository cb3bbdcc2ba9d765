/** Actions of a deployment's owner for questions that need an exact balance, or a clock that skips a minute. */
export interface Operator {
  /** Sets the balance of the account of the first key. */
  setBalance(credits: number): Promise<void>
  /** Moves the service's clock forward, in microseconds of its own time. */
  advance(us: number): Promise<void>
}
