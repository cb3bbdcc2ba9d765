import { identifier, literal } from '../store/literal.ts'
import type { Session } from '../store/session/session.ts'

/** Puts a temporary copy in the place of a table of the store, so that an operation's changes are its own. */
export async function hideTable(session: Session, table: string): Promise<void> {
  const [own] = await session.rows<{ name: string }>('SELECT current_database() AS name')
  await session.execute(
    `CREATE TEMP TABLE IF NOT EXISTS ${table} AS FROM ${identifier(own!.name)}.main.${table}`,
  )
}

/**
 * The beginning of a statement that defines a relation of many queries: a view, or a table of the view's rows if they
 * are few, which is quicker than to plan and run the view's query again for each.
 */
export const relationSql = (name: string, isSmall: boolean): string =>
  isSmall ? `CREATE OR REPLACE TEMP TABLE ${name} AS` : `CREATE OR REPLACE TEMP VIEW ${name} AS`

/**
 * Makes a temporary table of rows that were not computed in SQL, so that charts can query them. The rows are one JSON
 * parameter, never part of the statement.
 *
 * @param columns their types in SQL by their names; other properties of a row are ignored
 */
export async function fillTable<Name extends string>(
  session: Session,
  table: string,
  columns: Readonly<Record<Name, string>>,
  rows: readonly Readonly<Record<Name, unknown>>[],
): Promise<void> {
  const defined = Object.entries(columns).map(([name, type]) => `"${name}" ${type}`)
  await session.execute(`CREATE OR REPLACE TEMP TABLE ${table} (${defined.join(', ')})`)
  if (rows.length === 0) return
  await session.execute(
    `INSERT INTO ${table} BY NAME
     SELECT unnest(from_json($1, ${literal(JSON.stringify([columns]))}), recursive := true)`,
    [JSON.stringify(rows)],
  )
}
