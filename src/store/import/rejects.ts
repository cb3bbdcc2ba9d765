import { writeOutputBy } from '../files/output.ts'
import { hasRows, hasTable } from '../has-rows.ts'
import { literal, textList } from '../literal.ts'
import type { Session } from '../session/session.ts'
import type { CsvShape } from './log-scan.ts'

/** Whether the CSV reader reported unreadable lines. Its table is there from the first CSV file on, without rows. */
export const hasErrors = async (session: Session): Promise<boolean> =>
  (await hasTable(session, 'import_errors')) && (await hasRows(session, 'import_errors'))

/** Writes the rejected lines with their reasons. @returns the file; null if nothing was rejected */
export async function writeRejects(
  session: Session,
  { rejectsFile, csv }: { readonly rejectsFile: string; readonly csv: CsvShape | null },
  rejected: number,
): Promise<string | null> {
  if (rejected === 0) return null
  const errorsAreThere = await hasErrors(session)
  const again = 'id: it was seen before with other content; the first is kept'
  // An unread line of CSV is raw text, so the columns and the delimiter stand beside it; the others are JSON already.
  const shape =
    csv === null
      ? ''
      : `, ${textList(csv.columns)} AS columns, ${literal(csv.delimiter)} AS delimiter`
  await writeOutputBy(rejectsFile, (partial) =>
    session.execute(
      `COPY (
       SELECT reason, line FROM staging.lines WHERE reason IS NOT NULL
       UNION ALL
       SELECT ${literal(again)} AS reason, line
       FROM staging.lines WHERE rowid IN (SELECT line_no FROM staging.known WHERE how = 'differs')
       ${errorsAreThere ? `UNION ALL BY NAME SELECT reason, text AS line${shape} FROM staging.unread` : ''}
     ) TO ${literal(partial)} (FORMAT json, USE_TMP_FILE false)`,
    ),
  )
  return rejectsFile
}
