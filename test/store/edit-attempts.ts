import { adoptAttempts } from '../../src/store/adopt.ts'
import type { Store } from '../../src/store/open.ts'

/** Runs SQL over `edited`, a plain table of all attempts, and puts its rows in their place. */
export async function editAttempts(store: Store, sql: string): Promise<void> {
  await store.execute('CREATE TEMP TABLE edited AS FROM attempts')
  await store.execute('DELETE FROM attempt_rows')
  await store.execute(sql)
  await adoptAttempts(store, 'edited')
  await store.execute('DROP TABLE edited')
}
