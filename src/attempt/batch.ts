import { copyBytes } from './bytes.ts'
import { type AttemptRow, attemptColumns, type ColumnName, columnNames } from './columns.ts'

/**
 * Rows as columns of typed arrays in one buffer. A batch crosses to the recorder's thread without a copy, and each
 * column reaches DuckDB with one memcpy. The buffer comes back and is filled again: at a full rate of requests nothing
 * is allocated per attempt.
 *
 *     sender                                   recorder
 *     set(column, value) ... commitRow()       appendBatch(batch)
 *     full or 250 ms old ──── transfer ──────▶ memcpy columns ─▶ DuckDB chunk
 *            ▲──────────────── transfer ────────── buffer back
 */
export const batchRows = 2048

/** Space for the strings of `text` columns. A batch whose space runs out is handed over early. */
export const arenaBytes = batchRows * 64

export const nullCount = -(2 ** 31)
export const nullWord = -1

type Cells = Float64Array | Int32Array | Uint32Array

const width = { micros: 8, index: 8, number: 8, count: 4, bits: 4, word: 4, text: 8 } as const

const cacheLineBytes = 64

/** Byte offset of each column in the buffer. The widest columns come first, which aligns all of them. */
const layout = (() => {
  const byWidth = [...columnNames].sort(
    (a, b) => width[attemptColumns[b].kind] - width[attemptColumns[a].kind],
  )
  const offsets = {} as Record<ColumnName, number>
  let offset = 0
  for (const name of byWidth) {
    offsets[name] = offset
    // One cache line of padding: columns a power of two apart would evict each other from the cache at every row.
    offset += width[attemptColumns[name].kind] * batchRows + cacheLineBytes
  }
  return { offsets, arenaOffset: offset, bytes: offset + arenaBytes }
})()

function cellsOf(buffer: ArrayBuffer, name: ColumnName): Cells {
  const offset = layout.offsets[name]
  switch (attemptColumns[name].kind) {
    case 'micros':
    case 'index':
    case 'number':
      return new Float64Array(buffer, offset, batchRows)
    case 'bits':
      return new Uint32Array(buffer, offset, batchRows)
    case 'count':
    case 'word':
      return new Int32Array(buffer, offset, batchRows)
    case 'text':
      // Pairs of (start, length) into the arena. A length of -1 is null.
      return new Int32Array(buffer, offset, batchRows * 2)
  }
}

/** The message between threads. */
export interface BatchMessage {
  readonly buffer: ArrayBuffer
  readonly rows: number
  /** Words that the sender has added to its list since its last message. */
  readonly newWords: readonly string[]
}

export type BatchColumns = Readonly<Record<ColumnName, Cells>>

/** Typed views over a batch's buffer. A text column has `2 * batchRows` cells, every other column `batchRows`. */
export class Batch {
  readonly columns: BatchColumns
  readonly arena: Buffer
  private readonly arenaView: DataView
  readonly buffer: ArrayBuffer
  rows = 0
  arenaUsed = 0

  constructor(buffer: ArrayBuffer = new ArrayBuffer(layout.bytes)) {
    this.buffer = buffer
    this.columns = Object.fromEntries(
      columnNames.map((name) => [name, cellsOf(buffer, name)]),
    ) as Record<ColumnName, Cells>
    this.arena = Buffer.from(buffer, layout.arenaOffset, arenaBytes)
    this.arenaView = new DataView(buffer, layout.arenaOffset, arenaBytes)
  }

  get full(): boolean {
    return this.rows === batchRows
  }

  /** Writes one row from an object, for probes and tests. Senders write the cells themselves. */
  push(row: AttemptRow, words: Words): void {
    const at = this.rows
    for (const name of columnNames) {
      const cells = this.columns[name]
      const value = row[name]
      switch (attemptColumns[name].kind) {
        case 'micros':
        case 'index':
        case 'number':
          cells[at] = value === null ? Number.NaN : (value as number)
          break
        case 'count':
          cells[at] = value === null ? nullCount : (value as number)
          break
        case 'bits':
          cells[at] = value as number
          break
        case 'word':
          cells[at] = value === null ? nullWord : words.codeOf(value as string)
          break
        case 'text':
          this.setText(name, at, value as string | null)
          break
      }
    }
    this.rows = at + 1
  }

  /** Stores a string in the arena. A string that does not fit becomes null, never half a string. */
  setText(name: ColumnName, row: number, value: string | null): void {
    const cells = this.columns[name]
    const room = arenaBytes - this.arenaUsed
    if (value === null || value.length * 3 > room) {
      cells[row * 2] = 0
      cells[row * 2 + 1] = -1
      return
    }
    const length = this.arena.write(value, this.arenaUsed, 'utf8')
    cells[row * 2] = this.arenaUsed
    cells[row * 2 + 1] = length
    this.arenaUsed += length
  }

  /** Like `setText`, for the first `length` bytes of a string that is UTF-8 already. */
  setBytes(name: ColumnName, row: number, bytes: DataView, length: number): void {
    if (length > arenaBytes - this.arenaUsed) {
      this.setText(name, row, null)
      return
    }
    const cells = this.columns[name]
    cells[row * 2] = this.arenaUsed
    cells[row * 2 + 1] = length
    copyBytes(bytes, 0, this.arenaView, this.arenaUsed, length)
    this.arenaUsed += length
  }

  reset(): void {
    this.rows = 0
    this.arenaUsed = 0
  }
}

/** A service can send endless or hostile words, so the list and each word are bounded. */
const maxWords = 4096
const maxWordLength = 200
const overflowWord = '(more)'

/** The list of repeated strings of one sending thread. The recorder keeps a copy of it. */
export class Words {
  private readonly codes = new Map<string, number>()
  private fresh: string[] = []
  /** The last word of each length (mod 16) with its code. Most lookups repeat the last word. */
  private readonly recent = Array.from({ length: 16 }, () => '')
  private readonly recentCodes = new Int32Array(16)

  codeOf(word: string): number {
    const at = word.length & 15
    if (word !== '' && this.recent[at] === word) return this.recentCodes[at]!
    const code = this.find(word)
    this.recent[at] = word
    this.recentCodes[at] = code
    return code
  }

  private find(word: string): number {
    const known = this.codes.get(word)
    if (known !== undefined) return known
    const kept = this.codes.size >= maxWords ? overflowWord : word.slice(0, maxWordLength)
    const existing = this.codes.get(kept)
    if (existing !== undefined) return existing
    const code = this.codes.size
    this.codes.set(kept, code)
    this.fresh.push(kept)
    return code
  }

  /** The words added since the last call, in order of their codes. */
  takeNew(): readonly string[] {
    const taken = this.fresh
    this.fresh = []
    return taken
  }
}
