import type { Credits } from '../contract/contract.ts'
import type { Kit } from './behaviour.ts'
import type { MovableClock } from './clock.ts'
import { makeSecret } from './keys.ts'
import { type Random, seededRandom } from './random.ts'

export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

/** Microseconds after 2255 are no longer whole numbers to JavaScript; a lifetime of that is kept. */
const lastUs = Date.UTC(2200, 0, 1) * 1000

/** What its owner may do to a running service: open accounts, move balances, move the clock. */
export class Operator {
  readonly #kit: Kit
  readonly #clock: MovableClock | null
  readonly #secrets: Random | null

  constructor(kit: Kit, clock: MovableClock | null, seed: number | null) {
    this.#kit = kit
    this.#clock = clock
    this.#secrets = seed === null ? null : seededRandom(seed + 1)
  }

  /**
   * An account with a balance of its own choosing; gives its number. One of that name that is in
   * the data already is kept as it is.
   */
  openAccount(name: string, balance: Credits): number {
    const { accounts, ledger } = this.#kit
    // Drawn for a known account too, so that the keys that follow are those of the last start.
    const inviteCode = makeSecret('', 10, this.#secrets)
    const known = accounts.byName(name)
    if (known !== null) return known.id
    const account = accounts.add(name, inviteCode)
    if (balance !== 0) ledger.move(account, balance, 'grant', 'opening balance')
    return account
  }

  /** A new key of the account; with a seed, after a restart, the one that it had. */
  issueKey(account: number, name: string): string {
    const { accounts } = this.#kit
    const key = makeSecret('sk-svc-', 40, this.#secrets)
    const known = accounts.findKey(key)
    if (known === null) accounts.addKey(account, name, key)
    else if (known.accountId !== account || known.revokedUs !== null)
      return this.issueKey(account, name)
    return key
  }

  /** False for a key that the account does not have, or that was revoked before. */
  revokeKey(account: number, key: string): boolean {
    const known = this.#kit.accounts.findKey(key)
    return known !== null && this.#kit.accounts.revokeKey(account, known.id)
  }

  accountNamed(name: string): number | null {
    return this.#kit.accounts.byName(name)?.id ?? null
  }

  hasAccount(account: number): boolean {
    return this.#kit.accounts.byId(account) !== null
  }

  /** Whose key it is; null for one that was never issued, or was revoked. */
  accountOf(key: string): number | null {
    const known = this.#kit.accounts.findKey(key)
    return known === null || known.revokedUs !== null ? null : known.accountId
  }

  accounts(): readonly {
    readonly account: number
    readonly name: string
    readonly balance: Credits
  }[] {
    return this.#kit.accounts
      .all()
      .map(({ id, name }) => ({ account: id, name, balance: this.balance(id) }))
  }

  balance(account: number): Credits {
    return this.#kit.ledger.balance(account).balance
  }

  setBalance(account: number, balance: Credits): void {
    const { ledger } = this.#kit
    const now = ledger.balance(account).balance
    if (balance !== now) ledger.move(account, balance - now, 'adjustment', 'set by the operator')
  }

  topUp(account: number, credits: Credits): void {
    this.#kit.ledger.move(account, credits, 'purchase', 'top-up by the operator')
  }

  /** The service's own time, in epoch microseconds. */
  nowUs(): number {
    return this.#kit.clock.nowUs()
  }

  /** Moves the service's clock forward. */
  advance(us: number): void {
    if (this.#clock === null) throw new OperatorError('the clock of this service cannot be moved')
    if (!(us >= 0))
      throw new OperatorError(`expected microseconds to move by, at least 0; got ${us}`)
    const nowUs = this.#clock.nowUs()
    if (!(nowUs + us <= lastUs)) {
      throw new OperatorError(
        `expected a move to no later than ${new Date(lastUs / 1000).toISOString()}; it is ` +
          `${new Date(nowUs / 1000).toISOString()}, and ${us / 1e6} seconds were asked for`,
      )
    }
    this.#clock.advance(Math.round(us))
  }
}
