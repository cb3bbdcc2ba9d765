import type { StatementSync } from 'node:sqlite'
import type { Credits } from '../../contract/contract.ts'
import type { Database } from './database.ts'

/** Credits that came in together. */
export interface Lot {
  readonly source: string
  readonly credits: Credits
  readonly remaining: Credits
  readonly createdUs: number
  /** Null if the credits never expire. */
  readonly expiresUs: number | null
}

export interface Expired {
  readonly credits: Credits
  readonly source: string
  readonly expiresUs: number
}

/**
 * The order in which credits burn, and when they expire. A charge changes the balance alone, not the lots: what was burnt
 * since the lots were last written is their sum minus the balance. It is taken from them, in the order of burning, before
 * they are read or change. A new lot or an expiry changes that order, so it is written first:
 *
 *     lots 30 + 50 = 80, balance 60      20 are burnt: the first lot has 10 left
 *     a grant of 40                      10 + 50 + 40 = 100, the new balance
 *
 * What was paid back since they were written goes to the lots that were burnt last, as far as they are not expired.
 */
export class Lots {
  readonly #add: StatementSync
  readonly #set: StatementSync
  readonly #open: StatementSync
  readonly #burnt: StatementSync
  readonly #expired: StatementSync
  readonly #nextExpiry: StatementSync

  constructor({ sql }: Database, burnOrder: 'expiry' | 'purchase') {
    const byExpiry = burnOrder === 'expiry' ? ['expires_us IS NULL', 'expires_us'] : []
    const order = [...byExpiry, 'created_us', 'id']
    this.#add = sql.prepare(
      `INSERT INTO lots (account_id, source, credits, remaining, created_us, expires_us)
       VALUES (?, ?, ?, ?, ?, ?)`,
    )
    this.#set = sql.prepare('UPDATE lots SET remaining = ? WHERE id = ?')
    this.#open = sql.prepare(
      `SELECT * FROM lots WHERE account_id = ? AND remaining > 0 ORDER BY ${order.join(', ')}`,
    )
    this.#burnt = sql.prepare(
      `SELECT * FROM lots WHERE account_id = ? AND remaining < credits
         AND (expires_us IS NULL OR expires_us > ?) ORDER BY ${order.map((each) => `${each} DESC`).join(', ')}`,
    )
    this.#expired = sql.prepare(
      `SELECT id, source, remaining, expires_us FROM lots
       WHERE account_id = ? AND remaining > 0 AND expires_us <= ? ORDER BY expires_us, id`,
    )
    this.#nextExpiry = sql.prepare(
      'SELECT min(expires_us) AS at_us FROM lots WHERE account_id = ? AND remaining > 0',
    )
  }

  /** @param state the balance before the lot is added to it */
  add(
    accountId: number,
    source: string,
    credits: Credits,
    nowUs: number,
    expiresUs: number | null,
    state: { readonly balance: Credits },
  ): void {
    this.settle(accountId, nowUs, state)
    this.#add.run(accountId, source, credits, credits, nowUs, expiresUs)
  }

  /** Expires what is due. Credits held by requests stay until those end. */
  expire(
    accountId: number,
    nowUs: number,
    state: { readonly balance: Credits; readonly held: Credits },
  ): readonly Expired[] {
    this.settle(accountId, nowUs, state)
    let free = state.balance - state.held
    const expired: Expired[] = []
    for (const lot of this.#expired.all(accountId, nowUs)) {
      const credits = Math.min(Number(lot.remaining), free)
      if (credits <= 0) continue
      free -= credits
      this.#set.run(Number(lot.remaining) - credits, lot.id!)
      expired.push({ credits, source: String(lot.source), expiresUs: Number(lot.expires_us) })
    }
    return expired
  }

  nextExpiryUs(accountId: number): number | null {
    const atUs = this.#nextExpiry.get(accountId)?.at_us ?? null
    return atUs === null ? null : Number(atUs)
  }

  /** The lots with credits left, in the order of burning. */
  of(accountId: number, nowUs: number, state: { readonly balance: Credits }): readonly Lot[] {
    this.settle(accountId, nowUs, state)
    return this.#open.all(accountId).map((lot) => ({
      source: String(lot.source),
      credits: Number(lot.credits),
      remaining: Number(lot.remaining),
      createdUs: Number(lot.created_us),
      expiresUs: lot.expires_us === null ? null : Number(lot.expires_us),
    }))
  }

  /** Takes what was burnt from the lots, and gives back what was paid back. */
  settle(accountId: number, nowUs: number, { balance }: { readonly balance: Credits }): void {
    const lots = this.#open.all(accountId)
    let burnt = lots.reduce((sum, lot) => sum + Number(lot.remaining), 0) - balance
    for (const lot of burnt < 0 ? this.#burnt.all(accountId, nowUs) : lots) {
      if (burnt === 0) break
      const [remaining, credits] = [Number(lot.remaining), Number(lot.credits)]
      const taken = burnt > 0 ? Math.min(burnt, remaining) : -Math.min(-burnt, credits - remaining)
      burnt -= taken
      this.#set.run(remaining - taken, lot.id!)
    }
  }
}
