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

/** A path for DuckDB's readers, which would expand `*`, `?` and `[`. File names may contain them. */
export const pathLiteral = (path: string): string => literal(unexpanded(path))

/** DuckDB takes a folder `date=2026-11-20` for a column that replaces the file's own. */
export const withoutFolders = 'hive_partitioning = false'

/** SQL for the rows of a Parquet file. */
export const parquetSql = (file: string): string =>
  `read_parquet(${pathLiteral(file)}, ${withoutFolders})`

/** SQL for the rows of each Parquet file in a folder. */
export const parquetsSql = (folder: string): string =>
  `read_parquet(${literal(`${unexpanded(folder)}/*.parquet`)}, ${withoutFolders})`

const unexpanded = (path: string) => path.replace(/[*?[]/g, (sign) => `[${sign}]`)
