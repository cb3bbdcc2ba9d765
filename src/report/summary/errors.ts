import { flagSql } from '../../attempt/flags.ts'
import type { Session } from '../../store/session/session.ts'
import type { Counted } from './groups.ts'
import type { RunSummary } from './shape.ts'

type ErrorKind = RunSummary['errors'][number]

type Row = Omit<ErrorKind, 'said'> & {
  readonly message: string | null
  /** The first of these attempts whose body is kept, by run, slot and retry. */
  readonly first: { readonly runId: string; readonly slot: number; readonly retry: number } | null
}

/** Kinds of errors whose bodies are read. */
const mostBodies = 30
const longestBody = 2000

/** The attempts that did not succeed, by kind, the most frequent first, each with what the service said. */
export async function readErrors(
  session: Session,
  { from, parameters }: Counted,
): Promise<RunSummary['errors']> {
  const rows = await session.rows<Row>(
    `SELECT outcome, status, coalesce(error_code, error_type) AS code, reason,
       on_purpose AS "onPurpose", count(*)::INTEGER AS count, min(error_message) AS message,
       min({ "runId": run_id, slot: slot, retry: retry }) FILTER (WHERE ${flagSql('captured')}) AS first
     FROM ${from} WHERE outcome <> 'ok'
     GROUP BY ALL ORDER BY count DESC, outcome, status, code, reason, "onPurpose"`,
    [...parameters],
  )
  const errors: ErrorKind[] = []
  for (const [at, { first, message, ...kind }] of rows.entries()) {
    const body = first === null || at >= mostBodies ? null : await bodyOf(session, first)
    errors.push({ ...kind, said: body ?? message })
  }
  return errors
}

/** Null for an empty body. */
async function bodyOf(session: Session, of: NonNullable<Row['first']>): Promise<string | null> {
  const [row] = await session.rows<{ body: string | null }>(
    'SELECT body FROM bodies WHERE run_id = $1 AND slot = $2 AND retry = $3',
    [of.runId, of.slot, of.retry],
  )
  const body = row?.body?.trim() ?? ''
  // Not between the two halves of a letter.
  return body === '' ? null : body.slice(0, longestBody).replace(/[\uD800-\uDBFF]$/, '')
}
