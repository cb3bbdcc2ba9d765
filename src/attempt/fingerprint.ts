import { createHash } from 'node:crypto'

/** The only form in which a key is stored or printed: the first 12 hex digits of its SHA-256. */
export const fingerprintOf = (apiKey: string): string =>
  createHash('sha256').update(apiKey).digest('hex').slice(0, 12)
