/**
 * Text inside a statement, where DuckDB takes no parameter (COPY, ATTACH, names of columns). The
 * two only ways in which anything from outside ever becomes part of SQL.
 */

/** A string of SQL: quotes doubled, no other character means anything. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''").replaceAll('\0', '')}'`
}

/** A list of strings, as DuckDB has it. */
export const textList = (texts: readonly string[]) => `[${texts.map(literal).join()}]::VARCHAR[]`

/** A name of SQL. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""').replaceAll('\0', '')}"`
}

/** A path as DuckDB's readers take it: they would expand `*`, `?` and `[`, which names may hold. */
export function pathLiteral(path: string): string {
  return literal(path.replace(/[*?[]/g, (sign) => `[${sign}]`))
}
