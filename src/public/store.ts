/** `assay/store`: stores, what is in them, and files out. A function loads its code when it is first called. */
import type { Exportable, ExportFormat, ExportWork } from '../store/files/export.ts'
import type { Store } from '../store/session/open.ts'
import type { Work } from '../user/work.ts'

export { type AttemptRow, attemptColumns } from '../attempt/columns.ts'
export { type Effect, type End, effectOf, type Outcome } from '../attempt/outcome.ts'
export type { Exportable, ExportFormat, ExportWork } from '../store/files/export.ts'
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
 * @param runIds runs, or sources of usage; empty for all
 * @returns the number of rows
 * @throws UserError if the file cannot be written, or would replace the store
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * const rows = await exportTable(store, 'attempts', [], 'attempts.csv', 'csv')
 * console.log(`${rows} rows`)
 * store.close()
 */
export async function exportTable(
  store: Store,
  what: Exportable,
  runIds: readonly string[],
  file: string,
  format: ExportFormat,
  work: ExportWork = {},
): Promise<number> {
  const { exportTable } = await import('../store/files/export.ts')
  return exportTable(store, what, runIds, file, format, work)
}

/**
 * Merges the parts of one run from several stores into this one. Parts that it already has are skipped.
 *
 * @param allowMissing whether parts may be missing
 * @returns the id of the run
 * @throws UserError for stores without parts, parts of another run, missing parts, or a shard that ran twice at once
 * @example
 * const store = await openStore('merged.duckdb')
 * const runId = await mergeParts(store, ['shard-0.duckdb', 'shard-1.duckdb'], false)
 * console.log(await judgeParts(store, runId))
 * store.close()
 */
export async function mergeParts(
  store: Store,
  paths: readonly string[],
  allowMissing: boolean,
  work: Work = {},
): Promise<string> {
  return (await import('../store/runs/merge.ts')).mergeParts(store, paths, allowMissing, work)
}
