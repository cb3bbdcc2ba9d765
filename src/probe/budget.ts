/**
 * Credits that a probe may spend. A request is spent when it is sent and given back only when it
 * surely cost nothing, so that the bound holds whatever happens to what is in flight.
 */
export class Budget {
  readonly maxCredits: number
  private reserved = 0
  private balanceAtStart: number | null = null
  private seenSpent = 0

  constructor(maxCredits: number) {
    this.maxCredits = maxCredits
  }

  /** Credits that may be gone: what we count, or what the balance shows where that is more. */
  get spent(): number {
    return Math.max(this.reserved, this.seenSpent)
  }

  get left(): number {
    return this.maxCredits - this.spent
  }

  /** @throws BudgetError when the request might pass the bound */
  reserve(credits: number): void {
    if (credits > this.left) {
      throw new BudgetError(`would cost ${credits} credits, and ${this.left} are left`)
    }
    this.reserved += credits
    this.seenSpent += credits
  }

  giveBack(credits: number): void {
    this.reserved -= credits
    this.seenSpent -= credits
  }

  /** A read of the balance while nothing is in flight: it may have fallen by more than we count. */
  observe(balance: number): void {
    this.balanceAtStart ??= balance + this.reserved
    this.seenSpent = Math.max(this.reserved, this.balanceAtStart - balance)
  }

  /** The balance was changed by an operator: what it was says nothing any more. */
  forgetBalance(): void {
    this.balanceAtStart = null
    this.seenSpent = this.reserved
  }
}

export class BudgetError extends Error {
  override readonly name = 'BudgetError'
}
