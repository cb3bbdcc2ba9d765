/**
 * Quoting for SQL where DuckDB takes no parameters (COPY, ATTACH, column names). Outside text enters SQL only here.
 */

/** An SQL string. Doubling the quotes suffices: no other character is special. */
export const literal = (text: string): string =>
  `'${text.replaceAll("'", "''").replaceAll('\0', '')}'`

/** A DuckDB list of strings. */
export const textList = (texts: readonly string[]) => `[${texts.map(literal).join()}]::VARCHAR[]`

/** An SQL identifier. */
export const identifier = (name: string): string =>
  `"${name.replaceAll('"', '""').replaceAll('\0', '')}"`

type FileReader = 'read_parquet' | 'read_csv' | 'read_json_objects'

/** SQL for the rows of a file. Its name may have `*`, `?` and `[`, which DuckDB would expand. */
export const fileSql = (reader: FileReader, file: string, ...options: readonly string[]): string =>
  readSql(reader, unexpanded(file), options)

/** SQL for the rows of the Parquet files in a folder with such a name. @param name a pattern */
export const parquetsSql = (folder: string, name = '*.parquet'): string =>
  readSql('read_parquet', `${unexpanded(folder)}/${name}`, [])

/** A folder `date=2026-11-20` would be a column, which replaces that of the file. */
const readSql = (reader: FileReader, path: string, options: readonly string[]) =>
  `${reader}(${[literal(path), 'hive_partitioning = false', ...options].join(', ')})`

const unexpanded = (path: string) => path.replace(/[*?[]/g, (sign) => `[${sign}]`)
