import type { Credits } from '../contract/contract.ts'
import type { Kit } from './behaviour.ts'
import type { MovableClock } from './clock.ts'
import { makeSecret } from './keys.ts'
import { type Random, seededRandom } from './random.ts'

export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

/** From 2255 on, microseconds are not exact integers in JavaScript. The margin is for lifetimes. */
const lastUs = Date.UTC(2200, 0, 1) * 1000

/** What the owner of a running service can do: open accounts, set balances, move the clock. */
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
   * Opens an account with a chosen balance and returns its number. An existing account of that name
   * stays as it is.
   */
  openAccount(name: string, balance: Credits): number {
    const { accounts, ledger } = this.#kit
    // Drawn for an existing account too, so that the following keys equal those of the last start.
    const inviteCode = makeSecret('', 10, this.#secrets)
    const known = accounts.byName(name)
    if (known !== null) return known.id
    const account = accounts.add(name, inviteCode)
    if (balance !== 0) ledger.move(account, balance, 'grant', 'opening balance')
    return account
  }

  /** Issues a key of the account. With a seed, a restarted service issues the same keys. */
  issueKey(account: number, name: string): string {
    const { accounts } = this.#kit
    const key = makeSecret('sk-svc-', 40, this.#secrets)
    const known = accounts.findKey(key)
    if (known === null) accounts.addKey(account, name, key)
    else if (known.accountId !== account || known.revokedUs !== null)
      return this.issueKey(account, name)
    return key
  }

  /** False if the account has no such key or it was revoked before. */
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

  /** The account of a key; null if the key was never issued or is revoked. */
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

  /** The service's time in epoch microseconds. */
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
        `expected a move to ${new Date(lastUs / 1000).toISOString()} at the latest; got ` +
          `${us / 1e6} seconds from ${new Date(nowUs / 1000).toISOString()}`,
      )
    }
    this.#clock.advance(Math.round(us))
  }
}
