import type { LocalLimit } from '../attempt/outcome.ts'

const limits: Readonly<Record<string, LocalLimit>> = {
  EADDRNOTAVAIL: 'no-local-port',
  EADDRINUSE: 'no-local-port',
  EMFILE: 'no-open-file',
  ENFILE: 'no-open-file',
  ENOBUFS: 'no-local-memory',
  ENOMEM: 'no-local-memory',
}

/** What this machine ran out of before a connection was made; null for whatever the service did. */
export function localLimitOf(code: string): LocalLimit | null {
  return limits[code] ?? null
}
