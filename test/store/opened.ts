import {
  type Store as OpenStore,
  openStore as open,
  openExistingStore as openExisting,
} from '../../src/store/session/open.ts'
import type { Session } from '../../src/store/session/session.ts'

/** A store with a session of it: operations take it as the store, and their parts as the session. */
export type Store = OpenStore & Session

/**
 * By day, a store in memory has one thread of DuckDB, as commands give to a small file: handing parts of small queries to
 * others takes an eighth of the CPU of such tests. By night it has one for each core.
 */
export async function openStore(path: string): Promise<Store> {
  const store = await open(path)
  const isDay = process.env.NIGHTLY === undefined
  if (path === ':memory:' && isDay) await store.execute('SET threads = 1')
  return opened(store)
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
