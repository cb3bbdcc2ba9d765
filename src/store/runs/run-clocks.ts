import { identifier } from '../literal.ts'
import type { Session } from '../session/session.ts'

/**
 * Keeps the clocks of the runs as this session sees them now. Otherwise each query of `usage` reads all attempts twice, and DuckDB
 * guesses that the clocks are more than the attempts: it keeps all attempts in memory to join them.
 */
export async function keepRunClocks(session: Session): Promise<void> {
  const [own] = await session.rows<{ name: string }>('SELECT current_database() AS name')
  await session.execute(
    `CREATE OR REPLACE TEMP TABLE run_clocks AS FROM ${identifier(own!.name)}.main.run_clocks`,
  )
}
