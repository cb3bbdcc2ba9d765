import { adoptAttempts } from '../../src/store/adopt.ts'
import { forms } from '../../src/store/layout.ts'
import type { Store } from '../../src/store/open.ts'

/** Takes the rows of all attempts away. */
export async function deleteAttempts(store: Store): Promise<void> {
  for (const { table } of forms) await store.execute(`DELETE FROM ${table}`)
}

/** Runs SQL over `edited`, a plain table of all attempts, and puts its rows in their place. */
export async function editAttempts(store: Store, sql: string): Promise<void> {
  await store.execute('CREATE TEMP TABLE edited AS FROM attempts')
  await deleteAttempts(store)
  await store.execute(sql)
  await adoptAttempts(store, 'edited')
  await store.execute('DROP TABLE edited')
}
