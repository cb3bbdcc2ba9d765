import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { folderError } from '../../user/read-text.ts'

/** The first bytes of a file, at most so many. @throws UserError for a folder */
export function firstBytes(file: string, most: number): Buffer {
  const handle = openSync(file, 'r')
  try {
    const stats = fstatSync(handle)
    if (stats.isDirectory()) throw folderError(file)
    const bytes = Buffer.alloc(Math.min(most, stats.size))
    return bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(handle)
  }
}
