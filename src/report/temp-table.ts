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

type NameOf<Column> = Column extends `${' ' | '\n'}${infer Rest}`
  ? NameOf<Rest>
  : Column extends `${infer Name} ${string}`
    ? Name
    : never
type NamesIn<Columns> = Columns extends `${infer First},${infer Rest}`
  ? NameOf<First> | NamesIn<Rest>
  : NameOf<Columns>
type NamesOf<Table> = Table extends `${string} (${infer Columns})` ? NamesIn<Columns> : never

/**
 * Makes a temporary table of rows that were not computed in SQL, so that charts can query them. The rows are one JSON
 * parameter, never part of the statement.
 *
 * @param table its name and columns as SQL: `shown (place INTEGER, words VARCHAR)`; other properties of a row are ignored
 */
export async function fillTable<const Table extends string>(
  session: Session,
  table: Table,
  rows: readonly Readonly<Record<NamesOf<Table>, unknown>>[],
): Promise<void> {
  const [, name, list] = /^(\w+) \((.*)\)$/s.exec(table)!
  const columns = list!.split(/,\s+/).map((column) => column.trim().split(/ (.*)/))
  await session.execute(
    `CREATE OR REPLACE TEMP TABLE ${name} (${columns.map(([of, type]) => `"${of}" ${type}`).join(', ')})`,
  )
  if (rows.length === 0) return
  const form = Object.fromEntries(columns.map(([of, type]) => [of, type]))
  await session.execute(
    `INSERT INTO ${name} BY NAME
     SELECT unnest(from_json($1, ${literal(JSON.stringify([form]))}), recursive := true)`,
    [JSON.stringify(rows)],
  )
}
