import type { Clock } from '../clock.ts'
import { CustomerError } from '../customers.ts'

/** How long failures count, in service time, from the first on. */
const windowUs = 15 * 60e6
/** Beyond it the oldest are forgotten. */
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
 * Slows guessing: a few tries from each address, then a wait. Where a try is for an account, each
 * account has its own, so that somebody who guesses locks no owner out from elsewhere.
 */
export class Tries {
  readonly #clock: Clock
  readonly #most: number
  readonly #failures: string
  readonly #known = new Map<string, { count: number; readonly untilUs: number }>()

  /** @param failures what is counted, for a person */
  constructor(clock: Clock, most: number, failures: string) {
    this.#clock = clock
    this.#most = most
    this.#failures = failures
  }

  /**
   * Takes a try before anybody looks at it, so that tries side by side count too.
   *
   * @param account empty where a try is for none
   * @throws TooManyTries when this one has to wait
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

  /** The last try was none that counts. */
  giveBack(address: string, account = ''): void {
    const known = this.#known.get(nameOf(address, account))
    if (known !== undefined && known.count > 0) known.count--
  }

  /** The try was right: those before it are forgotten. */
  succeeded(address: string, account = ''): void {
    this.#known.delete(nameOf(address, account))
  }
}

/** What is guarded against guessing, each by a limit of its own. */
export class Guards {
  /** By account and address. */
  readonly passwords: Tries
  readonly keys: Tries
  readonly invites: Tries

  constructor(clock: Clock) {
    this.passwords = new Tries(clock, 5, 'wrong passwords for this account')
    // A right one forgets nothing here: the holder of one could guess others for ever.
    this.keys = new Tries(clock, 20, 'wrong keys')
    this.invites = new Tries(clock, 20, 'wrong invite codes')
  }
}

function nameOf(address: string, account: string): string {
  return JSON.stringify([account.trim().toLowerCase().slice(0, 200), address])
}
