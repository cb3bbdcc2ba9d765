import { createHash } from 'node:crypto'

/** The first 12 hex digits of a key's SHA-256: the only form in which a key is stored or printed. */
export function fingerprintOf(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, 12)
}
