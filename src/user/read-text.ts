import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { UserError } from './user-error.ts'

/** Far more than any file that a person writes. */
const mostBytes = 1 << 29
const pieceBytes = 1 << 20
/** How long the writer of a pipe may be silent. */
const silentMs = 10_000

/**
 * Reads a text file that a user names. It may be a pipe, as `<(command)`, but must end.
 *
 * @throws the system's error if it cannot be opened
 * @throws UserError if it has more than half a gigabyte, or a pipe is silent
 */
export function readText(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (fstatSync(file).isDirectory())
      throw new UserError('usage', `${path}: expected a file; it is a folder.`)
    const pieces: Buffer[] = []
    let bytes = 0
    for (;;) {
      const piece = Buffer.allocUnsafe(pieceBytes)
      const length = readPiece(file, piece, path)
      if (length === 0) return Buffer.concat(pieces, bytes).toString('utf8')
      pieces.push(piece.subarray(0, length))
      bytes += length
      if (bytes > mostBytes) {
        throw new UserError('usage', `${path}: expected at most 512 MB; it has more, or no end.`)
      }
    }
  } finally {
    closeSync(file)
  }
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
  throw new UserError(
    'usage',
    `${path}: expected a file, or a pipe that ends; nothing came for 10 s.`,
  )
}
