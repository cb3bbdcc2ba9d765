import type { LocalLimit } from '../attempt/outcome.ts'

const limits: Readonly<Record<string, LocalLimit>> = {
  EADDRNOTAVAIL: 'no-local-port',
  EADDRINUSE: 'no-local-port',
  EMFILE: 'no-open-file',
  ENFILE: 'no-open-file',
  ENOBUFS: 'no-local-memory',
  ENOMEM: 'no-local-memory',
}

/** The resource of this machine that a connection error means; null for any other error. */
export function localLimitOf(code: string): LocalLimit | null {
  return limits[code] ?? null
}
