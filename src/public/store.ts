/** `assay/store`: stores, what is in them, and files out. A function loads its code when it is first called. */
import type { ExportOptions } from '../store/files/export.ts'
import type { MergeOptions } from '../store/runs/merge.ts'
import type { Store } from '../store/session/open.ts'

export { type AttemptRow, attemptColumns } from '../attempt/columns.ts'
export { type Effect, type End, effectOf, type Outcome } from '../attempt/outcome.ts'
export type { Exportable, ExportFormat, ExportOptions } from '../store/files/export.ts'
export type { MergeOptions } from '../store/runs/merge.ts'
export { type ListedRun, listRuns } from '../store/runs/runs.ts'
export type { AccountScope } from '../store/session/account.ts'
export {
  type OpenOptions,
  openExistingStore,
  openStore,
  type Store,
} from '../store/session/open.ts'
export type { Cell, Reader, Session, SessionScope, SqlRow } from '../store/session/session.ts'
export { UserError, type UserErrorCode } from '../user/user-error.ts'
export type { Work, WorkProgress } from '../user/work.ts'

/**
 * Writes rows of a store to a file.
 *
 * @returns the number of rows
 * @throws UserError if the file cannot be written, or would replace the store
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const rows = await exportTable(store, { what: 'attempts', file: 'attempts.csv', format: 'csv' })
 * console.log(`${rows} rows`)
 * store.close()
 */
export async function exportTable(store: Store, options: ExportOptions): Promise<number> {
  return (await import('../store/files/export.ts')).exportTable(store, options)
}

/**
 * Merges the parts of one run from several stores into this one. Parts that it already has are skipped.
 *
 * @returns the id of the run
 * @throws UserError for stores without parts, parts of another run, missing parts, or a shard that ran twice at once
 * @example
 * const store = await openStore('merged.duckdb')
 * const runId = await mergeParts(store, { paths: ['shard-0.duckdb', 'shard-1.duckdb'] })
 * console.log(await judgeParts(store, { runId }))
 * store.close()
 */
export async function mergeParts(store: Store, options: MergeOptions): Promise<string> {
  return (await import('../store/runs/merge.ts')).mergeParts(store, options)
}
