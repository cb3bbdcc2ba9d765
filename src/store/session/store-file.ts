import { userError } from '../../user/user-error.ts'

/** Checks that a store outlives the command. @throws UserError for one in memory */
export function storeFile(path: string): string {
  if (path !== '' && !path.startsWith(':memory:')) return path
  throw userError.store(
    `--db: expected a file; got ${path === '' ? 'an empty name' : path}. A store in memory is lost when the command ends. Name a file, such as --db assay.duckdb.`,
  )
}
