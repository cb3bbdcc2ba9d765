import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of columns that stay in memory. */
const usualBytes = 256 * 2 ** 20
/** Bytes that go in or out before what nobody holds any more is collected. */
const garbageBytes = 128 * 2 ** 20
/** An algorithm uses fewer columns of one length at once. */
const columnsAtOnce = 40

/**
 * Columns of doubles on disk, for evidence that does not fit in memory. Columns that were read last stay in memory. The
 * file has no name once it is open: it ends with the process, however that ends.
 */
export class ColumnFile {
  private readonly descriptor: number
  private endByte = 0
  private mostBytes: number
  private heldBytes = 0
  private passedBytes = 0
  /** In the order in which they were read. */
  private readonly held = new Set<KeptColumn>()

  /**
   * @param storePath the file is made beside this store, which has room for it
   * @param mostBytes of columns that stay in memory; more if single columns are large
   */
  constructor(storePath: string, mostBytes = usualBytes) {
    const beside = storePath === ':memory:' ? join(tmpdir(), 'assay') : storePath
    const path = `${beside}.${randomUUID()}.columns`
    this.descriptor = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
    this.mostBytes = mostBytes
  }

  /** Copies a column to the file. */
  keep(values: Float64Array): KeptColumn {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
    const startByte = this.endByte
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.descriptor, bytes, done, bytes.length - done, startByte + done)
    }
    this.endByte += bytes.length
    this.pass(bytes.length)
    this.mostBytes = Math.max(this.mostBytes, columnsAtOnce * bytes.length)
    return new KeptColumn(this, startByte, values.length)
  }

  /** Values that nobody else keeps. */
  readNew(fromByte: number, length: number): Float64Array {
    this.pass(length * 8)
    return this.read(fromByte, new Float64Array(length))
  }

  /** Columns that went in or out are soon garbage, which is collected once it may be too much. */
  private pass(bytes: number): void {
    this.passedBytes += bytes
    if (this.passedBytes <= garbageBytes) return
    this.passedBytes = 0
    collect()
  }

  /** Reads values from a byte on, as many as there is room for. */
  read(fromByte: number, values: Float64Array): Float64Array {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
    for (let done = 0; done < bytes.length; ) {
      const read = readSync(this.descriptor, bytes, done, bytes.length - done, fromByte + done)
      if (read === 0) throw new Error('a column file ends early')
      done += read
    }
    return values
  }

  /** Counts a column that was read into memory, and lets go of those that were read first. */
  hold(column: KeptColumn): void {
    this.held.add(column)
    this.heldBytes += column.bytes
    for (const first of this.held) {
      if (this.heldBytes <= this.mostBytes || first === column) return
      this.held.delete(first)
      this.heldBytes -= first.bytes
      first.release()
    }
  }

  close(): void {
    closeSync(this.descriptor)
  }
}

/** A column on disk. */
export class KeptColumn {
  private readonly file: ColumnFile
  private readonly startByte: number
  private readonly length: number
  private inMemory: Float64Array | null = null

  constructor(file: ColumnFile, startByte: number, length: number) {
    this.file = file
    this.startByte = startByte
    this.length = length
  }

  get bytes(): number {
    return this.length * 8
  }

  /** All values. Whoever keeps the array keeps its memory. */
  get values(): Float64Array {
    if (this.inMemory !== null) return this.inMemory
    const values = this.file.readNew(this.startByte, this.length)
    this.inMemory = values
    this.file.hold(this)
    return values
  }

  /** Values from one row up to another, exclusive, which no one else keeps. */
  part(from: number, to: number): Float64Array {
    return this.inMemory === null
      ? this.file.readNew(this.startByte + from * 8, to - from)
      : this.inMemory.slice(from, to)
  }

  /** Copies values from one row on, as many as there is room for. */
  read(from: number, into: Float64Array): void {
    if (this.inMemory === null) this.file.read(this.startByte + from * 8, into)
    else into.set(this.inMemory.subarray(from, from + into.length))
  }

  release(): void {
    this.inMemory = null
  }
}

let collector: (() => void) | null = null

/** Collects garbage: the engine itself lets buffers that nobody holds amount to gigabytes. */
function collect(): void {
  setFlagsFromString('--expose-gc')
  collector ??= runInNewContext('gc') as () => void
  collector()
}

/** Gives back the memory of columns at once, without a collection. */
export function freeColumns(columns: readonly Float64Array<ArrayBuffer>[]): void {
  for (const { buffer } of columns) buffer.transfer(0)
}

/** An object with columns as fields that are read from disk on demand. */
export function fieldsOf<Name extends string>(
  columns: Readonly<Record<Name, KeptColumn>>,
): Record<Name, Float64Array> {
  const fields = {} as Record<Name, Float64Array>
  for (const name of Object.keys(columns) as Name[]) {
    const column = columns[name]
    Object.defineProperty(fields, name, { enumerable: true, get: () => column.values })
  }
  return fields
}
