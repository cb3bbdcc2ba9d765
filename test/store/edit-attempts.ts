import { type ColumnName, sqlName } from '../../src/attempt/columns.ts'
import {
  forms,
  numberOf,
  rowColumns,
  type SharedTable,
  shared,
  sharedTables,
} from '../../src/store/attempts/layout.ts'
import type { Store } from '../../src/store/session/open.ts'

/** Removes the rows of all attempts. */
export async function deleteAttempts(store: Store): Promise<void> {
  for (const { table } of forms) await store.execute(`DELETE FROM ${table}`)
}

/** Runs SQL over `edited`, a plain table of all attempts, and replaces them with its rows. */
export async function editAttempts(store: Store, sql: string): Promise<void> {
  await store.execute('CREATE TEMP TABLE edited AS FROM attempts')
  await deleteAttempts(store)
  await store.execute(sql)
  await adoptAttempts(store, 'edited')
  await store.execute('DROP TABLE edited')
}

/** Takes over rows from a plain table with the columns of attempts. */
export async function adoptAttempts(store: Store, table: string): Promise<void> {
  for (const into of sharedTables) await adoptShared(store, table, into)
  await store.execute(
    `INSERT INTO attempt_rows
     SELECT request_kind, ending, ${list(rowColumns)} FROM ${table} AS given
     JOIN (SELECT min(request_kind) AS request_kind, ${list(shared.request_kinds)} FROM request_kinds GROUP BY ALL) AS request_kinds
       ON ${same('request_kinds')}
     JOIN (SELECT min(ending) AS ending, ${list(shared.endings)} FROM endings GROUP BY ALL) AS endings
       ON ${same('endings')}`,
  )
}

/** Values that no row in the store shares yet get numbers after the existing ones. */
async function adoptShared(store: Store, table: string, into: SharedTable): Promise<void> {
  const number = numberOf[into]
  await store.execute(
    `INSERT INTO ${into}
     SELECT (SELECT coalesce(max(${number}), -1) FROM ${into}) + row_number() OVER (), *
     FROM (SELECT DISTINCT ${list(shared[into])} FROM ${table} AS given
           WHERE NOT EXISTS (FROM ${into} WHERE ${same(into)}))`,
  )
}

const list = (names: readonly ColumnName[]) => names.map(sqlName).join(', ')

const same = (table: SharedTable) =>
  shared[table]
    .map((name) => `${table}.${sqlName(name)} IS NOT DISTINCT FROM given.${sqlName(name)}`)
    .join(' AND ')
