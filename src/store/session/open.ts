import { existsSync } from 'node:fs'
import type { DuckDBValue } from '@duckdb/node-api'
import { measureViews } from '../../measure/views.ts'
import { userError } from '../../user/user-error.ts'
import { recover } from '../attempts/recover.ts'
import { protectStore } from '../files/output.ts'
import { lastFoursTable } from '../import/last-fours.ts'
import { runShardsSql } from '../runs/run-shards.ts'
import { makeEmptyStore, measuresSql, placeEmptyStore, storeVersion } from './empty-store.ts'
import { openFile } from './file.ts'
import { openSession } from './open-session.ts'
import { inSession, type Session, type SessionScope, type SqlRow } from './session.ts'

/**
 * An open store. Only one process can hold its file; in this process, all stores of one file share it.
 */
export interface Store {
  /** File, or `:memory:`. */
  readonly path: string
  /** A connection for one operation. It must be closed. */
  session(scope?: SessionScope): Promise<Session>
  /** All rows of one query, in a session of its own. Parameters are `$1`, `$2` …. */
  rows<Row = SqlRow>(sql: string, parameters?: readonly DuckDBValue[]): Promise<readonly Row[]>
  /** Runs statements in a session of their own. */
  execute(sql: string, parameters?: readonly DuckDBValue[]): Promise<void>
  /** @throws UserError `store-busy` while an operation uses the store: await it, or end it by its signal, first */
  close(): void
  /** Closes it in any case, and ends what uses it: its queries fail, and what is not written yet is lost. */
  end(): void
}

/**
 * Opens an existing store. Commands that only read must not leave an empty file behind.
 *
 * @throws UserError when there is none, and as `openStore` does
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * console.log(await store.rows('SELECT count(*) AS attempts FROM attempts'))
 * store.close()
 */
export const openExistingStore = (path: string): Promise<Store> =>
  openStore(path, { create: false })

const missing = (path: string) =>
  userError.store(
    `There is no store at ${path}. Record a run first (assay run <scenario> --db ${path}), or name another with --db.`,
  )

export interface OpenOptions {
  /** Whether a missing file is made. Default: true. A reader says false, so that a typing error leaves no file. */
  readonly create?: boolean
  /** Who has the file alone in this process, for errors: "a run". Absent: all stores of the file share it. */
  readonly alone?: string
}

/**
 * Opens a store; creates it and its tables if they are missing.
 *
 * @param path file, or `:memory:`
 * @throws UserError when another process holds the file, or when it is of another version or another program
 * @example
 * const store = await openStore('assay.duckdb')
 * const runs = await store.rows('SELECT run_id FROM runs')
 * console.log(runs.length)
 * store.close()
 */
export async function openStore(
  path: string,
  { create = true, alone }: OpenOptions = {},
): Promise<Store> {
  if (create) placeEmptyStore(path)
  else if (!existsSync(path)) throw missing(path)
  const file = await openFile(path, { alone, isRead: !create })
  const unprotect = path === ':memory:' ? () => {} : protectStore(path)
  const sessions = new Set<Session>()
  let opening = 0
  let isClosed = false
  const store: Store = {
    path,
    async session(scope) {
      if (isClosed) throw userError.store(`The store ${path} is closed.`)
      opening++
      try {
        const session: Session = await openSession(path, file, scope, () =>
          sessions.delete(session),
        )
        sessions.add(session)
        if (isClosed) session.close()
        return session
      } finally {
        opening--
      }
    },
    rows: (sql, parameters) => inSession(store, {}, (session) => session.rows(sql, parameters)),
    execute: (sql, parameters) =>
      inSession(store, {}, (session) => session.execute(sql, parameters)),
    close() {
      if (isClosed) return
      const uses = sessions.size + opening
      if (uses > 0) {
        throw userError['store-busy'](
          `The store ${path} cannot be closed: ${uses === 1 ? 'an operation uses' : `${uses} operations use`} it. Await what you started, or abort its signal, and close the store then.`,
        )
      }
      store.end()
    },
    end() {
      if (isClosed) return
      isClosed = true
      for (const session of sessions) session.close()
      file.release()
      unprotect()
    },
  }
  try {
    await file.prepared(() => inSession(store, {}, prepare))
  } catch (error) {
    store.close()
    throw error
  }
  return store
}

async function prepare(session: Session): Promise<void> {
  const version = await versionOf(session)
  if (version === null && (await isEmpty(session))) await makeEmptyStore(session)
  else {
    checkVersion(session, version)
    await session.execute(`${runShardsSql};${lastFoursTable}`)
    await defineMeasures(session)
  }
  await recover(session)
}

/** @throws UserError for a file of another program */
async function isEmpty(session: Session): Promise<boolean> {
  const tables = await session.rows<{ name: string }>(
    'SELECT table_name AS name FROM duckdb_tables() ORDER BY name',
  )
  if (tables.length === 0) return true
  if (tables.some(({ name }) => name === 'store_version')) return false
  const some = tables.slice(0, 3).map(({ name }) => name)
  throw userError.store(
    `${session.path} is not an Assay store: it has tables of another program (${some.join(', ')}). Use another --db.`,
  )
}

/** Null if it has no table of versions; a list of all tables takes ten times as long. */
async function versionOf(session: Session): Promise<number | 'unknown' | null> {
  try {
    const [found] = await session.rows<{ version: number }>('SELECT version FROM store_version')
    return found?.version ?? 'unknown'
  } catch (error) {
    if (/does not exist/.test(String(error))) return null
    throw error
  }
}

/** @throws UserError for a store of another version */
function checkVersion(session: Session, version: number | 'unknown' | null): void {
  if (version === storeVersion) return
  throw userError.store(
    `${session.path} is a store of version ${version ?? 'unknown'}; this Assay reads version ${storeVersion}. Use another --db, or the Assay that wrote it.`,
  )
}

/** Replaces the views of measures with those of this build if they differ. */
async function defineMeasures(session: Session): Promise<void> {
  const [known] = await session.rows<{ comment: string | null }>(
    `SELECT comment FROM duckdb_views() WHERE view_name = 'attempt_measures'`,
  )
  if (known?.comment === measureViews.digest) return
  await session.execute(`BEGIN; ${measuresSql}; COMMIT`)
}
