import { type DuckDBDataChunk, DuckDBDoubleVector, type DuckDBResult } from '@duckdb/node-api'

/**
 * A query's result as columns of doubles, NaN for null, read chunk by chunk. A million rows fit in memory.
 *
 * @throws Error for a column that is not of type DOUBLE
 */
export async function readDoubles(result: DuckDBResult): Promise<readonly Float64Array[]> {
  let columns: readonly Float64Array[] = result.columnNames().map(() => new Float64Array(firstRows))
  let rows = 0
  for await (const chunk of chunksOf(result)) {
    if (columns[0]!.length < rows + chunk.rowCount) columns = columns.map(grown)
    copyRows(columns, rows, chunk)
    rows += chunk.rowCount
  }
  return columns.map((column) => column.subarray(0, rows))
}

/** Rows of a batch, or a few more: ten columns of them take five megabytes. */
const batchRows = 65_536

/**
 * The same in batches of rows, in order: the result is never in memory as a whole.
 *
 * @param take is given columns of its own, and waited for
 */
export async function readDoubleBatches(
  result: DuckDBResult,
  take: (columns: readonly Float64Array<ArrayBuffer>[]) => Promise<void> | void,
): Promise<void> {
  const empty = () => result.columnNames().map(() => new Float64Array(batchRows + mostInChunk))
  let columns = empty()
  let rows = 0
  const hand = async () => {
    const full = columns
    if (rows > 0) await take(full.map((column) => column.subarray(0, rows)))
    rows = 0
  }
  for await (const chunk of chunksOf(result)) {
    copyRows(columns, rows, chunk)
    rows += chunk.rowCount
    if (rows < batchRows) continue
    await hand()
    columns = empty()
  }
  await hand()
}

/** Rows of a chunk of DuckDB at most. */
const mostInChunk = 2048

async function* chunksOf(result: DuckDBResult): AsyncGenerator<DuckDBDataChunk, void, undefined> {
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return
    yield chunk
  }
}

const firstRows = 8192

/** Grows a column by half: at most a third of it is spare, and columns are never all in memory twice. */
function grown(column: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.ceil(column.length * 1.5))
  larger.set(column)
  return larger
}

/**
 * The client's own reader checks the validity of each cell with a bigint shift, which takes longer than everything
 * else. This code reads whole chunks and the bytes of the mask instead.
 */
function copyRows(columns: readonly Float64Array[], rows: number, chunk: DuckDBDataChunk): void {
  for (const [at, column] of columns.entries()) {
    const vector = chunk.getColumnVector(at)
    if (!(vector instanceof DuckDBDoubleVector)) throw new Error(`column ${at} is not DOUBLE`)
    copyInto(column, rows, vector, chunk.rowCount)
  }
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
