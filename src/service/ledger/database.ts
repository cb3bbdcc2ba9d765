import { readFileSync, rmSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Checkpointer } from './checkpointer.ts'

/**
 * What a committed write survives. `process`: the end of the process at any moment (`kill -9`),
 * not the loss of power. `power`: that too, for one fsync per commit.
 */
export type Durability = 'process' | 'power'

export class DatabaseError extends Error {
  override readonly name = 'UsageError'
}

/**
 * One SQLite file in WAL mode, held by this process alone.
 *
 * Writes gather in a transaction that is committed at the end of the event loop's turn; whoever
 * acknowledges one does so in `afterCommit`. What a client has been told is therefore in the file,
 * and one commit serves all requests of a turn.
 */
export class Database {
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
    this.#lockPath = `${path}-lock`
    try {
      this.#lock = inMemory ? null : locked(this.#lockPath)
      // Each charge names an account and a key that were just looked up: not looked up again.
      this.#sql = new DatabaseSync(path, { enableForeignKeyConstraints: false })
      // The checkpointer brings the log in long before it has 64 MiB; if not, a commit does.
      this.#sql.exec(`
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'};
        PRAGMA wal_autocheckpoint = 16384;
      `)
      this.#sql.exec(
        readFileSync(new URL('../../../src/service/ledger/schema.sql', import.meta.url), 'utf8'),
      )
      this.#beginning = this.#sql.prepare('BEGIN IMMEDIATE')
      this.#committing = this.#sql.prepare('COMMIT')
      this.#checkpointer = inMemory ? null : new Checkpointer(path)
    } catch (error) {
      const came = error instanceof Error ? error.message : String(error)
      throw new DatabaseError(
        `--data: expected a SQLite file that no other service holds; got "${path}": ${came}`,
      )
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
    // Gone before it is let go of, so that nobody takes a lock that others do not see.
    rmSync(this.#lockPath, { force: true })
    this.#lock?.close()
  }

  #commit(): void {
    if (!this.#open) return
    for (const callback of this.#beforeCommit) callback()
    this.#committing.run()
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
