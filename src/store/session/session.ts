import type { DuckDBAppender, DuckDBValue } from '@duckdb/node-api'
import type { Work } from '../../user/work.ts'
import { diskFailure, memoryFailure } from './errors.ts'
import type { Writer } from './file.ts'

/** A cell. Whole numbers are numbers if exact, else bigint. TIMESTAMP is a Date. */
export type Cell =
  | string
  | number
  | bigint
  | boolean
  | null
  | Date
  | Uint8Array
  | readonly Cell[]
  | { readonly [key: string]: Cell }

export type SqlRow = Readonly<Record<string, Cell>>

/** What an operation sees of the store, and whether it writes attempts. */
export interface SessionScope {
  /** SQL condition on `attempts`: only these attempts exist for the operation. Default: all. */
  readonly only?: string
  /** Waits for its turn: one operation at a time writes attempts. A second run is refused at once. */
  readonly writes?: Writer
}

/**
 * The connection of one operation. Its variables and temporary tables belong to it alone, and end with it.
 */
export interface Session {
  /** File of the store, or `:memory:`. */
  readonly path: string
  /** All rows of a query. Parameters are `$1`, `$2` … and never part of the SQL text. */
  rows<Row = SqlRow>(sql: string, parameters?: readonly DuckDBValue[]): Promise<readonly Row[]>
  /**
   * A query's result as columns of doubles, NaN for null. A million rows fit in memory. Every column of the query must
   * be of type DOUBLE. The query reads no temporary table of the session, except for attempts at hand.
   */
  doubles(sql: string, parameters?: readonly DuckDBValue[]): Promise<readonly Float64Array[]>
  /** The same in batches of rows, in the order of the query: for results that do not fit in memory. */
  doubleBatches(
    sql: string,
    parameters: readonly DuckDBValue[],
    take: (columns: readonly Float64Array<ArrayBuffer>[]) => Promise<void> | void,
  ): Promise<void>
  /** Runs statements without a result. */
  execute(sql: string, parameters?: readonly DuckDBValue[]): Promise<void>
  /**
   * Copies the attempts of the scope into a temporary table that hides the view, if they are few: the queries that
   * follow read a table, which takes less than to plan and run its joins again for each.
   *
   * @param also `values`: the view `attempt_values`, too, for an operation that reads it more than twice
   * @returns whether they are few
   */
  takeAttemptsAtHand(also?: { readonly values?: boolean }): Promise<boolean>
  /** An appender of a table, for code of this room. It blocks its thread on every call. */
  createAppender(table: string): Promise<DuckDBAppender>
  /** Ends the running queries of this session with an error. */
  interrupt(): void
  /** Ends running queries, and the connection with the last of them. */
  close(): void
}

/** What can be asked single queries: a store, or a session. */
export type Reader = Pick<Session, 'path' | 'rows'>

/**
 * Does one operation in a session of its own. A signal interrupts its queries, and those of no other operation, and the
 * operation asks no further one. Statements still run, since they clean up.
 *
 * @throws the reason of the signal, once aborted
 * @throws UserError if the disk is full, or a query needs more memory than DuckDB may use
 */
export async function inSession<T>(
  store: { readonly path: string; session(scope?: SessionScope): Promise<Session> },
  { signal }: Pick<Work, 'signal'>,
  operation: (session: Session) => Promise<T>,
  scope: SessionScope = {},
): Promise<T> {
  signal?.throwIfAborted()
  const session = await store.session(scope)
  const interrupt = () => session.interrupt()
  signal?.addEventListener('abort', interrupt)
  try {
    signal?.throwIfAborted()
    return await operation(signal === undefined ? session : endedBy(signal, session))
  } catch (error) {
    signal?.throwIfAborted()
    throw diskFailure(store.path, error) ?? memoryFailure(store.path, error) ?? error
  } finally {
    signal?.removeEventListener('abort', interrupt)
    session.close()
  }
}

/** The session, whose queries an aborted signal refuses. */
const endedBy = (signal: AbortSignal, session: Session): Session => ({
  ...session,
  async rows<Row>(sql: string, parameters?: readonly DuckDBValue[]) {
    signal.throwIfAborted()
    return session.rows<Row>(sql, parameters)
  },
  async doubles(sql, parameters) {
    signal.throwIfAborted()
    return session.doubles(sql, parameters)
  },
  async doubleBatches(sql, parameters, take) {
    signal.throwIfAborted()
    return session.doubleBatches(sql, parameters, take)
  },
})
