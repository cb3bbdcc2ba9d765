import { words } from '../user/words.ts'
import { copyBytes } from './bytes.ts'
import { type AttemptRow, attemptColumns, type ColumnName, columnNames } from './columns.ts'

/**
 * Rows as columns of typed arrays in one buffer. A batch moves to the recorder's thread without a copy,
 * and each column reaches DuckDB with one memcpy. The buffer returns and is filled again, so no attempt
 * allocates memory.
 *
 *     sender                                   recorder
 *     set(column, value) ... commitRow()       appendBatch(batch)
 *     full or 250 ms old ──── transfer ──────▶ memcpy columns ─▶ DuckDB chunk
 *            ▲──────────────── transfer ────────── buffer back
 */
export const batchRows = 2048

/** Room for the strings of `text` columns; a batch that runs out of it is sent early. */
export const arenaBytes = batchRows * 64

export const nullCount = -(2 ** 31)
export const nullWord = -1

type Cells = Float64Array | Int32Array | Uint32Array

const width = { micros: 8, index: 8, number: 8, count: 4, bits: 4, word: 4, text: 8 } as const

const cacheLineBytes = 64

/** Offset of each column in the buffer, in bytes; wide columns come first, so all are aligned. */
const layout = (() => {
  const byWidth = [...columnNames].sort(
    (a, b) => width[attemptColumns[b].kind] - width[attemptColumns[a].kind],
  )
  const offsets = {} as Record<ColumnName, number>
  let offset = 0
  for (const name of byWidth) {
    offsets[name] = offset
    // An extra cache line: columns a power of two apart would share a cache set and evict each other
    // at every row.
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

/** A batch as it moves between threads. */
export interface BatchMessage {
  readonly buffer: ArrayBuffer
  /** Filled rows. */
  readonly rows: number
  /** Words that the sender added to its list since the last batch. */
  readonly newWords: readonly string[]
}

export type BatchColumns = Readonly<Record<ColumnName, Cells>>

/** Typed views over a batch's buffer. Each column has `batchRows` cells; a text column has twice as many. */
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

  /** Writes one row from an object, for probes and tests; senders write cells directly. */
  push(row: AttemptRow, words: Dictionary): void {
    const at = this.rows
    for (const name of columnNames) {
      const cells = this.columns[name]
      const value = row[name] ?? null
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
          cells[at] =
            value === null
              ? nullWord
              : said.has(name)
                ? words.saidCodeOf(value as string)
                : words.codeOf(value as string)
          break
        case 'text':
          this.setText(name, at, value as string | null)
          break
      }
    }
    this.rows = at + 1
  }

  /** Keeps a string in the arena; a string that does not fit becomes null, never a part. */
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

  /** Keeps the first `length` bytes, which are UTF-8; null if they do not fit. */
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

/** A service may send endless or hostile words, so their number and each of them are bounded. */
const maxSaidWords = 4096
const maxSaidLength = 200
const overflowWord = '(more)'

/** Columns with words of the service. */
const said: ReadonlySet<ColumnName> = new Set<ColumnName>(
  words('errorCode errorType errorMessage unknownMember responseModel finishReason'),
)

/** Strings that repeat and their codes, one list for each sending thread; the recorder keeps a copy. */
export class Dictionary {
  private readonly codes = new Map<string, number>()
  private fresh: string[] = []
  private saidWords = 0
  /** The last word of each length (mod 16) and its code: nearly all words repeat. */
  private readonly recent = Array.from({ length: 16 }, () => '')
  private readonly recentCodes = new Int32Array(16)

  /** The code of a word that is ours or the user's: whole, because two names that differ late are two. */
  codeOf(word: string): number {
    return this.recentCodeOf(word) ?? this.keep(word, this.codes.get(word) ?? this.add(word))
  }

  /** The code of a word that the service said; a long one is cut, and says so by its end. */
  saidCodeOf(word: string): number {
    const recent = this.recentCodeOf(word)
    if (recent !== null) return recent
    const code = this.codes.get(word)
    // The code of a cut word, or of one too many, is not that of the word: `codeOf` has another.
    return code === undefined ? this.addSaid(word) : this.keep(word, code)
  }

  private recentCodeOf(word: string): number | null {
    const at = word.length & 15
    return word !== '' && this.recent[at] === word ? this.recentCodes[at]! : null
  }

  private keep(word: string, code: number): number {
    const at = word.length & 15
    this.recent[at] = word
    this.recentCodes[at] = code
    return code
  }

  private addSaid(word: string): number {
    const cut = word.length > maxSaidLength ? `${word.slice(0, maxSaidLength - 1)}…` : word
    const known = this.codes.get(cut)
    if (known !== undefined) return known
    if (this.saidWords >= maxSaidWords)
      return this.codes.get(overflowWord) ?? this.add(overflowWord)
    this.saidWords++
    return this.add(cut)
  }

  private add(word: string): number {
    const code = this.codes.size
    this.codes.set(word, code)
    this.fresh.push(word)
    return code
  }

  /** Words added since the last call, by code. */
  takeNew(): readonly string[] {
    const taken = this.fresh
    this.fresh = []
    return taken
  }
}
