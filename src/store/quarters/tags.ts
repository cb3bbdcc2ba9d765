import { tagPointer } from '../../measure/usage/tags.ts'
import { literal } from '../literal.ts'

/** SQL (DuckDB) for the value of a tag, over rows with the column `tags`; null for a row without it. */
export const tagSql = (name: string): string =>
  `nullif(json_extract_string(tags, ${literal(tagPointer(name))}), '')`

/** SQL (DuckDB) for the tags of a row. @param values SQL of the value of each name; null, and an empty text, is none */
export function tagsSql(values: ReadonlyMap<string, string>): string {
  if (values.size === 0) return 'NULL::VARCHAR'
  const sorted = [...values].sort(([a], [b]) => (a < b ? -1 : 1))
  const pairs = sorted.map(([name, sql]) => `${literal(name)}, nullif((${sql})::VARCHAR, '')`)
  // A patch leaves out what is null.
  return `nullif(json_merge_patch('{}', json_object(${pairs.join(', ')}))::VARCHAR, '{}')`
}
