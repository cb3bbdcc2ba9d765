import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** The first bytes of a file, at most so many. */
export function firstBytes(file: string, most: number): Buffer {
  const handle = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(Math.min(most, fstatSync(handle).size))
    return bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(handle)
  }
}
