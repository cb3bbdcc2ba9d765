import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import type { Credits } from '../../contract/contract.ts'
import type { Clock } from '../clock.ts'

/**
 * What a charge survives. `process`: the end of the process at any moment (`kill -9`), not the
 * loss of power. `power`: that too, for one fsync per commit.
 */
export type Durability = 'process' | 'power'

export interface ApiKey {
  readonly id: number
  readonly accountId: number
  readonly name: string
  readonly hint: string
  readonly createdUs: number
  readonly revokedUs: number | null
}

export interface Balance {
  /** Spendable, including what is held. */
  readonly balance: Credits
  readonly held: Credits
}

export type EntryKind = 'charge' | 'refund' | 'grant' | 'purchase' | 'expiry' | 'adjustment'

/** What is written down about a charge. */
export interface ChargeNote {
  readonly keyId: number
  readonly requestId: string
  readonly endpoint: string
  readonly model: string
  readonly stream: boolean
  readonly promptTokens: number
  readonly completionTokens: number
}

export interface Charged {
  readonly before: Credits
  readonly after: Credits
  readonly held: Credits
}

export interface LedgerOptions {
  /** A file, or `:memory:`. */
  readonly path: string
  readonly durability: Durability
  readonly burnOrder: 'expiry' | 'purchase'
  readonly clock: Clock
}

/**
 * Accounts, keys, credits. One statement reserves or charges, guarded by the balance, so that no
 * interleaving can overdraw.
 *
 * Writes gather in a transaction that is committed at the end of the event loop's turn; whoever
 * acknowledges a charge does so in `afterCommit`. A charge that a client has seen is therefore in
 * the file, and one commit serves all requests of a turn.
 */
export class Ledger {
  readonly db: DatabaseSync
  readonly #clock: Clock
  readonly #statements
  readonly #burnOrder: string
  #waiting: (() => void)[] = []
  #inTransaction = false
  #closed = false
  readonly #keys = new Map<string, ApiKey>()

  constructor({ path, durability, burnOrder, clock }: LedgerOptions) {
    this.db = new DatabaseSync(path)
    this.#clock = clock
    this.db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'};
      PRAGMA foreign_keys = OFF;
      PRAGMA busy_timeout = 5000;
    `)
    this.db.exec(
      readFileSync(new URL('../../../src/service/ledger/schema.sql', import.meta.url), 'utf8'),
    )
    // Whatever was in flight when the process ended never completed, so nothing is owed for it.
    this.db.exec('UPDATE accounts SET held = 0 WHERE held <> 0')
    this.#burnOrder =
      burnOrder === 'expiry' ? 'expires_us IS NULL, expires_us, created_us, id' : 'created_us, id'
    this.#statements = prepareAll(this.db)
  }

  /**
   * Reserves credits for a request.
   *
   * @returns what is free afterwards; null when what was free did not suffice
   */
  reserve(accountId: number, credits: Credits): Credits | null {
    this.#begin()
    const nowUs = this.#clock.nowUs()
    const { reserve } = this.#statements
    const attempt = () => reserve.get(credits, accountId, credits, nowUs)
    const row = attempt() ?? (this.#expire(accountId, nowUs) ? attempt() : undefined)
    return row === undefined ? null : Number(row.free)
  }

  /** Gives reserved credits back. */
  release(accountId: number, credits: Credits): void {
    this.#begin()
    this.#statements.release.run(credits, accountId)
  }

  /** Deducts credits that were reserved, or, with `reserved` 0, charges what is free at once. */
  charge(accountId: number, credits: Credits, reserved: Credits, note: ChargeNote): Charged | null {
    this.#begin()
    const nowUs = this.#clock.nowUs()
    const { charge } = this.#statements
    const attempt = () =>
      charge.get(credits, reserved, accountId, credits, reserved, nowUs, reserved)
    const row = attempt() ?? (this.#expire(accountId, nowUs) ? attempt() : undefined)
    if (row === undefined) return null
    const after = Number(row.balance)
    this.#enter(accountId, nowUs, 'charge', -credits, after, null, note)
    return { before: after + credits, after, held: Number(row.held) }
  }

  /** Completes the entry of a request that was charged at its start. */
  noteTokens({ requestId, promptTokens, completionTokens }: ChargeNote): void {
    this.#begin()
    this.#statements.noteTokens.run(promptTokens, completionTokens, requestId)
  }

  /**
   * Moves a balance by any amount, down to where an operator or a fault wants it: no guard here.
   * Credits that come in make a lot of their own, which may expire; a refund goes back to where
   * the charge came from.
   */
  move(
    accountId: number,
    credits: Credits,
    kind: EntryKind,
    note: string,
    {
      expiresUs = null,
      charge = null,
    }: { expiresUs?: number | null; charge?: ChargeNote | null } = {},
  ): Charged {
    this.#begin()
    const nowUs = this.#clock.nowUs()
    this.#expire(accountId, nowUs)
    const comesIn = credits > 0 && kind !== 'refund'
    if (comesIn) {
      this.#shareOutBurnt(accountId)
      this.#statements.addLot.run(accountId, note, credits, credits, nowUs, expiresUs)
    }
    const row = this.#statements.move.get(credits, accountId)
    const after = Number(row?.balance ?? 0)
    if (comesIn) this.#noteNextExpiry(accountId)
    this.#enter(accountId, nowUs, kind, credits, after, note, charge)
    return { before: after - credits, after, held: Number(row?.held ?? 0) }
  }

  balance(accountId: number): Balance {
    const nowUs = this.#clock.nowUs()
    const row = this.#statements.balance.get(accountId)
    if (row === undefined) return { balance: 0, held: 0 }
    if (row.next_expiry_us !== null && Number(row.next_expiry_us) <= nowUs) {
      this.#begin()
      if (this.#expire(accountId, nowUs)) return this.balanceNow(accountId)
    }
    return { balance: Number(row.balance), held: Number(row.held) }
  }

  balanceNow(accountId: number): Balance {
    const row = this.#statements.balance.get(accountId)
    return { balance: Number(row?.balance ?? 0), held: Number(row?.held ?? 0) }
  }

  createAccount(name: string, inviteCode: string, invitedBy: number | null = null): number {
    this.#begin()
    const created = this.#statements.addAccount.run(
      name,
      this.#clock.nowUs(),
      inviteCode,
      invitedBy,
    )
    return Number(created.lastInsertRowid)
  }

  findAccount(name: string): number | null {
    const row = this.db.prepare('SELECT id FROM accounts WHERE name = ?').get(name)
    return row === undefined ? null : Number(row.id)
  }

  addKey(accountId: number, name: string, key: string): ApiKey {
    this.#begin()
    const createdUs = this.#clock.nowUs()
    const hint = key.slice(-4)
    const created = this.#statements.addKey.run(accountId, name, hashOf(key), hint, createdUs)
    const id = Number(created.lastInsertRowid)
    return { id, accountId, name, hint, createdUs, revokedUs: null }
  }

  /** The key's record, revoked or not; null for one that was never issued. */
  findKey(key: string): ApiKey | null {
    const hash = hashOf(key)
    const known = this.#keys.get(hash)
    if (known !== undefined) return known
    const row = this.#statements.findKey.get(hash)
    if (row === undefined) return null
    const found = keyOfRow(row)
    this.#keys.set(hash, found)
    return found
  }

  keysOf(accountId: number): readonly ApiKey[] {
    return this.#statements.keysOf.all(accountId).map(keyOfRow)
  }

  /** False when the account has no such key, or it was revoked before. */
  revokeKey(accountId: number, keyId: number): boolean {
    this.#begin()
    this.#keys.clear()
    return this.#statements.revokeKey.run(this.#clock.nowUs(), keyId, accountId).changes > 0
  }

  /** Calls back when everything written so far is committed; at once when nothing is open. */
  afterCommit(callback: () => void): void {
    if (this.#inTransaction) this.#waiting.push(callback)
    else callback()
  }

  /** Runs statements of another file inside the turn's transaction. */
  write(): DatabaseSync {
    this.#begin()
    return this.db
  }

  close(): void {
    if (this.#closed) return
    this.#commit()
    this.#closed = true
    this.db.close()
  }

  #begin(): void {
    if (this.#inTransaction) return
    this.db.exec('BEGIN IMMEDIATE')
    this.#inTransaction = true
    setImmediate(() => this.#commit())
  }

  #commit(): void {
    if (!this.#inTransaction) return
    this.db.exec('COMMIT')
    this.#inTransaction = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const callback of waiting) callback()
  }

  #enter(
    accountId: number,
    atUs: number,
    kind: EntryKind,
    credits: Credits,
    after: Credits,
    note: string | null,
    charge: ChargeNote | null,
  ): void {
    this.#statements.enter.run(
      accountId,
      atUs,
      kind,
      credits,
      after - credits,
      after,
      note,
      charge?.keyId ?? null,
      charge?.requestId ?? null,
      charge?.endpoint ?? null,
      charge?.model ?? null,
      charge === null ? null : charge.stream ? 1 : 0,
      charge?.promptTokens ?? null,
      charge?.completionTokens ?? null,
    )
  }

  /** Takes out what has expired; what a request in flight holds stays until it is done. */
  #expire(accountId: number, nowUs: number): boolean {
    const row = this.#statements.balance.get(accountId)
    if (row === undefined || row.next_expiry_us === null || Number(row.next_expiry_us) > nowUs) {
      return false
    }
    this.#shareOutBurnt(accountId)
    let free = Number(row.balance) - Number(row.held)
    for (const lot of this.#statements.expiredLots.all(accountId, nowUs)) {
      const credits = Math.min(Number(lot.remaining), free)
      if (credits <= 0) continue
      free -= credits
      this.#statements.setLot.run(Number(lot.remaining) - credits, lot.id!)
      const after = Number(this.#statements.move.get(-credits, accountId)?.balance ?? 0)
      this.#enter(accountId, nowUs, 'expiry', -credits, after, String(lot.source), null)
    }
    this.#noteNextExpiry(accountId)
    return true
  }

  /** Brings `remaining` of each lot up to date with what was burnt since lots last changed. */
  #shareOutBurnt(accountId: number): void {
    const lots = this.db
      .prepare(
        `SELECT id, remaining FROM lots WHERE account_id = ? AND remaining > 0
         ORDER BY ${this.#burnOrder}`,
      )
      .all(accountId)
    const { balance } = this.balanceNow(accountId)
    let burnt = lots.reduce((sum, lot) => sum + Number(lot.remaining), 0) - balance
    for (const lot of lots) {
      if (burnt <= 0) break
      const taken = Math.min(burnt, Number(lot.remaining))
      burnt -= taken
      this.#statements.setLot.run(Number(lot.remaining) - taken, lot.id!)
    }
  }

  /** What expires when, as of now. */
  lotsOf(accountId: number): readonly {
    readonly source: string
    readonly credits: Credits
    readonly remaining: Credits
    readonly createdUs: number
    readonly expiresUs: number | null
  }[] {
    this.#begin()
    this.#expire(accountId, this.#clock.nowUs())
    this.#shareOutBurnt(accountId)
    return this.#statements.lots.all(accountId).map((lot) => ({
      source: String(lot.source),
      credits: Number(lot.credits),
      remaining: Number(lot.remaining),
      createdUs: Number(lot.created_us),
      expiresUs: lot.expires_us === null ? null : Number(lot.expires_us),
    }))
  }

  #noteNextExpiry(accountId: number): void {
    this.#statements.noteNextExpiry.run(accountId, accountId)
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

function keyOfRow(row: Record<string, SQLOutputValue>): ApiKey {
  return {
    id: Number(row.id),
    accountId: Number(row.account_id),
    name: String(row.name),
    hint: String(row.hint),
    createdUs: Number(row.created_us),
    revokedUs: row.revoked_us === null ? null : Number(row.revoked_us),
  }
}

function prepareAll(db: DatabaseSync) {
  return {
    reserve: db.prepare(
      `UPDATE accounts SET held = held + ?
       WHERE id = ? AND balance - held >= ? AND coalesce(next_expiry_us > ?, 1)
       RETURNING balance - held AS free`,
    ),
    release: db.prepare('UPDATE accounts SET held = max(0, held - ?) WHERE id = ?'),
    charge: db.prepare(
      `UPDATE accounts SET balance = balance - ?, held = max(0, held - ?)
       WHERE id = ? AND balance - held >= ? - ? AND (coalesce(next_expiry_us > ?, 1) OR ? > 0)
       RETURNING balance, held`,
    ),
    move: db.prepare(
      'UPDATE accounts SET balance = balance + ? WHERE id = ? RETURNING balance, held',
    ),
    balance: db.prepare('SELECT balance, held, next_expiry_us FROM accounts WHERE id = ?'),
    addAccount: db.prepare(
      'INSERT INTO accounts (name, created_us, invite_code, invited_by) VALUES (?, ?, ?, ?)',
    ),
    addKey: db.prepare(
      'INSERT INTO api_keys (account_id, name, hash, hint, created_us) VALUES (?, ?, ?, ?, ?)',
    ),
    findKey: db.prepare('SELECT * FROM api_keys WHERE hash = ?'),
    keysOf: db.prepare('SELECT * FROM api_keys WHERE account_id = ? ORDER BY id'),
    revokeKey: db.prepare(
      'UPDATE api_keys SET revoked_us = ? WHERE id = ? AND account_id = ? AND revoked_us IS NULL',
    ),
    addLot: db.prepare(
      `INSERT INTO lots (account_id, source, credits, remaining, created_us, expires_us)
       VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    setLot: db.prepare('UPDATE lots SET remaining = ? WHERE id = ?'),
    lots: db.prepare(
      `SELECT * FROM lots WHERE account_id = ? AND remaining > 0
       ORDER BY expires_us IS NULL, expires_us, id`,
    ),
    expiredLots: db.prepare(
      'SELECT id, source, remaining FROM lots WHERE account_id = ? AND remaining > 0 AND expires_us <= ?',
    ),
    noteTokens: db.prepare(
      'UPDATE entries SET prompt_tokens = ?, completion_tokens = ? WHERE request_id = ?',
    ),
    noteNextExpiry: db.prepare(
      `UPDATE accounts SET next_expiry_us =
         (SELECT min(expires_us) FROM lots WHERE account_id = ? AND remaining > 0)
       WHERE id = ?`,
    ),
    enter: db.prepare(
      `INSERT INTO entries (account_id, at_us, kind, credits, balance_before, balance_after, note,
         key_id, request_id, endpoint, model, stream, prompt_tokens, completion_tokens)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
  }
}
