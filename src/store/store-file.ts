import { UserError } from '../user/user-error.ts'

/** A store that outlives a command. @throws UserError for one in memory */
export function storeFile(path: string): string {
  if (path !== '' && !path.startsWith(':memory:')) return path
  throw new UserError(
    'store',
    `--db: expected a file; came ${path === '' ? 'an empty name' : path}. What is in memory is gone when the command ends: name a file, such as --db assay.duckdb.`,
  )
}
