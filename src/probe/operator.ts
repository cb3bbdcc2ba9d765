/**
 * What the owner of a deployment may do for a probe: some questions need a balance of an exact
 * height, or a minute that need not be waited for.
 */
export interface Operator {
  /** Sets the balance of the account of the first key. */
  setBalance(credits: number): Promise<void>
  /** Moves the service's clock forward, in microseconds of its own time. */
  advance(us: number): Promise<void>
}
