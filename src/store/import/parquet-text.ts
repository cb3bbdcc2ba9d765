import { join } from 'node:path'
import { fileSql, literal } from '../literal.ts'
import type { Session } from '../session/session.ts'
import { knownFormats } from './formats/list.ts'

/**
 * Writes a Parquet file as JSON Lines, with its values as text, for readers that take lines.
 *
 * @param isMapped whether a mapping needs lines; else only known logs do
 * @returns the text; null if nothing needs it
 */
export async function parquetText(
  session: Session,
  { file, scratch, isMapped }: { file: string; scratch: string; isMapped: boolean },
): Promise<string | null> {
  const columns = await session
    .rows<{ column_name: string }>(`DESCRIBE SELECT * FROM ${fileSql('read_parquet', file)}`)
    // A damaged file gets its error from the reader of all logs.
    .catch(() => [])
  const has = (name: string) => columns.some((column) => column.column_name === name)
  if (!isMapped && !knownFormats.some((format) => format.recognises(has, ''))) return null
  const path = join(scratch, 'parquet.jsonl')
  await session.execute(
    `COPY (SELECT COLUMNS(*)::VARCHAR FROM ${fileSql('read_parquet', file)}) TO ${literal(path)} (FORMAT json)`,
  )
  return path
}
