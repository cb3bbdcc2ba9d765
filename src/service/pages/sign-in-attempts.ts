import type { Clock } from '../clock.ts'

/** Wrong passwords of one account from one address before the next has to wait. */
const mostFailures = 5
/** How long they count, in service time, from the first on. */
const windowUs = 15 * 60e6
/** Beyond it the oldest are forgotten. */
const mostKept = 10_000

/**
 * Slows the guessing of passwords: a few tries for each account and address, then a wait. The
 * address counts too, so that somebody who guesses does not lock the owner out.
 */
export class SignInAttempts {
  readonly #clock: Clock
  readonly #failures = new Map<string, { count: number; readonly untilUs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Takes a try before its password is looked at, so that tries side by side count too.
   *
   * @returns seconds to wait before another is let in; 0 when this one is
   */
  take(account: string, address: string): number {
    const name = nameOf(account, address)
    const nowUs = this.#clock.nowUs()
    let known = this.#failures.get(name)
    if (known === undefined || known.untilUs <= nowUs) {
      this.#failures.delete(name)
      if (this.#failures.size >= mostKept) {
        this.#failures.delete(this.#failures.keys().next().value ?? '')
      }
      known = { count: 0, untilUs: nowUs + windowUs }
      this.#failures.set(name, known)
    }
    if (known.count >= mostFailures) return Math.ceil((known.untilUs - nowUs) / 1e6)
    known.count++
    return 0
  }

  /** The password was right: the tries before it are forgotten. */
  succeeded(account: string, address: string): void {
    this.#failures.delete(nameOf(account, address))
  }
}

function nameOf(account: string, address: string): string {
  return JSON.stringify([account.trim().toLowerCase().slice(0, 200), address])
}
