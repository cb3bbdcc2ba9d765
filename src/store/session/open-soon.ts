import { UserError } from '../../user/user-error.ts'
import type { Store } from './open.ts'

const everyMs = 50

/**
 * Opens a store as soon as the one who has it lets it go. Readers that serve usage have it for short times only.
 *
 * @param open such as `() => openStore(path)`
 * @throws UserError `store-held` if that takes longer than `forMs`
 */
export async function openSoon(open: () => Promise<Store>, forMs: number): Promise<Store> {
  const untilMs = performance.now() + forMs
  for (;;) {
    try {
      return await open()
    } catch (error) {
      const isHeld = error instanceof UserError && error.code === 'store-held'
      if (!isHeld || performance.now() > untilMs) throw error
      await new Promise((resume) => setTimeout(resume, everyMs))
    }
  }
}
