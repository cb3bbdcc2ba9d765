/** `assay/import`: logs of usage and records of other tools. A function loads its code when it is first called. */
import type { FileImported } from '../store/import/import-file.ts'
import type { FileImport } from '../store/import/import-options.ts'
import type { Store } from '../store/session/open.ts'

export type { FileImported } from '../store/import/import-file.ts'
export type { FileImport, Meaning } from '../store/import/import-options.ts'
export { type Mapping, parseMapping } from '../store/import/mapping.ts'

/**
 * Imports a file, all or nothing: a usage log, or the records of another tool. The content decides which.
 *
 * @throws UserError when it cannot be read, is not whole, or its kind is unknown
 * @example
 * const store = await openStore('assay.duckdb')
 * const mapping = parseMapping('fields: { id: id, time: at, credits: cost }')
 * const { accepted, rejected } = await importFile(store, { file: 'gateway.jsonl', mapping })
 * console.log(`${accepted} lines, ${rejected} rejected`)
 * store.close()
 */
export async function importFile(store: Store, options: FileImport): Promise<FileImported> {
  return (await import('../store/import/import-file.ts')).importFile(store, options)
}
