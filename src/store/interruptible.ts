import type { Work } from '../user/work.ts'
import type { Store } from './open.ts'

/** Work on a store whose query under way ends when a signal comes. @throws the signal's reason then */
export async function interruptible<T>(
  store: Pick<Store, 'interrupt'>,
  { signal }: Pick<Work, 'signal'>,
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const interrupt = () => store.interrupt()
  signal?.addEventListener('abort', interrupt)
  try {
    return await work()
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', interrupt)
  }
}
