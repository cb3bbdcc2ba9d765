import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  unlinkSync,
  writevSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import { Batch, batchRows } from '../../attempt/batch.ts'
import { attemptColumns } from '../../attempt/columns.ts'
import { userError } from '../../user/user-error.ts'
import { cannotWrite } from '../session/errors.ts'
import { rowColumns } from './layout.ts'

/** Rows of a batch whose shared values are numbered. */
export interface NumberedRows {
  readonly batch: Batch
  readonly rows: number
  readonly request_kinds: Int32Array
  readonly endings: Int32Array
  /** Bytes of the arena in use. */
  readonly arenaUsed: number
}

/**
 * The file next to the store that holds rows until DuckDB has them. DuckDB takes rows by the row group, at half the
 * cost of a commit each second; the journal protects them from a kill until then.
 *
 *     head      64 bytes of text: the version
 *     records   mark, length, rows, arena bytes, place of its first row, first request_kind of the journal,
 *               id of the journal, CRC of what follows, CRC of all this; then the columns
 *
 * Once DuckDB has everything, the file is truncated to its head. The place of a row counts all rows since the journal
 * began.
 */
export class Journal {
  private readonly path: string
  private readonly file: number
  private readonly id = randomBytes(8)
  private readonly firstRequestKind: number
  private position = headBytes
  private synced = true

  /** @param firstRequestKind a lower bound for every request_kind of the rows to come */
  constructor(path: string, firstRequestKind: number) {
    this.path = path
    this.firstRequestKind = firstRequestKind
    this.file = this.tried(() => openSync(path, 'w'))
    try {
      this.tried(() => writeAll(this.file, [Buffer.from(title.padEnd(headBytes))], 0))
    } catch (error) {
      closeSync(this.file)
      throw error
    }
  }

  /** @param place of the first row, counted since the journal began */
  write({ batch, rows, request_kinds, endings, arenaUsed }: NumberedRows, place: number): void {
    const pieces = piecesOf(batch, rows, request_kinds, endings, arenaUsed)
    const head = Buffer.alloc(recordHeadBytes)
    head.writeUInt32LE(mark, at.mark)
    head.writeUInt32LE(
      pieces.reduce((sum, piece) => sum + piece.byteLength, 0),
      at.length,
    )
    head.writeInt32LE(rows, at.rows)
    head.writeInt32LE(arenaUsed, at.arenaUsed)
    head.writeDoubleLE(place, at.place)
    head.writeDoubleLE(this.firstRequestKind, at.firstRequestKind)
    this.id.copy(head, at.id)
    head.writeUInt32LE(
      pieces.reduce((sum, piece) => crc32(piece, sum), 0),
      at.crc,
    )
    head.writeUInt32LE(crc32(head.subarray(0, at.headCrc)), at.headCrc)
    this.position += this.tried(() => writeAll(this.file, [head, ...pieces], this.position))
    this.synced = false
  }

  /** Truncates the journal to its head, once DuckDB has every row. */
  restart(): void {
    this.tried(() => ftruncateSync(this.file, headBytes))
    this.position = headBytes
  }

  /** Makes written rows safe from a loss of power, too. */
  sync(): void {
    if (!this.synced) this.tried(() => fdatasyncSync(this.file))
    this.synced = true
  }

  /** @throws UserError that names the file, if the system refuses the step */
  private tried<Result>(step: () => Result): Result {
    try {
      return step()
    } catch (error) {
      throw cannotWrite(this.path, error)
    }
  }

  /** Closes and deletes the file. */
  remove(): void {
    closeSync(this.file)
    unlinkSync(this.path)
  }
}

export const journalPath = (storePath: string): string => `${storePath}.journal`

/** A complete record. It unpacks on demand, because a journal may have thousands of small ones. */
export interface JournalRecord {
  readonly rows: number
  /** Of the first row, counted since the journal began. */
  readonly place: number
  unpack(): NumberedRows
}

export interface FoundJournal {
  /** Id of the journal and first request_kind of its rows; null if no record is complete. */
  readonly from: { readonly id: string; readonly firstRequestKind: number } | null
  /** Every complete record, in order. */
  readonly records: readonly JournalRecord[]
  /** Rows in damaged or truncated records, as far as they can be counted. */
  readonly rowsLost: number
  /** Not even a head is there. */
  readonly isEmpty: boolean
  /** Bytes outside complete records, and those of records that were there before. */
  readonly bytesLost: number
}

/** Reads the journal of a killed process. @throws UserError when the file is of another version */
export function readJournal(path: string): FoundJournal {
  const bytes = readFileSync(path)
  const [, version] = /^assay journal (\d+)\b/.exec(bytes.toString('latin1', 0, headBytes)) ?? []
  if (version !== undefined && !title.endsWith(` ${version}`)) {
    throw userError.store(
      `${path} holds rows of a killed run, in a format that this version of Assay cannot read. Open the store with the version that wrote it, or move the file away to continue without them.`,
    )
  }
  const records: JournalRecord[] = []
  let from: FoundJournal['from'] = null
  let bytesLost = version === undefined ? Math.min(bytes.length, headBytes) : 0
  let rowsLost = 0
  let expected: number | null = null
  // Rows in a damaged record whose head is intact.
  let counted = 0
  for (let position = headBytes; position < bytes.length; ) {
    const found = recordAt(bytes, position)
    if (found?.record != null) {
      const { record } = found
      const recordBytes = recordHeadBytes + found.length
      position += recordBytes
      // This record was there before. Its rows count once.
      if (expected !== null && record.place < expected) {
        bytesLost += recordBytes
        continue
      }
      from ??= found
      rowsLost += expected === null ? counted : record.place - expected
      expected = record.place + record.rows
      counted = 0
      records.push(record)
      continue
    }
    counted += found?.rows ?? 0
    const mayFollow = bytes.indexOf(markBytes, position + 1)
    const next = mayFollow < 0 ? bytes.length : mayFollow
    bytesLost += next - position
    position = next
  }
  return { from, records, rowsLost: rowsLost + counted, bytesLost, isEmpty: bytes.length === 0 }
}

interface FoundRecord {
  readonly id: string
  readonly firstRequestKind: number
  readonly rows: number
  readonly length: number
  /** Null if the columns are damaged or truncated. */
  readonly record: JournalRecord | null
}

/** Null if there is no intact record head at this position. */
function recordAt(bytes: Buffer, position: number): FoundRecord | null {
  const head = bytes.subarray(position, position + recordHeadBytes)
  if (head.length < recordHeadBytes || head.readUInt32LE(at.mark) !== mark) return null
  if (crc32(head.subarray(0, at.headCrc)) !== head.readUInt32LE(at.headCrc)) return null
  const [length, rows, arenaUsed] = [
    head.readUInt32LE(at.length),
    head.readInt32LE(at.rows),
    head.readInt32LE(at.arenaUsed),
  ]
  const from = {
    id: head.toString('hex', at.id, at.id + 8),
    firstRequestKind: head.readDoubleLE(at.firstRequestKind),
    rows,
    length,
  }
  const body = bytes.subarray(position + recordHeadBytes, position + recordHeadBytes + length)
  if (body.length < length || crc32(body) !== head.readUInt32LE(at.crc)) {
    return { ...from, record: null }
  }
  const place = head.readDoubleLE(at.place)
  return { ...from, record: { rows, place, unpack: () => unpacked(body, rows, arenaUsed) } }
}

function unpacked(body: Buffer, rows: number, arenaUsed: number): NumberedRows {
  const batch = new Batch()
  const request_kinds = new Int32Array(batchRows)
  const endings = new Int32Array(batchRows)
  let offset = 0
  for (const piece of piecesOf(batch, rows, request_kinds, endings, arenaUsed)) {
    piece.set(body.subarray(offset, offset + piece.byteLength))
    offset += piece.byteLength
  }
  return { batch, rows, request_kinds, endings, arenaUsed }
}

const title = 'assay journal 4'
const headBytes = 64
const mark = 0x524a5341
const markBytes = Buffer.from([0x41, 0x53, 0x4a, 0x52])
/** Byte offsets of the fields of a record's head. */
const at = {
  mark: 0,
  length: 4,
  rows: 8,
  arenaUsed: 12,
  place: 16,
  firstRequestKind: 24,
  id: 32,
  crc: 40,
  headCrc: 44,
} as const
const recordHeadBytes = 48

/** The parts of a record after its head, in order. */
function piecesOf(
  batch: Batch,
  rows: number,
  request_kinds: Int32Array,
  endings: Int32Array,
  arenaUsed: number,
): readonly Uint8Array[] {
  return [
    new Uint8Array(request_kinds.buffer, 0, rows * 4),
    new Uint8Array(endings.buffer, 0, rows * 4),
    ...rowColumns.map((name) => {
      const { buffer, byteOffset, BYTES_PER_ELEMENT } = batch.columns[name]
      const cells = attemptColumns[name].kind === 'text' ? 2 : 1
      return new Uint8Array(buffer, byteOffset, rows * cells * BYTES_PER_ELEMENT)
    }),
    batch.arena.subarray(0, arenaUsed),
  ]
}

/**
 * Writes all bytes, in several calls if need be: `writev` may write only a part without an error.
 * @throws the system's own error
 */
function writeAll(file: number, pieces: readonly Uint8Array[], position: number): number {
  const bytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
  let written = writevSync(file, pieces, position)
  while (written < bytes) {
    written += writevSync(file, [Buffer.concat(pieces).subarray(written)], position + written)
  }
  return bytes
}
