/** Promises of conditions, which `check` tests again. */
export class Conditions {
  private waiting: { readonly holds: () => boolean; readonly go: () => void }[] = []
  private failure: Error | null = null

  /** Resolves when the condition holds; rejects after `fail`. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => (this.failure === null ? resolve() : reject(this.failure))
      this.waiting.push({ holds, go })
      this.check()
    })
  }

  check(): void {
    const due = this.waiting.filter(({ holds }) => this.failure !== null || holds())
    this.waiting = this.waiting.filter((waiting) => !due.includes(waiting))
    for (const { go } of due) go()
  }

  /** Rejects all present and future promises with the first failure. */
  fail(error: Error): void {
    this.failure ??= error
    this.check()
  }
}
