import { literal } from '../literal.ts'
import type { Session } from '../session/session.ts'

/** A column that is the same in all lines, as SQL. */
export interface SameColumn {
  readonly name: string
  readonly sql: string
}

/** The unit of lines that do not name one. */
export const ownUnit = literal('credits')

/**
 * Creates `staging.lines`. Only columns that differ between lines are stored, in the table `staging.stored`; the view
 * adds the others and `rowid`. Most logs have a third of the columns.
 *
 * @param select SQL of the stored columns
 */
export async function createLines(
  session: Session,
  select: string,
  same: readonly SameColumn[],
): Promise<void> {
  await session.execute(`
    DROP VIEW IF EXISTS staging.lines;
    CREATE OR REPLACE TABLE staging.stored AS ${select}`)
  await createView(session, same)
}

function createView(session: Session, same: readonly SameColumn[]): Promise<void> {
  const columns = ['rowid', '*', ...same.map(({ name, sql }) => `${sql} AS ${name}`)]
  return session.execute(
    `CREATE OR REPLACE VIEW staging.lines AS SELECT ${columns.join(', ')} FROM staging.stored`,
  )
}

/** Stores columns, before they are written. */
export async function storeColumns(session: Session, names: readonly string[]): Promise<void> {
  const columns = await session.rows<{ relation: string; name: string; type: string }>(
    `SELECT table_name AS relation, column_name AS name, data_type AS type FROM duckdb_columns()
     WHERE database_name = 'staging' AND table_name IN ('stored', 'lines') ORDER BY column_index`,
  )
  const stored = columns.filter(({ relation }) => relation === 'stored').map(({ name }) => name)
  const same = columns.filter(
    ({ relation, name }) => relation === 'lines' && name !== 'rowid' && !stored.includes(name),
  )
  const added = same.filter(({ name }) => names.includes(name))
  if (added.length === 0) return
  for (const { name, type } of added) {
    await session.execute(`ALTER TABLE staging.stored ADD COLUMN ${name} ${type}`)
  }
  const rest = same.filter((column) => !added.includes(column))
  await createView(
    session,
    rest.map(({ name, type }) => ({
      name,
      sql: name === 'unit' ? ownUnit : `NULL::${type}`,
    })),
  )
}
