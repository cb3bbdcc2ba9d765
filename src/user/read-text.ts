import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { UserError, userError } from './user-error.ts'

/** Far more than any file that a person writes. */
const mostBytes = 1 << 29
const pieceBytes = 1 << 20
/** How long the writer of a pipe may be silent. */
const silentMs = 10_000

/**
 * Reads a text file that a user names, also one of gzip or zstd. It may be a pipe, as `<(command)`, but must end.
 *
 * @throws the system's error if it cannot be opened
 * @throws UserError if it has more than half a gigabyte, is packed and damaged, or a pipe is silent
 */
export function readText(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (fstatSync(file).isDirectory()) throw folderError(path)
    const pieces: Buffer[] = []
    let bytes = 0
    for (;;) {
      const piece = Buffer.allocUnsafe(pieceBytes)
      const length = readPiece(file, piece, path)
      if (length === 0) return unpacked(Buffer.concat(pieces, bytes), path).toString('utf8')
      pieces.push(piece.subarray(0, length))
      bytes += length
      if (bytes > mostBytes) throw userError.usage(tooLong(path))
    }
  } finally {
    closeSync(file)
  }
}

/** The same. @param unread the error for a file that cannot be opened */
export function readTextOr(path: string, unread: () => UserError): string {
  try {
    return readText(path)
  } catch (error) {
    throw error instanceof UserError ? error : unread()
  }
}

/** Of a folder in place of a file. */
export const folderError = (path: string): UserError =>
  userError.usage(`${path}: expected a file; it is a folder.`)

const tooLong = (path: string) => `${path}: expected at most 512 MB; it has more, or no end.`

/** The text of a file of gzip or zstd, by its first bytes; any other file as it is. */
function unpacked(bytes: Buffer, path: string): Buffer {
  const magic = bytes.length < 4 ? 0 : bytes.readUInt32LE(0)
  const isGzip = (magic & 0xffff) === 0x8b1f
  if (!isGzip && magic !== 0xfd2fb528) return bytes
  try {
    return isGzip ? gunzipSync(bytes, { maxOutputLength: mostBytes }) : zstdWhole(bytes)
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw userError.usage(
      isTooLong ? tooLong(path) : `${path} is packed, and damaged or cut off. Get it again.`,
    )
  }
}

/** Node reads only the first frame of a file that has several. */
function zstdWhole(bytes: Buffer): Buffer {
  const frames: Buffer[] = []
  for (let at = 0, length = 0; at < bytes.length; ) {
    const options = { maxOutputLength: mostBytes - length, info: true }
    const { buffer, engine } = zstdDecompressSync(bytes.subarray(at), options) as unknown as {
      readonly buffer: Buffer
      readonly engine: { readonly bytesWritten: number }
    }
    if (engine.bytesWritten === 0) throw new Error('no frame')
    frames.push(buffer)
    at += engine.bytesWritten
    length += buffer.length
  }
  return Buffer.concat(frames)
}

/** Waits for the writer of a pipe. */
function readPiece(file: number, piece: Buffer, path: string): number {
  for (let waitedMs = 0; waitedMs <= silentMs; waitedMs += 10) {
    try {
      return readSync(file, piece)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
  throw userError.usage(`${path}: expected a file, or a pipe that ends; nothing came for 10 s.`)
}
