import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type UserError, userError } from '../../user/user-error.ts'
import { Checkpointer } from './checkpointer.ts'

/**
 * What a committed write survives. `process`: an end of the process at any moment (`kill -9`), but
 * no power loss. `power`: a power loss too, for one fsync per commit.
 */
export type Durability = 'process' | 'power'

/**
 * One SQLite file in WAL mode, used by this process only.
 *
 * Writes of one turn of the event loop share a transaction, which is committed at its end.
 * `afterCommit` acknowledges them. So everything that a client has received is in the file, and one
 * commit serves all requests of a turn.
 */
export class Database {
  /** How many services have used this file before. */
  readonly startsBefore: number
  readonly #sql: DatabaseSync
  readonly #beginning: StatementSync
  readonly #committing: StatementSync
  readonly #beforeCommit: (() => void)[] = []
  #waiting: (() => void)[] = []
  /** Held while the file is open: two services on one file would overdraw. */
  readonly #lock: DatabaseSync | null
  readonly #lockPath: string
  readonly #checkpointer: Checkpointer | null
  #open = false
  #closed = false

  /** @param path a file, or `:memory:` */
  constructor(path: string, durability: Durability) {
    const inMemory = path === ':memory:'
    // The lock belongs to the real file, so that another name for it meets the same lock.
    this.#lockPath = `${existsSync(path) ? realpathSync(path) : path}-lock`
    try {
      this.#lock = inMemory ? null : locked(this.#lockPath)
    } catch (error) {
      throw unusable(path, error)
    }
    let sql: DatabaseSync | null = null
    try {
      // Each charge names an account and a key that were just looked up, so the check is redundant.
      sql = new DatabaseSync(path, { enableForeignKeyConstraints: false })
      this.#sql = sql
      this.startsBefore = makeTables(sql)
      // The checkpointer acts long before the log has 64 MiB. If it fails, a commit does its work.
      sql.exec(`
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'};
        PRAGMA wal_autocheckpoint = 16384;
      `)
      this.#beginning = this.#sql.prepare('BEGIN IMMEDIATE')
      this.#committing = this.#sql.prepare('COMMIT')
      this.#checkpointer = inMemory ? null : new Checkpointer(path)
    } catch (error) {
      sql?.close()
      this.#unlock()
      throw unusable(path, error)
    }
  }

  /** For reading. Sees writes that are not committed yet. */
  get sql(): DatabaseSync {
    return this.#sql
  }

  /** For writing. Opens the turn's transaction if it is not open. */
  write(): DatabaseSync {
    if (!this.#open) {
      this.#beginning.run()
      this.#open = true
      setImmediate(() => this.#commit())
    }
    return this.#sql
  }

  /** The latest time in the file; 0 if the file is new. */
  latestUs(): number {
    const found = this.#sql.prepare(
      `SELECT max(coalesce((SELECT max(at_us) FROM entries), 0),
         coalesce((SELECT max(created_us) FROM accounts), 0),
         coalesce((SELECT max(max(created_us, coalesce(revoked_us, 0))) FROM api_keys), 0)) AS us`,
    )
    return Number(found.get()?.us)
  }

  /** Calls back before each commit, to write what a turn has added up. */
  beforeCommit(callback: () => void): void {
    this.#beforeCommit.push(callback)
  }

  /** Calls back once all writes so far are committed; at once if none is open. */
  afterCommit(callback: () => void): void {
    if (this.#open) this.#waiting.push(callback)
    else callback()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#commit()
    this.#closed = true
    // The last connection to close writes the rest of the log and removes it.
    await this.#checkpointer?.close()
    this.#sql.close()
    this.#unlock()
  }

  #unlock(): void {
    if (this.#lock === null) return
    // Removed before it is unlocked, so that nobody locks a file that others no longer see.
    rmSync(this.#lockPath, { force: true })
    this.#lock.close()
  }

  #commit(): void {
    if (!this.#open) return
    try {
      for (const callback of this.#beforeCommit) callback()
      this.#committing.run()
    } catch (error) {
      throw unwritable(error)
    }
    this.#open = false
    this.#checkpointer?.committed()
    const waiting = this.#waiting
    this.#waiting = []
    for (const callback of waiting) callback()
  }
}

/**
 * A file for a lock only. The system releases the lock when the process ends in any way.
 *
 * @throws if another process holds the lock
 */
function locked(path: string): DatabaseSync {
  const file = new DatabaseSync(path)
  file.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  return file
}

function unusable(path: string, error: unknown): UserError {
  const reason = error instanceof Error ? error.message : String(error)
  return userError.service(
    `--data: expected a SQLite file that no other service holds; got "${path}": ${reason}`,
  )
}

/**
 * The error that ends the service. Its memory is ahead of the file, so nothing that waits for the
 * commit may be acknowledged.
 */
function unwritable(error: unknown): UserError {
  const reason = error instanceof Error ? error.message : String(error)
  return userError.service(
    `The ledger cannot be written: ${reason}. No request that is missing from it was acknowledged; restart the service once it can be written.`,
  )
}

/**
 * Makes the missing tables: all of them, or none if the connection ends before.
 *
 * @returns the number of earlier calls for this file, from its `user_version`
 * @throws for a database of another program, which stays unchanged
 */
function makeTables(sql: DatabaseSync): number {
  const schema = readFileSync(
    new URL('../../../src/service/ledger/schema.sql', import.meta.url),
    'utf8',
  )
  const rows = sql.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const names = rows.map(({ name }) => String(name))
  if (names.length > 0 && !names.some((name) => schema.includes(`IF NOT EXISTS ${name} (`))) {
    throw new Error(`a database of another program, with tables ${names.slice(0, 5).join(', ')}`)
  }
  sql.exec(`BEGIN IMMEDIATE; ${schema}`)
  // Another program's table can have a name of ours, but not our columns.
  sql.prepare(
    `SELECT accounts.balance, api_keys.hash, lots.remaining, entries.balance_after
       FROM accounts, api_keys, lots, entries`,
  )
  const counted = Number(sql.prepare('PRAGMA user_version').get()?.user_version)
  // A file with tables had a service, even if that version did not count.
  const before = names.length === 0 ? 0 : Math.max(1, counted)
  sql.exec(`PRAGMA user_version = ${before + 1}; COMMIT`)
  return before
}
