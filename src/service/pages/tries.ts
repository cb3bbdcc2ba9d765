import type { Clock } from '../clock.ts'
import { CustomerError } from '../customers.ts'

/** How long failures count after the first, in service time. */
const windowUs = 15 * 60e6
/** Above this number, the oldest are dropped. */
const mostKept = 10_000

export class TooManyTries extends CustomerError {
  readonly waitS: number

  constructor(failures: string, waitS: number) {
    const minutes = Math.ceil(waitS / 60)
    super(
      `Too many ${failures} from here. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
    )
    this.waitS = waitS
  }
}

/**
 * Slows guessing: a few tries from each address, then a wait. A try for an account counts for that
 * account and address only, so a guesser elsewhere does not lock out the owner.
 */
export class Tries {
  readonly #clock: Clock
  readonly #most: number
  readonly #failures: string
  readonly #known = new Map<string, { count: number; readonly untilUs: number }>()

  /** @param failures the name of the counted failures, for people */
  constructor(clock: Clock, most: number, failures: string) {
    this.#clock = clock
    this.#most = most
    this.#failures = failures
  }

  /**
   * Counts a try before it is checked, so that simultaneous tries count too.
   *
   * @param account empty if the try is for no account
   * @throws TooManyTries if the try must wait
   */
  take(address: string, account = ''): void {
    const name = nameOf(address, account)
    const nowUs = this.#clock.nowUs()
    let known = this.#known.get(name)
    if (known === undefined || known.untilUs <= nowUs) {
      this.#known.delete(name)
      if (this.#known.size >= mostKept) this.#known.delete(this.#known.keys().next().value ?? '')
      known = { count: 0, untilUs: nowUs + windowUs }
      this.#known.set(name, known)
    }
    if (known.count >= this.#most) {
      throw new TooManyTries(this.#failures, Math.ceil((known.untilUs - nowUs) / 1e6))
    }
    known.count++
  }

  /** Removes the last try from the count. */
  giveBack(address: string, account = ''): void {
    const known = this.#known.get(nameOf(address, account))
    if (known !== undefined && known.count > 0) known.count--
  }

  /** Clears the count after a right try. */
  succeeded(address: string, account = ''): void {
    this.#known.delete(nameOf(address, account))
  }
}

/** The limits against guessing. */
export const guardsOf = (clock: Clock) => ({
  /** By account and address. */
  passwords: new Tries(clock, 5, 'wrong passwords for this account'),
  // A right key does not clear this count: its holder could otherwise guess others forever.
  keys: new Tries(clock, 20, 'wrong keys'),
  invites: new Tries(clock, 20, 'wrong invite codes'),
})

export type Guards = ReturnType<typeof guardsOf>

const nameOf = (address: string, account: string): string =>
  JSON.stringify([account.trim().toLowerCase().slice(0, 200), address])
