import { writeOutputBy } from '../output.ts'
import type { Session } from '../session.ts'
import { content, stagedContent } from './content.ts'
import { literal } from './literal.ts'

/** Whether the CSV reader reported unreadable lines. */
export async function hasErrors(store: Session): Promise<boolean> {
  const tables = await store.rows(
    `SELECT 1 AS there FROM duckdb_tables() WHERE table_name = 'import_errors'`,
  )
  return tables.length > 0
}

/** Writes the rejected lines with their reasons. @returns the file; null if nothing was rejected */
export async function writeRejects(
  store: Session,
  { rejectsFile }: { readonly rejectsFile: string },
  rejected: number,
): Promise<string | null> {
  if (rejected === 0) return null
  const errorsAreThere = await hasErrors(store)
  const again = 'id: it was seen before with other content; the first is kept'
  const fields = stagedContent().map((sql, at) => `${content[at]} := ${sql}`)
  await writeOutputBy(rejectsFile, (partial) =>
    store.execute(
      `COPY (
       SELECT reason, line FROM staging.lines WHERE reason IS NOT NULL
       UNION ALL
       SELECT ${literal(again)} AS reason,
              to_json(struct_pack(id := id, ${fields.join(', ')}))::VARCHAR AS line
       FROM staging.lines WHERE rowid IN (SELECT line_no FROM staging.known WHERE how = 'differs')
       ${errorsAreThere ? 'UNION ALL SELECT reason, text FROM staging.unread' : ''}
     ) TO ${literal(partial)} (FORMAT json, USE_TMP_FILE false)`,
    ),
  )
  return rejectsFile
}
