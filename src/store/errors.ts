import { dirname } from 'node:path'
import { UserError } from '../user/user-error.ts'

/**
 * What DuckDB could not read or write, whoever's query met it; null for every other error.
 *
 * A file that was cut off opens as long as its first blocks are whole, and fails in the middle of a
 * query, which may be one of another thread's: only the message is left of it there.
 */
export function storeFailure(error: unknown): string | null {
  const [, why] = /\bIO Error: ([^\n]*)/.exec(error instanceof Error ? error.message : '') ?? []
  return why === undefined
    ? null
    : `The store cannot be read or written: ${why}. The file may be cut off or damaged, or its disk full; use a copy that is whole.`
}

/** A file that cannot be written: which, why, and what to do. */
export function cannotWrite(path: string, error: unknown): UserError {
  if (error instanceof UserError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  const why =
    reasons[code]?.(path) ??
    (/File too large/i.test(message) ? tooLarge : fullDisk(message) ? diskFull : message)
  return new UserError('store', `${path} cannot be written: ${why}.`)
}

const diskFull = 'its disk is full. Free some room, or name a file on another disk'

const tooLarge = 'it may not grow further. Raise ulimit -f, or name a file on another disk'

const forbidden = () => 'this user may not write there. Change its rights, or name another file'

const reasons: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `there is no folder ${dirname(path)}. Make it, or name another file`,
  ENOTDIR: (path) => `${dirname(path)} is no folder. Name another file`,
  EISDIR: () => 'it is a folder. Name a file in it',
  EACCES: forbidden,
  EPERM: forbidden,
  EROFS: forbidden,
  ENOSPC: () => diskFull,
  EDQUOT: () => diskFull,
  EFBIG: () => tooLarge,
}

/** DuckDB passes the words of the system on, or says how many bytes it could not write. */
function fullDisk(message: string): boolean {
  return /No space left|Disk quota|Could not write all bytes/i.test(message)
}
