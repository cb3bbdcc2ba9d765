import type { StatementSync } from 'node:sqlite'
import type { Credits } from '../../contract/contract.ts'
import { onceForEach } from '../../user/once.ts'
import type { Clock } from '../clock.ts'
import type { Database } from './database.ts'
import { Lots } from './lots.ts'

export interface Balance {
  /** Spendable, including the held credits. */
  readonly balance: Credits
  /** Reserved by requests in progress. */
  readonly held: Credits
}

export type EntryKind = 'charge' | 'refund' | 'grant' | 'purchase' | 'expiry' | 'adjustment'

/** The recorded details of a charge. */
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
  /** The ledger entry of the charge. */
  readonly entry: number
  readonly before: Credits
  readonly after: Credits
}

/** What moves a balance, as its entry has it. */
interface Move {
  readonly atUs: number
  readonly kind: EntryKind
  readonly credits: Credits
  readonly note: string | null
  readonly charge: ChargeNote | null
}

/** The columns of an entry, whose values are bound in this order: names in SQLite would take 6 microseconds more. */
const entryColumns = [
  ...(['account_id', 'id', 'at_us', 'credits', 'balance_after', 'kind', 'note'] as const),
  ...(['key_id', 'request_id', 'endpoint', 'model', 'stream'] as const),
  ...(['prompt_tokens', 'completion_tokens'] as const),
]
type EntryColumn = (typeof entryColumns)[number]

/** An account's balance and its held credits. Held credits do not survive a restart. */
interface State {
  balance: Credits
  held: Credits
  /** Charged in this turn of the event loop and not yet deducted in the file. */
  charged: Credits
  nextExpiryUs: number | null
}

/**
 * Credits: reserved, charged, refunded, granted, expired. Every move makes an entry.
 *
 * No interleaving can overdraw. Held credits count as spent for all other requests. A check and its
 * act happen in one turn of the event loop. One statement, guarded by the balance, deducts
 * everything that an account was charged in a turn, in the same transaction as the entries.
 */
export class Ledger {
  readonly #database: Database
  readonly #clock: Clock
  readonly #lots: Lots
  readonly #charge: StatementSync
  readonly #move: StatementSync
  readonly #enter: StatementSync
  readonly #noteTokens: StatementSync
  readonly #load: StatementSync
  readonly #last: StatementSync
  #entries: number
  #chargedAccounts: number[] = []

  constructor(database: Database, clock: Clock, burnOrder: 'expiry' | 'purchase') {
    this.#database = database
    this.#clock = clock
    this.#lots = new Lots(database, burnOrder)
    const { sql } = database
    this.#charge = sql.prepare(
      'UPDATE accounts SET balance = balance - ? WHERE id = ? AND balance >= ?',
    )
    this.#move = sql.prepare('UPDATE accounts SET balance = balance + ? WHERE id = ?')
    this.#enter = sql.prepare(
      `INSERT INTO entries (${entryColumns.join(', ')}) VALUES (${entryColumns.map(() => '?').join(', ')})`,
    )
    this.#noteTokens = sql.prepare(
      'UPDATE entries SET prompt_tokens = ?, completion_tokens = ? WHERE account_id = ? AND id = ?',
    )
    this.#entries = Number(sql.prepare('SELECT max(id) AS last FROM entries').get()?.last ?? 0)
    database.beforeCommit(() => this.#deductCharged())
    this.#load = sql.prepare('SELECT balance FROM accounts WHERE id = ?')
    this.#last = sql.prepare(
      'SELECT id, at_us FROM entries WHERE account_id = ? ORDER BY id DESC LIMIT 1',
    )
  }

  balance(accountId: number): Balance {
    return this.#current(accountId, this.#clock.nowUs())
  }

  /** Changes exactly when the account gets another entry. */
  lastEntry(accountId: number): number {
    return Number(this.#last.get(accountId)?.id ?? 0)
  }

  /**
   * Reserves credits for a request.
   *
   * @returns the free credits afterwards; null if there were too few
   */
  reserve(accountId: number, credits: Credits): Credits | null {
    const state = this.#current(accountId, this.#clock.nowUs())
    const free = state.balance - state.held - credits
    if (free < 0) return null
    state.held += credits
    return free
  }

  release(accountId: number, credits: Credits): void {
    const state = this.#state(accountId)
    state.held = Math.max(0, state.held - credits)
  }

  /**
   * Deducts credits, of which `reserved` are held. Null if the credits are missing: the part that was
   * not held, or credits that an operator removed. The held credits are released in either case.
   */
  charge(accountId: number, credits: Credits, reserved: Credits, note: ChargeNote): Charged | null {
    const nowUs = this.#clock.nowUs()
    const state = this.#current(accountId, nowUs)
    const free = state.balance - state.held
    state.held = Math.max(0, state.held - reserved)
    if (free < credits - reserved) return null
    this.#database.write()
    if (state.charged === 0) this.#chargedAccounts.push(accountId)
    state.charged += credits
    state.balance -= credits
    const entered = {
      atUs: nowUs,
      kind: 'charge',
      credits: -credits,
      note: null,
      charge: note,
    } as const
    return this.#entered(accountId, state, entered)
  }

  /** Completes the entry of a request that was charged at its start. */
  noteTokens(
    accountId: number,
    entry: number,
    { promptTokens, completionTokens }: ChargeNote,
  ): void {
    this.#database.write()
    this.#noteTokens.run(promptTokens, completionTokens, accountId, entry)
  }

  /**
   * Changes a balance by any amount, without a guard: operators and faults may ask for any balance.
   * Incoming credits form a lot of their own, which may expire. A refund returns to the lots of the
   * charge.
   */
  move(
    accountId: number,
    credits: Credits,
    kind: EntryKind,
    note: string,
    more: { readonly expiresUs?: number | null; readonly charge?: ChargeNote } = {},
  ): Charged {
    const nowUs = this.#clock.nowUs()
    const state = this.#current(accountId, nowUs)
    this.#database.write()
    this.#deductCharged()
    const comesIn = credits > 0 && kind !== 'refund'
    if (comesIn) this.#lots.add(accountId, note, credits, nowUs, more.expiresUs ?? null, state)
    this.#move.run(credits, accountId)
    state.balance += credits
    if (kind === 'refund') this.#lots.settle(accountId, nowUs, state)
    if (credits > 0) state.nextExpiryUs = this.#lots.nextExpiryUs(accountId)
    const { charge = null } = more
    return this.#entered(accountId, state, { atUs: nowUs, kind, credits, note, charge })
  }

  /** Incoming credits that are left now. */
  lotsOf(accountId: number): ReturnType<Lots['of']> {
    const nowUs = this.#clock.nowUs()
    const state = this.#current(accountId, nowUs)
    this.#database.write()
    return this.#lots.of(accountId, nowUs, state)
  }

  #deductCharged(): void {
    for (const accountId of this.#chargedAccounts) {
      const state = this.#state(accountId)
      const { changes } = this.#charge.run(state.charged, accountId, state.charged)
      if (changes !== 1) throw new Error(`account ${accountId} cannot pay ${state.charged} credits`)
      state.charged = 0
    }
    this.#chargedAccounts = []
  }

  readonly #state = onceForEach((accountId: number): State => {
    const row = this.#load.get(accountId)
    const nextExpiryUs = this.#lots.nextExpiryUs(accountId)
    return { balance: Number(row?.balance ?? 0), held: 0, charged: 0, nextExpiryUs }
  })

  /** The state without the credits that have expired by now. */
  #current(accountId: number, nowUs: number): State {
    const state = this.#state(accountId)
    if (state.nextExpiryUs === null || state.nextExpiryUs > nowUs) return state
    this.#database.write()
    for (const { credits, source, expiresUs } of this.#lots.expire(accountId, nowUs, state)) {
      this.#move.run(-credits, accountId)
      state.balance -= credits
      // Recorded at the time of expiry, or later if a request held the credits.
      const atUs = Math.max(expiresUs, Number(this.#last.get(accountId)?.at_us ?? 0))
      const entered = {
        atUs,
        kind: 'expiry',
        credits: -credits,
        note: source,
        charge: null,
      } as const
      this.#entered(accountId, state, entered)
    }
    state.nextExpiryUs = this.#lots.nextExpiryUs(accountId)
    return state
  }

  /** Records a move that `state` has in its balance already. */
  #entered(accountId: number, { balance: after }: State, move: Move): Charged {
    const { atUs, credits, kind, note, charge } = move
    const entry = ++this.#entries
    const columns: Record<EntryColumn, string | number | null> = {
      account_id: accountId,
      id: entry,
      at_us: atUs,
      credits,
      balance_after: after,
      kind,
      note,
      key_id: charge?.keyId ?? null,
      request_id: charge?.requestId ?? null,
      endpoint: charge?.endpoint ?? null,
      model: charge?.model ?? null,
      stream: charge === null ? null : charge.stream ? 1 : 0,
      prompt_tokens: charge?.promptTokens ?? null,
      completion_tokens: charge?.completionTokens ?? null,
    }
    this.#enter.run(...entryColumns.map((name) => columns[name]))
    return { entry, before: after - credits, after }
  }
}
