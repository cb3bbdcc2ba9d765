import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DuckDBAppender, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api'
import { measureViews } from '../measure/measures.ts'
import { UserError } from '../user/user-error.ts'
import { attemptTablesSql } from './attempt-tables.ts'
import { readDoubles } from './doubles.ts'
import { protectStore } from './output.ts'
import { recover } from './recover.ts'
import { runShardsSql } from './run-shards.ts'

const schemaUrl = new URL('../../src/store/schema.sql', import.meta.url)

/** Increases with each change of a table. A file of another version is refused. */
const storeVersion = 2

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

/** An open DuckDB file. Only one process can hold it; during a run this is the recorder. */
export interface Store {
  readonly path: string
  /** All rows of a query. Parameters are `$1`, `$2` … and never part of the SQL text. */
  rows<Row = SqlRow>(sql: string, parameters?: readonly DuckDBValue[]): Promise<readonly Row[]>
  /**
   * A query's result as columns of doubles, NaN for null. A million rows fit in memory. Every column of the query must
   * be of type DOUBLE.
   */
  doubles(sql: string, parameters?: readonly DuckDBValue[]): Promise<readonly Float64Array[]>
  /** Runs statements without a result. */
  execute(sql: string, parameters?: readonly DuckDBValue[]): Promise<void>
  /** An appender of a table, for code of this room. It blocks its thread on every call. */
  createAppender(table: string): Promise<DuckDBAppender>
  /** Limits every query to attempts that meet an SQL condition; null lifts the limit. */
  showOnly(condition: string | null): Promise<void>
  /** Ends the running query with an error. */
  interrupt(): void
  close(): void
}

/**
 * Opens an existing store. Commands that only read must not leave an empty file behind.
 *
 * @throws UserError when there is none, and as `openStore` does
 */
export async function openExistingStore(path: string): Promise<Store> {
  if (!existsSync(path)) {
    throw new UserError(
      'store',
      `There is no store at ${path}. Record a run first (assay run <scenario> --db ${path}), or name another with --db.`,
    )
  }
  return openStore(path)
}

/**
 * Opens a store; creates it and its tables if they are missing.
 *
 * @param path file, or `:memory:`
 * @throws UserError when another process holds the file, or when it is of another version or another program
 */
export async function openStore(path: string): Promise<Store> {
  const instance = await DuckDBInstance.create(path, {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  }).catch((error: unknown) => {
    throw openFailure(path, String(error))
  })
  const connection = await instance.connect()
  const release = path === ':memory:' ? () => {} : protectStore(path)
  /** SQL for the temporary view that hides the view `attempts`. Each connection needs its own. */
  let narrowed: string | null = null
  const store: Store = {
    path,
    async rows<Row>(sql: string, parameters: readonly DuckDBValue[] = []) {
      const reader = await connection.runAndReadAll(sql, [...parameters])
      return reader.getRowObjectsJS().map(narrowRow) as unknown as readonly Row[]
    },
    async doubles(sql, parameters = []) {
      // The next query on a connection ends a result that is still being streamed, so this one has its own.
      const own = await instance.connect()
      try {
        if (narrowed !== null) await own.run(narrowed)
        return await readDoubles(await own.stream(sql, [...parameters]))
      } finally {
        own.closeSync()
      }
    },
    async execute(sql, parameters = []) {
      if (parameters.length > 0) await connection.run(sql, [...parameters])
      else await connection.run(sql)
    },
    async showOnly(condition) {
      const [row] = await store.rows<{ name: string }>('SELECT current_database() AS name')
      const all = `"${row!.name.replaceAll('"', '""')}".main.attempts`
      narrowed =
        condition === null
          ? null
          : `CREATE OR REPLACE TEMP VIEW attempts AS SELECT attempts.* FROM ${all} WHERE ${condition}`
      await connection.run(narrowed ?? 'DROP VIEW IF EXISTS temp.attempts')
    },
    createAppender: (table) => connection.createAppender(table),
    interrupt: () => connection.interrupt(),
    close() {
      release()
      connection.closeSync()
      instance.closeSync()
    },
  }
  try {
    await prepareTables(store)
    await store.execute(runShardsSql)
    await defineMeasures(store)
    await recover(store)
  } catch (error) {
    store.close()
    throw error
  }
  return store
}

async function prepareTables(store: Store): Promise<void> {
  const tables = await store.rows<{ name: string }>(
    'SELECT table_name AS name FROM duckdb_tables() ORDER BY name',
  )
  if (!tables.some(({ name }) => name === 'store_version')) {
    if (tables.length > 0) {
      const some = tables.slice(0, 3).map(({ name }) => name)
      throw new UserError(
        'store',
        `${store.path} is not an Assay store: it has tables of another program (${some.join(', ')}). Use another --db.`,
      )
    }
    // All or nothing: half a store would look like a file of another program.
    await store.execute(
      `BEGIN; ${attemptTablesSql()}; ${readFileSync(schemaUrl, 'utf8')};
       INSERT INTO store_version VALUES (${storeVersion}); COMMIT`,
    )
    return
  }
  const [found] = await store.rows<{ version: number }>('SELECT version FROM store_version')
  if (found?.version !== storeVersion) {
    throw new UserError(
      'store',
      `${store.path} is a store of version ${found?.version ?? 'unknown'}; this Assay reads version ${storeVersion}. Use another --db, or the Assay that wrote it.`,
    )
  }
}

/** Replaces the views of measures with those of this build if they differ. */
async function defineMeasures(store: Store): Promise<void> {
  const { sql, digest } = measureViews
  const [known] = await store.rows<{ comment: string | null }>(
    `SELECT comment FROM duckdb_views() WHERE view_name = 'attempt_measures'`,
  )
  if (known?.comment === digest) return
  await store.execute(`BEGIN; ${sql} COMMENT ON VIEW attempt_measures IS '${digest}'; COMMIT`)
}

function openFailure(path: string, error: string): UserError {
  // Not `lock` alone: messages about a damaged block contain it, too.
  if (/\b(?:set|conflicting) lock\b/i.test(error)) {
    return new UserError(
      'store-held',
      `${path} is held by another process (a run, an audit or a DuckDB client). Close it, or use another --db.`,
    )
  }
  if (/not a valid DuckDB database/i.test(error)) {
    return new UserError('store', `${path} is not a DuckDB file. Use another --db.`)
  }
  if (/No such file or directory/i.test(error)) {
    return new UserError(
      'store',
      `${path} cannot be opened: there is no folder ${dirname(path)}. Make it, or use another --db.`,
    )
  }
  return new UserError(
    'store',
    `${path} cannot be opened: ${error.split('\n')[0]!.replace(/^Error: /, '')}`,
  )
}

function narrowRow(row: Record<string, unknown>): Record<string, Cell> {
  for (const name in row) row[name] = narrow(row[name])
  return row as Record<string, Cell>
}

/** Turns bigint into number where that is exact. */
function narrow(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  return Array.isArray(value) ? value.map(narrow) : value
}
