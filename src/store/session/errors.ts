import { dirname } from 'node:path'
import { lookup } from '../../user/lookup.ts'
import { UserError, userError } from '../../user/user-error.ts'

/**
 * DuckDB's reason for a failed read or write; null for every other error.
 *
 * A truncated file opens as long as its first blocks are whole. It fails in the middle of a query, possibly in another
 * thread, and only the error's message survives.
 */
export function storeFailure(error: unknown): string | null {
  const [, why] = /\bIO Error: ([^\n]*)/.exec(error instanceof Error ? error.message : '') ?? []
  return why === undefined
    ? null
    : `The store cannot be read or written: ${why}. The file may be cut off or damaged, or its disk full; use a copy that is whole.`
}

/**
 * The error for a disk that is full, whichever library met it; null for every other error.
 *
 * @param path the file, if the error does not name it
 */
export function diskFailure(path: string, error: unknown): UserError | null {
  if (error instanceof UserError || !(error instanceof Error)) return null
  const { code = '', message, path: own } = error as NodeJS.ErrnoException
  const isFull = ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code) || fullDisk(message)
  if (!isFull && !/File too large/i.test(message)) return null
  const [, named] = /\bfile "([^"]+)"/.exec(message) ?? []
  return cannotWrite(named ?? own ?? path, error)
}

/** The error for a query that needs more memory than DuckDB may use; null for every other error. */
export function memoryFailure(path: string, error: unknown): UserError | null {
  if (error instanceof UserError || !(error instanceof Error)) return null
  const [, limit] = /\bOut of Memory Error: .*?\/([\d.]+ [KMG]iB) used/.exec(error.message) ?? []
  if (limit === undefined) return null
  return userError.store(
    `A query of ${path} needs more memory than the ${limit} that DuckDB may use here. The file is whole. DuckDB may use a gibibyte for each core, so use a machine with more cores and memory, or ask for fewer runs.`,
  )
}

/** The error for a file that cannot be written: the file, the cause and the remedy. */
export function cannotWrite(path: string, error: unknown): UserError {
  if (error instanceof UserError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  const why =
    reasons[code]?.(path) ??
    (/File too large/i.test(message) ? tooLarge : fullDisk(message) ? diskFull : message)
  return userError.store(`${path} cannot be written: ${why}.`)
}

const diskFull = 'its disk is full. Free some room, or name a file on another disk'

const tooLarge = 'it may not grow further. Raise ulimit -f, or name a file on another disk'

const forbidden = () => 'this user may not write there. Change its rights, or name another file'

const reasons: Readonly<Record<string, (path: string) => string>> = lookup({
  ENOENT: (path) =>
    // Of a path that ends so, the folder is all of it.
    path.endsWith('/')
      ? `it is a folder, which is not there. Name a file, such as ${path}page.html`
      : `there is no folder ${dirname(path)}. Make it, or name another file`,
  ENOTDIR: (path) => `${dirname(path)} is no folder. Name another file`,
  EISDIR: () => 'it is a folder. Name a file in it',
  EACCES: forbidden,
  EPERM: forbidden,
  EROFS: forbidden,
  ENOSPC: () => diskFull,
  EDQUOT: () => diskFull,
  EFBIG: () => tooLarge,
})

/** DuckDB quotes the system's message, or reports how many bytes it could not write. */
const fullDisk = (message: string): boolean =>
  /No space left|Disk quota|Could not write all bytes/i.test(message)
