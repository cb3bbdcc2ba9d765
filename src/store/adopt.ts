import { type ColumnName, sqlName } from '../attempt/columns.ts'
import { rowColumns, shared } from './layout.ts'
import type { Store } from './open.ts'

/**
 * Takes rows over from a plain table that has the columns of attempts: from a store of version 1, or
 * from one that SQL has made.
 *
 * @param table part of the SQL text: a name of our own, never one that came from outside
 */
export async function adoptAttempts(store: Store, table: string): Promise<void> {
  await adoptShared(store, table, 'askings', 'asking')
  await adoptShared(store, table, 'endings', 'ending')
  await store.execute(
    `INSERT INTO attempt_rows
     SELECT asking, ending, ${list(rowColumns)} FROM ${table} AS given
     JOIN (SELECT min(asking) AS asking, ${list(shared.askings)} FROM askings GROUP BY ALL) AS askings
       ON ${same('askings')}
     JOIN (SELECT min(ending) AS ending, ${list(shared.endings)} FROM endings GROUP BY ALL) AS endings
       ON ${same('endings')}`,
  )
}

/** What no row of the store shares yet gets numbers after those that are there. */
async function adoptShared(
  store: Store,
  table: string,
  into: keyof typeof shared,
  number: string,
): Promise<void> {
  await store.execute(
    `INSERT INTO ${into}
     SELECT (SELECT coalesce(max(${number}), -1) FROM ${into}) + row_number() OVER (), *
     FROM (SELECT DISTINCT ${list(shared[into])} FROM ${table} AS given
           WHERE NOT EXISTS (FROM ${into} WHERE ${same(into)}))`,
  )
}

const list = (names: readonly ColumnName[]) => names.map(sqlName).join(', ')

const same = (table: keyof typeof shared) =>
  shared[table]
    .map((name) => `${table}.${sqlName(name)} IS NOT DISTINCT FROM given.${sqlName(name)}`)
    .join(' AND ')
