import { textList } from '../../../store/literal.ts'
import { quartersSql } from '../../../store/quarters/quarters.ts'
import { type AccountScope, limitTo } from '../../../store/session/account.ts'
import type { Session } from '../../../store/session/session.ts'
import type { UsageEngine } from './engine.ts'

/** The sums of an engine by quarter of an hour, as a temporary table of the session. @param runIds only these runs; empty for all @returns its name */
export async function fillQuarters(
  session: Session,
  engine: UsageEngine,
  scope: AccountScope,
  runIds: readonly string[],
): Promise<string> {
  await session.execute(
    `SET VARIABLE usage_runs = ${textList(runIds)}; SET VARIABLE usage_sources = []::VARCHAR[]`,
  )
  await limitTo(session, scope, engine.keyTables)
  await engine.begin(session, { ...scope, runIds, sources: [] })
  await engine.fill(session, 'usage_sums', () => ({ rows: quartersSql() }))
  return 'usage_sums'
}
