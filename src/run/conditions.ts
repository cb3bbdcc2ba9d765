/** Promises of conditions that are looked at again whenever something happened. */
export class Conditions {
  private waiting: { readonly holds: () => boolean; readonly go: () => void }[] = []
  private failure: Error | null = null

  /** Resolves when the condition holds; rejects once anything has failed. */
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

  /** Rejects what waits, and what will; the first failure is the one that is told. */
  fail(error: Error): void {
    this.failure ??= error
    this.check()
  }
}
