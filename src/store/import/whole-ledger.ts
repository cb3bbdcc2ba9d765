import { userError } from '../../user/user-error.ts'
import { hasRows } from '../has-rows.ts'
import { textList } from '../literal.ts'
import type { Session } from '../session/session.ts'
import { heldEntries } from './entry-types.ts'
import { hasErrors } from './rejects.ts'

const mostShown = 5

/**
 * Credits and money that are held need every row of their ledger: one that is missing makes a balance wrong, and nobody would see it. Rows of
 * usage may be rejected, as in any log.
 *
 * @throws UserError if a log has rows that give or take what is held, and one that may be such a row was not understood, or contradicts what is known
 */
export async function refuseHalfLedger(session: Session, file: string): Promise<void> {
  const isHeld = `list_contains(${textList(heldEntries)}, type)`
  if (!(await hasRows(session, `staging.lines WHERE ${isHeld}`))) return
  const bad = await session.rows<{ row: number; why: string }>(
    `SELECT rowid + 1 AS row, coalesce(reason, 'id: it was imported before with other content; map version if the newest counts') AS why
     FROM staging.lines
     WHERE reason IS NOT NULL AND type IS DISTINCT FROM 'usage'
       OR ${isHeld} AND rowid IN (SELECT line_no FROM staging.known WHERE how = 'differs')
     ORDER BY rowid`,
  )
  const unread = await hasErrors(session)
  if (bad.length === 0 && !unread) return
  const shown = bad.slice(0, mostShown).map(({ row, why }) => `\n  row ${row}: ${why}`)
  const more = bad.length > mostShown ? `\n  and ${bad.length - mostShown} more` : ''
  const lines = unread ? '\n  lines that cannot be read' : ''
  throw userError.import(
    `${file}: credits that are held need every row of their ledger, and some are not understood. Nothing was imported.${shown.join('')}${more}${lines}`,
  )
}
