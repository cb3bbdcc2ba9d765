import { hash } from 'node:crypto'
import type { SQLOutputValue } from 'node:sqlite'
import type { Clock } from '../clock.ts'
import type { Database } from './database.ts'

export interface ApiKey {
  readonly id: number
  readonly accountId: number
  readonly name: string
  /** The last four characters of the key. */
  readonly hint: string
  readonly createdUs: number
  readonly revokedUs: number | null
}

const maxRecent = 10_000

export interface Account {
  readonly id: number
  readonly name: string
  readonly createdUs: number
  readonly inviteCode: string
  readonly invitedBy: number | null
  readonly passwordHash: string | null
}

/** Accounts and their keys. A key is stored as its SHA-256 and shown once. */
export class Accounts {
  readonly #database: Database
  readonly #clock: Clock
  readonly #statements
  /** Recent keys, so that each is hashed once. A revocation clears it. */
  readonly #recent = new Map<string, ApiKey>()

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
    const { sql } = database
    this.#statements = {
      add: sql.prepare(
        `INSERT INTO accounts (name, created_us, invite_code, password_hash)
         VALUES (?, ?, ?, ?)`,
      ),
      byId: sql.prepare('SELECT * FROM accounts WHERE id = ?'),
      all: sql.prepare('SELECT * FROM accounts ORDER BY id'),
      byName: sql.prepare('SELECT * FROM accounts WHERE name = ?'),
      setInviter: sql.prepare('UPDATE accounts SET invited_by = ? WHERE id = ?'),
      countPayment: sql.prepare(
        'UPDATE accounts SET payments = payments + 1 WHERE id = ? RETURNING payments - 1 AS before',
      ),
      byInvite: sql.prepare('SELECT * FROM accounts WHERE invite_code = ?'),
      addKey: sql.prepare(
        'INSERT INTO api_keys (account_id, name, hash, hint, created_us) VALUES (?, ?, ?, ?, ?)',
      ),
      findKey: sql.prepare('SELECT * FROM api_keys WHERE hash = ?'),
      keysOf: sql.prepare('SELECT * FROM api_keys WHERE account_id = ? ORDER BY id'),
      revokeKey: sql.prepare(
        'UPDATE api_keys SET revoked_us = ? WHERE id = ? AND account_id = ? AND revoked_us IS NULL',
      ),
    }
  }

  add(
    name: string,
    inviteCode: string,
    { passwordHash = null }: { readonly passwordHash?: string | null } = {},
  ): number {
    this.#database.write()
    const nowUs = this.#clock.nowUs()
    const { add } = this.#statements
    return Number(add.run(name, nowUs, inviteCode, passwordHash).lastInsertRowid)
  }

  byId(id: number): Account | null {
    return accountOf(this.#statements.byId.get(id))
  }

  all(): readonly Account[] {
    return this.#statements.all.all().flatMap((row) => accountOf(row) ?? [])
  }

  byName(name: string): Account | null {
    return accountOf(this.#statements.byName.get(name))
  }

  byInviteCode(code: string): Account | null {
    return accountOf(this.#statements.byInvite.get(code))
  }

  setInviter(id: number, inviter: number): void {
    this.#database.write()
    this.#statements.setInviter.run(inviter, id)
  }

  /** Counts a payment. Returns the number of payments before it. */
  countPayment(id: number): number {
    this.#database.write()
    return Number(this.#statements.countPayment.get(id)?.before ?? 0)
  }

  addKey(accountId: number, name: string, key: string): ApiKey {
    this.#database.write()
    const createdUs = this.#clock.nowUs()
    const hint = key.slice(-4)
    const { addKey } = this.#statements
    const id = Number(
      addKey.run(accountId, name, hash('sha256', key), hint, createdUs).lastInsertRowid,
    )
    return { id, accountId, name, hint, createdUs, revokedUs: null }
  }

  /** The key's record, even if it is revoked; null if it was never issued. */
  findKey(key: string): ApiKey | null {
    const known = this.#recent.get(key)
    if (known !== undefined) return known
    const row = this.#statements.findKey.get(hash('sha256', key))
    if (row === undefined) return null
    const found = keyOf(row)
    if (this.#recent.size >= maxRecent) this.#recent.clear()
    this.#recent.set(key, found)
    return found
  }

  keysOf(accountId: number): readonly ApiKey[] {
    return this.#statements.keysOf.all(accountId).map(keyOf)
  }

  /** False if the account has no such key or it was revoked before. */
  revokeKey(accountId: number, keyId: number): boolean {
    this.#database.write()
    this.#recent.clear()
    return this.#statements.revokeKey.run(this.#clock.nowUs(), keyId, accountId).changes > 0
  }
}

type Row = Record<string, SQLOutputValue>

function accountOf(row: Row | undefined): Account | null {
  if (row === undefined) return null
  return {
    id: Number(row.id),
    name: String(row.name),
    createdUs: Number(row.created_us),
    inviteCode: String(row.invite_code),
    invitedBy: row.invited_by === null ? null : Number(row.invited_by),
    passwordHash: row.password_hash === null ? null : String(row.password_hash),
  }
}

function keyOf(row: Row): ApiKey {
  return {
    id: Number(row.id),
    accountId: Number(row.account_id),
    name: String(row.name),
    hint: String(row.hint),
    createdUs: Number(row.created_us),
    revokedUs: row.revoked_us === null ? null : Number(row.revoked_us),
  }
}
