/** A store that cannot be opened or used, told to the user in one sentence. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

/**
 * What DuckDB could not read or write, whoever's query met it; null for every other error.
 *
 * A file that was cut off opens as long as its first blocks are whole, and fails in the middle of a
 * query, which may be one of another thread's: only the message is left of it there.
 */
export function storeFailure(error: unknown): string | null {
  const [, why] = /\bIO Error: ([^\n]*)/.exec(error instanceof Error ? error.message : '') ?? []
  return why === undefined
    ? null
    : `The store cannot be read or written: ${why}. The file may be cut off or damaged, or its disk full; use a copy that is whole.`
}
