import { DuckDBDoubleVector, type DuckDBResult } from '@duckdb/node-api'

/**
 * A query's result as columns of doubles, NaN for null, read chunk by chunk. A million rows fit in memory.
 *
 * The client's own reader checks the validity of each cell with a bigint shift, which takes longer than everything
 * else. This code reads whole chunks and the bytes of the mask instead.
 *
 * @throws Error for a column that is not of type DOUBLE
 */
export async function readDoubles(result: DuckDBResult): Promise<readonly Float64Array[]> {
  const names = result.columnNames()
  const columns = names.map(() => new Float64Array(firstRows))
  let rows = 0
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) break
    for (const [at, name] of names.entries()) {
      const vector = chunk.getColumnVector(at)
      if (!(vector instanceof DuckDBDoubleVector)) throw new Error(`column ${name} is not DOUBLE`)
      if (columns[at]!.length < rows + chunk.rowCount) columns[at] = grown(columns[at]!)
      copyInto(columns[at]!, rows, vector, chunk.rowCount)
    }
    rows += chunk.rowCount
  }
  return columns.map((column) => column.subarray(0, rows))
}

const firstRows = 8192

/** Grows a column by half: at most a third of it is spare, and columns are never all in memory twice. */
function grown(column: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.ceil(column.length * 1.5))
  larger.set(column)
  return larger
}

function copyInto(column: Float64Array, at: number, vector: DuckDBDoubleVector, rows: number) {
  // biome-ignore lint/complexity/useLiteralKeys: private in the client's types, and the only quick way
  column.set(vector['items'].subarray(0, rows), at)
  // biome-ignore lint/complexity/useLiteralKeys: as above
  const mask = vector['validity']['data']
  if (mask === null) return
  const bytes = new Uint8Array(mask.buffer, mask.byteOffset, mask.byteLength)
  for (let row = 0; row < rows; row++) {
    if ((bytes[row >> 3]! & (1 << (row & 7))) === 0) column[at + row] = Number.NaN
  }
}
