/**
 * Credits that a probe may spend. A request is spent when it is sent and given back only when it
 * surely cost nothing, so that the bound holds whatever happens to what is in flight.
 */
export class Budget {
  private bound: number
  private reserved = 0
  private balanceAtStart: number | null = null
  private seenSpent = 0
  private balanceLeft = Number.POSITIVE_INFINITY

  constructor(maxCredits: number) {
    this.bound = maxCredits
  }

  /** Lowers the bound to what was told to be the most: it is never raised. */
  promise(credits: number): void {
    this.bound = Math.min(this.bound, credits)
  }

  /** Credits that may be gone: what we count, or what the balance shows where that is more. */
  get spent(): number {
    return Math.max(this.reserved, this.seenSpent)
  }

  /** Of the bound. */
  get left(): number {
    return this.bound - this.spent
  }

  /** What is surely in the account still; infinite while that is not known. */
  get held(): number {
    return this.balanceLeft
  }

  /** @throws BudgetError when the request might pass the bound */
  reserve(credits: number): void {
    if (credits > this.left) {
      throw new BudgetError(`would cost ${credits} credits, and ${this.left} are left`)
    }
    this.reserved += credits
    this.seenSpent += credits
    this.balanceLeft -= credits
  }

  giveBack(credits: number): void {
    this.reserved -= credits
    this.seenSpent -= credits
    this.balanceLeft += credits
  }

  /** A read of the balance while nothing is in flight: it may have fallen by more than we count. */
  observe(balance: number): void {
    this.balanceAtStart ??= balance + this.reserved
    this.seenSpent = Math.max(this.reserved, this.balanceAtStart - balance)
    this.balanceLeft = balance
  }

  /** The balance was changed by an operator: what it was says nothing any more. */
  forgetBalance(): void {
    this.balanceAtStart = null
    this.seenSpent = this.reserved
    this.balanceLeft = Number.POSITIVE_INFINITY
  }
}

export class BudgetError extends Error {
  override readonly name = 'BudgetError'
}
