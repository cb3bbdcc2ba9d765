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

/** Each Parquet file in a folder, for DuckDB's readers. */
export const parquetsLiteral = (folder: string): string =>
  literal(`${unexpanded(folder)}/*.parquet`)

const unexpanded = (path: string) => path.replace(/[*?[]/g, (sign) => `[${sign}]`)
