import { closeSync, openSync, readSync } from 'node:fs'

const frameMagic = 0xfd2fb528

/**
 * The lengths of the frames of a zstd file, in bytes, from their headers (RFC 8878, section 3.1). Node's decompressor
 * ends at the first frame, but rotated logs are concatenated.
 *
 * @returns null for a last frame that the file does not hold to its end
 */
export function zstdFrames(file: string): readonly (number | null)[] {
  const handle = openSync(file, 'r')
  const read = (at: number, length: number): Buffer | null => {
    const bytes = Buffer.alloc(length)
    return readSync(handle, bytes, 0, length, at) === length ? bytes : null
  }
  try {
    const frames: (number | null)[] = []
    for (let at = 0; read(at, 1) !== null; at += frames.at(-1)!) {
      frames.push(frameLength(at, read))
      if (frames.at(-1) === null) break
    }
    return frames
  } finally {
    closeSync(handle)
  }
}

function frameLength(
  start: number,
  read: (at: number, length: number) => Buffer | null,
): number | null {
  const magic = read(start, 4)?.readUInt32LE()
  if (magic === undefined) return null
  if (magic >= 0x184d2a50 && magic <= 0x184d2a5f) {
    const length = read(start + 4, 4)?.readUInt32LE()
    return length === undefined || !reaches(start + 8 + length, read) ? null : 8 + length
  }
  const descriptor = magic === frameMagic ? read(start + 4, 1)?.[0] : undefined
  if (descriptor === undefined) return null
  const isSingle = (descriptor & 0x20) !== 0
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6]!
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!
  let at = start + 5 + (isSingle ? 0 : 1) + dictionaryBytes + sizeBytes
  for (let isLast = false; !isLast; ) {
    const header = read(at, 3)?.readUIntLE(0, 3)
    if (header === undefined) return null
    isLast = (header & 1) !== 0
    // A block of one repeated byte holds that byte only.
    at += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3)
  }
  const end = at + ((descriptor & 4) !== 0 ? 4 : 0)
  return reaches(end, read) ? end - start : null
}

const reaches = (end: number, read: (at: number, length: number) => Buffer | null) =>
  read(end - 1, 1) !== null
