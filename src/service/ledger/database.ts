import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { UserError } from '../../user/user-error.ts'
import { Checkpointer } from './checkpointer.ts'

/**
 * What a committed write survives. `process`: the end of the process at any moment (`kill -9`),
 * not the loss of power. `power`: that too, for one fsync per commit.
 */
export type Durability = 'process' | 'power'

/**
 * One SQLite file in WAL mode, held by this process alone.
 *
 * Writes gather in a transaction that is committed at the end of the event loop's turn; they are
 * acknowledged in `afterCommit`. What a client has received is therefore in the file,
 * and one commit serves all requests of a turn.
 */
export class Database {
  /** How many services had this file before. */
  readonly startsBefore: number
  readonly #sql: DatabaseSync
  readonly #beginning: StatementSync
  readonly #committing: StatementSync
  readonly #beforeCommit: (() => void)[] = []
  #waiting: (() => void)[] = []
  /** Held as long as the file is: two services on one would overdraw. */
  readonly #lock: DatabaseSync | null
  readonly #lockPath: string
  readonly #checkpointer: Checkpointer | null
  #open = false
  #closed = false

  /** @param path a file, or `:memory:` */
  constructor(path: string, durability: Durability) {
    const inMemory = path === ':memory:'
    // Of the file itself: another name for it must meet the same lock.
    this.#lockPath = `${existsSync(path) ? realpathSync(path) : path}-lock`
    try {
      this.#lock = inMemory ? null : locked(this.#lockPath)
    } catch (error) {
      throw unusable(path, error)
    }
    let sql: DatabaseSync | null = null
    try {
      // Each charge names an account and a key that were just looked up: not looked up again.
      sql = new DatabaseSync(path, { enableForeignKeyConstraints: false })
      this.#sql = sql
      this.startsBefore = makeTables(sql)
      // The checkpointer brings the log in long before it has 64 MiB; if not, a commit does.
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

  /** For reading; sees what is not committed yet. */
  get sql(): DatabaseSync {
    return this.#sql
  }

  /** For writing: opens the turn's transaction when it is not open yet. */
  write(): DatabaseSync {
    if (!this.#open) {
      this.#beginning.run()
      this.#open = true
      setImmediate(() => this.#commit())
    }
    return this.#sql
  }

  /** The latest moment that the file tells of; 0 for a new one. */
  latestUs(): number {
    const found = this.#sql.prepare(
      `SELECT max(coalesce((SELECT max(at_us) FROM entries), 0),
         coalesce((SELECT max(created_us) FROM accounts), 0),
         coalesce((SELECT max(max(created_us, coalesce(revoked_us, 0))) FROM api_keys), 0)) AS us`,
    )
    return Number(found.get()?.us)
  }

  /** Calls back before each commit: the place to write what a turn has added up. */
  beforeCommit(callback: () => void): void {
    this.#beforeCommit.push(callback)
  }

  /** Calls back when everything written so far is committed; at once when nothing is open. */
  afterCommit(callback: () => void): void {
    if (this.#open) this.#waiting.push(callback)
    else callback()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#commit()
    this.#closed = true
    // The last to close brings in what is left of the log, and removes it.
    await this.#checkpointer?.close()
    this.#sql.close()
    this.#unlock()
  }

  #unlock(): void {
    if (this.#lock === null) return
    // Gone before it is let go of, so that nobody takes a lock that others do not see.
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
 * A file of nothing but its lock, which the system lets go of when the process ends in any way.
 *
 * @throws when another process holds it
 */
function locked(path: string): DatabaseSync {
  const file = new DatabaseSync(path)
  file.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  return file
}

function unusable(path: string, error: unknown): UserError {
  const came = error instanceof Error ? error.message : String(error)
  return new UserError(
    'service',
    `--data: expected a SQLite file that no other service holds; got "${path}": ${came}`,
  )
}

/**
 * The end of the service: what it holds in memory is ahead of the file, and nobody who waits for the
 * commit may be told of it.
 */
function unwritable(error: unknown): UserError {
  const came = error instanceof Error ? error.message : String(error)
  return new UserError(
    'service',
    `The ledger cannot be written: ${came}. No request that is missing from it was acknowledged; restart the service once it can be written.`,
  )
}

/**
 * Makes the tables that are not there yet: all of them or, by the end of the connection, none.
 *
 * @returns how often it was called for this file before, which the file's `user_version` counts
 * @throws for a database of another program, which is left as it was
 */
function makeTables(sql: DatabaseSync): number {
  const schema = readFileSync(
    new URL('../../../src/service/ledger/schema.sql', import.meta.url),
    'utf8',
  )
  const rows = sql.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const names = rows.map(({ name }) => String(name))
  if (names.length > 0 && !names.some((name) => schema.includes(`IF NOT EXISTS ${name} (`))) {
    throw new Error(`no ledger of ours, but a database with ${names.slice(0, 5).join(', ')}`)
  }
  sql.exec(`BEGIN IMMEDIATE; ${schema}`)
  // A table of theirs by a name of ours has not what ours have.
  sql.prepare(
    `SELECT accounts.balance, api_keys.hash, lots.remaining, entries.balance_after
       FROM accounts, api_keys, lots, entries`,
  )
  const counted = Number(sql.prepare('PRAGMA user_version').get()?.user_version)
  // A file with tables had a service, also one that did not count yet.
  const before = names.length === 0 ? 0 : Math.max(1, counted)
  sql.exec(`PRAGMA user_version = ${before + 1}; COMMIT`)
  return before
}
