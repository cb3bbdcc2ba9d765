import {
  type Store as OpenStore,
  openStore as open,
  openExistingStore as openExisting,
} from '../../src/store/open.ts'
import type { Session } from '../../src/store/session.ts'

/** A store with a session of it: operations take it as the store, and their parts as the session. */
export type Store = OpenStore & Session

export const openStore = async (path: string) => opened(await open(path))
export const openExistingStore = async (path: string) => opened(await openExisting(path))

async function opened(store: OpenStore): Promise<Store> {
  const session = await store.session()
  return {
    ...session,
    session: (scope) => store.session(scope),
    // Ends its sessions, too.
    close: () => store.close(),
  }
}
