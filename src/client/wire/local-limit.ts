import type { LocalLimit } from '../../attempt/outcome.ts'
import { lookup } from '../../user/lookup.ts'

const limits: Readonly<Record<string, LocalLimit>> = lookup({
  EADDRNOTAVAIL: 'no-local-port',
  EADDRINUSE: 'no-local-port',
  EMFILE: 'no-open-file',
  ENFILE: 'no-open-file',
  ENOBUFS: 'no-local-memory',
  ENOMEM: 'no-local-memory',
})

/** The resource of this machine that a connection error means; null for any other error. */
export const localLimitOf = (code: string): LocalLimit | null => limits[code] ?? null
