import { closeSync, fstatSync, openSync, readSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { cannotWrite } from '../session/errors.ts'

/**
 * Long bodies are packed in a file next to the store, one after the other; their rows hold the place. DuckDB handles
 * 2,048 rows at a time, so bodies of 64 KiB would take all of a recorder's memory and be written three times.
 *
 *     length of what follows (4 bytes) | body in UTF-8, packed by zstd with its checksum
 */
export const bodiesPath = (storePath: string): string => `${storePath}.bodies`

/** Shorter bodies stay in their rows, where SQL can read them: errors, balances, short answers. */
export const longestInline = 16 * 1024

/** Disk space that bodies must leave for rows. */
const leftToRowsBytes = 256 << 20

const quick = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
}

export class PackedBodies {
  private readonly path: string
  private readonly file: number
  private position: number

  constructor(storePath: string) {
    this.path = bodiesPath(storePath)
    try {
      this.file = openSync(this.path, 'a')
      this.position = fstatSync(this.file).size
    } catch (error) {
      throw cannotWrite(this.path, error)
    }
  }

  /** @returns its place */
  append(body: string): number {
    const packed = zstdCompressSync(body, quick)
    const record = Buffer.allocUnsafe(4 + packed.length)
    record.writeUInt32LE(packed.length)
    record.set(packed, 4)
    const at = this.position
    for (let written = 0; written < record.length; ) {
      try {
        const bytes = writeSync(this.file, record, written)
        written += bytes
        // The next body is written after the remains of a failed one.
        this.position += bytes
      } catch (error) {
        throw cannotWrite(this.path, error)
      }
    }
    return at
  }

  close(): void {
    closeSync(this.file)
  }
}

/** Whether the disk has room for bodies. Rows have priority. */
export function hasRoomForBodies(storePath: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(storePath))
    return bavail * bsize > leftToRowsBytes
  } catch {
    return true
  }
}

/** Reads bodies of a store by their places; null for a missing or damaged one, as in a store copied without them. */
export function readPackedBodies(
  storePath: string,
  places: readonly (number | null)[],
): readonly (string | null)[] {
  if (places.every((at) => at === null)) return places.map(() => null)
  let file: number
  try {
    file = openSync(bodiesPath(storePath), 'r')
  } catch {
    return places.map(() => null)
  }
  try {
    return places.map((at) => (at === null ? null : bodyAt(file, at)))
  } finally {
    closeSync(file)
  }
}

function bodyAt(file: number, at: number): string | null {
  const length = Buffer.alloc(4)
  if (readSync(file, length, 0, 4, at) < 4) return null
  const bytes = length.readUInt32LE()
  if (at + 4 + bytes > fstatSync(file).size) return null
  const packed = Buffer.alloc(bytes)
  readSync(file, packed, 0, bytes, at + 4)
  try {
    return zstdDecompressSync(packed).toString('utf8')
  } catch {
    return null
  }
}
