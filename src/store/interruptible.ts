import type { Work } from '../user/work.ts'
import type { Store } from './open.ts'

/** Does work on a store; a signal interrupts its query. @throws the reason of the signal in that case */
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
