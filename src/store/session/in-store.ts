import { openExistingStore, type Store } from './open.ts'

/** Works in an existing store, and closes it at the end. @throws UserError as `openExistingStore` does */
export async function inStore<Result>(
  path: string,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openExistingStore(path)
  try {
    return await work(store)
  } finally {
    store.close()
  }
}
