import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  unlinkSync,
  writevSync,
} from 'node:fs'
import { Batch, batchRows } from '../attempt/batch.ts'
import { attemptColumns } from '../attempt/columns.ts'
import { StoreError } from './errors.ts'
import { rowColumns } from './layout.ts'

/** Rows of a batch whose shared values have their numbers. */
export interface NumberedRows {
  readonly batch: Batch
  readonly rows: number
  readonly askings: Int32Array
  readonly endings: Int32Array
  /** Bytes of the arena that are in use. */
  readonly arenaUsed: number
}

/**
 * The file beside the store that holds what DuckDB has not yet: DuckDB takes rows by the row group,
 * which costs half of what a commit each second does, and a kill must not wait for that.
 *
 *     head      text, padded to 64 bytes: version, and the first number of an asking
 *     records   mark, rows, arena bytes, 0, place of its first row, columns, place again
 *
 * Once DuckDB has everything, records are written from the head again, over the old ones. The place
 * of a row counts all rows since the journal began, so an old record is never taken for a new one.
 */
export class Journal {
  private readonly path: string
  private readonly file: number
  private position = headBytes
  private readonly recordHead = new ArrayBuffer(recordHeadBytes)
  private synced = true

  /** @param firstAsking every asking of the rows to come has this number or a higher one */
  constructor(path: string, firstAsking: number) {
    this.path = path
    this.file = openSync(path, 'w')
    const head = Buffer.alloc(headBytes, ' ')
    head.write(`${title} ${firstAsking}`)
    writeAll(this.file, [head], 0)
  }

  /** @param place of the first row, counted since the journal began */
  write({ batch, rows, askings, endings, arenaUsed }: NumberedRows, place: number): void {
    new Int32Array(this.recordHead, 0, 4).set([mark, rows, arenaUsed, 0])
    new Float64Array(this.recordHead, 16, 1)[0] = place
    const pieces = [
      new Uint8Array(this.recordHead),
      ...piecesOf(batch, rows, askings, endings, arenaUsed),
      new Uint8Array(this.recordHead, 16, 8),
    ]
    this.position += writeAll(this.file, pieces, this.position)
    this.synced = false
  }

  /** Begins anew: DuckDB has every row. */
  restart(): void {
    this.position = headBytes
  }

  /** Makes what was written safe from a loss of power, too. */
  sync(): void {
    if (!this.synced) fdatasyncSync(this.file)
    this.synced = true
  }

  /** Closes the file and takes it away. */
  remove(): void {
    closeSync(this.file)
    unlinkSync(this.path)
  }
}

export function journalPath(storePath: string): string {
  return `${storePath}.journal`
}

export interface FoundJournal {
  readonly firstAsking: number
  /** Records in their order; the last one may have been cut off by the kill, and is left out. */
  readonly records: Iterable<NumberedRows & { readonly place: number }>
  close(): void
}

/** Reads what a killed process left. @throws StoreError when the file is of another version */
export function readJournal(path: string): FoundJournal {
  const file = openSync(path, 'r')
  const head = Buffer.alloc(headBytes)
  const read = readSync(file, head, 0, headBytes, 0)
  const text = head.toString('latin1').trimEnd()
  // Killed before the head was written: there is nothing in it.
  const empty = read < headBytes
  if (!empty && !text.startsWith(`${title} `)) {
    closeSync(file)
    throw new StoreError(
      `${path} holds rows of a killed run, in a form that this Assay does not read. Open the store with the Assay that wrote it, or move the file away to go without them.`,
    )
  }
  return {
    firstAsking: empty ? 0 : Number(text.slice(title.length)),
    records: empty ? [] : recordsOf(file),
    close: () => closeSync(file),
  }
}

function* recordsOf(file: number): Generator<NumberedRows & { place: number }> {
  const { size } = fstatSync(file)
  const head = new ArrayBuffer(recordHeadBytes)
  const tail = new Float64Array(1)
  let position = headBytes
  let expected: number | null = null
  while (position + recordHeadBytes <= size) {
    readSync(file, new Uint8Array(head), 0, recordHeadBytes, position)
    const [found, rows, arenaUsed] = new Int32Array(head, 0, 4) as unknown as [
      number,
      number,
      number,
    ]
    const place = new Float64Array(head, 16, 1)[0]!
    if (found !== mark || (expected !== null && place !== expected)) return
    const batch = new Batch()
    const askings = new Int32Array(batchRows)
    const endings = new Int32Array(batchRows)
    position += recordHeadBytes
    for (const piece of piecesOf(batch, rows, askings, endings, arenaUsed)) {
      position += readSync(file, piece, 0, piece.byteLength, position)
    }
    position += readSync(file, new Uint8Array(tail.buffer), 0, 8, position)
    if (tail[0] !== place) return
    expected = place + rows
    yield { batch, rows, askings, endings, arenaUsed, place }
  }
}

const title = 'assay journal 2'
const headBytes = 64
const recordHeadBytes = 24
const mark = 0x524a5341

/** The parts of a record between its places, in order. */
function piecesOf(
  batch: Batch,
  rows: number,
  askings: Int32Array,
  endings: Int32Array,
  arenaUsed: number,
): readonly Uint8Array[] {
  return [
    new Uint8Array(askings.buffer, 0, rows * 4),
    new Uint8Array(endings.buffer, 0, rows * 4),
    ...rowColumns.map((name) => {
      const { buffer, byteOffset, BYTES_PER_ELEMENT } = batch.columns[name]
      const cells = attemptColumns[name].kind === 'text' ? 2 : 1
      return new Uint8Array(buffer, byteOffset, rows * cells * BYTES_PER_ELEMENT)
    }),
    batch.arena.subarray(0, arenaUsed),
  ]
}

function writeAll(file: number, pieces: readonly Uint8Array[], position: number): number {
  const bytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
  const written = writevSync(file, pieces, position)
  if (written < bytes) throw new Error(`only ${written} of ${bytes} bytes could be written`)
  return bytes
}
