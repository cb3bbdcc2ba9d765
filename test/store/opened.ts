import {
  type Store as OpenStore,
  openStore as open,
  openExistingStore as openExisting,
} from '../../src/store/session/open.ts'
import type { Session } from '../../src/store/session/session.ts'

/** A store with a session of it: operations take it as the store, and their parts as the session. */
export type Store = OpenStore & Session

const isDay = process.env.NIGHTLY === undefined

/**
 * By day, a store in memory has one thread of DuckDB, as commands give to a small file: handing parts of small queries to
 * others takes an eighth of the CPU of such tests. By night it has one for each core.
 */
export async function openStore(path: string): Promise<Store> {
  const store = await open(path)
  if (path === ':memory:' && isDay) await store.execute('SET threads = 1')
  return opened(store)
}
/** Stores in memory that tests have closed, which others take over. */
const idle: OpenStore[] = []

/**
 * An empty store in memory. Once closed, it is emptied for the next test, which takes a tenth of another opening. Its session ends, with
 * all temporary tables and variables. So it is for tests that make no tables, views and settings of their own in the store.
 */
export async function emptyStore(): Promise<Store> {
  const known = idle.pop()
  if (known === undefined) {
    const store = await open(':memory:')
    if (isDay) await store.execute('SET threads = 1')
    return keptOpen(store)
  }
  const tables = await known.rows<{ name: string }>(
    `SELECT table_name AS name FROM duckdb_tables() WHERE NOT temporary AND table_name <> 'store_version'`,
  )
  await known.execute(tables.map(({ name }) => `DELETE FROM ${name}`).join(';'))
  return keptOpen(known)
}

async function keptOpen(store: OpenStore): Promise<Store> {
  const session = await store.session()
  let isOpen = true
  const close = () => {
    if (!isOpen) return
    isOpen = false
    session.close()
    idle.push(store)
  }
  return { ...session, session: (scope) => store.session(scope), close, end: close }
}

/** What some work finds with an empty store in memory. */
export async function inEmptyStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = await emptyStore()
  try {
    return await work(store)
  } finally {
    store.close()
  }
}

export const openExistingStore = async (path: string) => opened(await openExisting(path))

async function opened(store: OpenStore): Promise<Store> {
  const session = await store.session()
  return {
    ...session,
    session: (scope) => store.session(scope),
    // Its own session ends with it.
    close: () => store.end(),
    end: () => store.end(),
  }
}
