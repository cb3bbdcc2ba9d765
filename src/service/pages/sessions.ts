import { hash, randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Accounts } from '../ledger/accounts.ts'
import type { Database } from '../ledger/database.ts'

/** A signed-in browser. */
export interface Session {
  readonly accountId: number
  /** `account`: opened with a password, for everything. `usage`: with an API key, usage page only. */
  readonly scope: 'account' | 'usage'
  /** The secret in the cookie. */
  readonly secret: string
  /** Sent with every form of this session, so that no other site can send one. */
  readonly formToken: string
}

/** A session ends after this time without use, in service time. */
const idleUs = 90 * 86_400e6
/** Shortest time between two records of the use of a session. */
const noteEveryUs = 86_400e6

export class Sessions {
  readonly #database: Database
  readonly #accounts: Accounts
  readonly #clock: Clock
  readonly #statements

  /** The tables of `schema.sql` must exist. */
  constructor(database: Database, accounts: Accounts, clock: Clock) {
    this.#database = database
    this.#accounts = accounts
    this.#clock = clock
    const { sql } = database
    this.#statements = {
      add: sql.prepare(
        'INSERT INTO sessions (hash, account_id, scope, key_id, seen_us) VALUES (?, ?, ?, ?, ?)',
      ),
      find: sql.prepare('SELECT * FROM sessions WHERE hash = ? AND seen_us > ?'),
      see: sql.prepare('UPDATE sessions SET seen_us = ? WHERE hash = ?'),
      end: sql.prepare('DELETE FROM sessions WHERE hash = ? OR seen_us <= ?'),
    }
  }

  open(accountId: number, scope: Session['scope'], keyId: number | null = null): Session {
    const secret = randomBytes(32).toString('base64url')
    this.#database.write()
    this.#statements.add.run(digest(secret), accountId, scope, keyId, this.#clock.nowUs())
    return { accountId, scope, secret, formToken: formTokenOf(secret) }
  }

  /** Null if the session is unknown, ended or idle for too long, or its key is revoked. */
  find(secret: string): Session | null {
    const nowUs = this.#clock.nowUs()
    const row = this.#statements.find.get(digest(secret), nowUs - idleUs)
    if (row === undefined) return null
    const accountId = Number(row.account_id)
    if (row.key_id !== null) {
      const key = this.#accounts.keysOf(accountId).find(({ id }) => id === Number(row.key_id))
      if (key === undefined || key.revokedUs !== null) return null
    }
    if (nowUs - Number(row.seen_us) > noteEveryUs) {
      this.#database.write()
      this.#statements.see.run(nowUs, digest(secret))
    }
    const scope = row.scope === 'account' ? 'account' : 'usage'
    return { accountId, scope, secret, formToken: formTokenOf(secret) }
  }

  end(secret: string): void {
    this.#database.write()
    this.#statements.end.run(digest(secret), this.#clock.nowUs() - idleUs)
  }
}

const digest = (secret: string): string => hash('sha256', secret)

/** Derived from the secret, without revealing it. */
const formTokenOf = (secret: string): string => hash('sha256', `form of ${secret}`, 'base64url')
