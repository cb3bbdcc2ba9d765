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

/** Works in two existing stores, which are one if `b` names none. @throws UserError as `openExistingStore` does */
export const inStores = <Result>(
  a: string,
  b: string | undefined,
  work: (storeA: Store, storeB: Store) => Promise<Result>,
): Promise<Result> =>
  inStore(a, (storeA) =>
    b === undefined || b === a
      ? work(storeA, storeA)
      : inStore(b, (storeB) => work(storeA, storeB)),
  )
