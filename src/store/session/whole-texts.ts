import accessors from '@duckdb/node-api/lib/vectors/dataAccessors.js'

/**
 * DuckDB's library decodes each text as if it were a file: it drops a byte order mark at the start. What a service says
 * is kept whole, so its decoder is replaced by one that keeps the mark.
 */
export function keepByteOrderMarks(): void {
  Object.assign(accessors, { textDecoder: new TextDecoder('utf-8', { ignoreBOM: true }) })
}
