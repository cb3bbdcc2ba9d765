/** Credits that a probe may spend: spent when sent, and returned only if the request certainly cost nothing. */
export class ProbeBudget {
  private bound: number
  private reserved = 0
  private balanceAtStart: number | null = null
  private seenSpent = 0
  private balanceLeft = Number.POSITIVE_INFINITY

  constructor(maxCredits: number) {
    this.bound = maxCredits
  }

  /** Lowers the bound to the announced price. It is never raised. */
  promise(credits: number): void {
    this.bound = Math.min(this.bound, credits)
  }

  /** Credits that may be spent: our count, or the fall of the balance if that is larger. */
  get spent(): number {
    return Math.max(this.reserved, this.seenSpent)
  }

  /** Credits left of the bound. */
  get left(): number {
    return this.bound - this.spent
  }

  /** Credits that are certainly still in the account; infinite while unknown. */
  get held(): number {
    return this.balanceLeft
  }

  /** Credits that a question may cost: left of the bound, and certainly in the account. */
  get spendable(): number {
    return Math.min(this.left, this.held)
  }

  /** @throws BudgetError when the request might exceed the bound */
  reserve(credits: number): void {
    if (credits > this.left)
      throw new BudgetError(`would cost ${credits} credits, and ${this.left} are left`)
    this.reserved += credits
    this.seenSpent += credits
    this.balanceLeft -= credits
  }

  giveBack(credits: number): void {
    this.reserved -= credits
    this.seenSpent -= credits
    this.balanceLeft += credits
  }

  /** Notes a balance that was read while nothing was in flight. It may have fallen by more than our count. */
  observe(balance: number): void {
    this.balanceAtStart ??= balance + this.reserved
    this.seenSpent = Math.max(this.reserved, this.balanceAtStart - balance)
    this.balanceLeft = balance
  }

  /** Forgets the balance, because an operator changed it. */
  forgetBalance(): void {
    this.balanceAtStart = null
    this.seenSpent = this.reserved
    this.balanceLeft = Number.POSITIVE_INFINITY
  }
}

export class BudgetError extends Error {
  override readonly name = 'BudgetError'
}
