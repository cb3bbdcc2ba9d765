import { generatesSql } from '../../../contract/request.ts'
import type { Evidence } from '../../rule.ts'
import { longestMsOf } from '../billing/load.ts'
import type { ExchangeRow } from '../exchange.ts'

/** Statuses of requests that are refused before any work: what was held for them is given back with the answer. */
const refusedAtOnce = [401, 402, 403, 404, 429]

/**
 * Which of these answers may show what was held, or charged at its start, for a request of the same account that did not succeed
 * (gap G-13): it had been sent by then, and may be settled later. An answer of the service settles a refusal; any other failure
 * may be settled until the service's own deadline.
 */
export async function heldDuring(
  { store, contract }: Pick<Evidence, 'store' | 'contract'>,
  answers: readonly ExchangeRow[],
): Promise<ReadonlySet<ExchangeRow>> {
  if (answers.length === 0) return new Set()
  const asked = answers.map(({ runId, account, keyFp, sentUs, closedUs }, nth) => ({
    ...{ nth, run: runId, owner: account ?? keyFp ?? '' },
    ...{ from_us: sentUs, by_us: closedUs ?? sentUs },
  }))
  const held = await store.rows<{ nth: number }>(
    `WITH asked AS (
       SELECT unnest(from_json($1, '[{"nth": "INTEGER", "run": "VARCHAR", "owner": "VARCHAR", "from_us": "DOUBLE", "by_us": "DOUBLE"}]'), recursive := true)),
     failed AS (
       SELECT run_id, coalesce(account, key_fp, '') AS owner, sent_us,
         CASE WHEN outcome = 'http_error' AND status IN (${refusedAtOnce.join(', ')})
           THEN coalesce(closed_us, headers_us, sent_us)
           ELSE sent_us + ${longestMsOf(contract) * 1000} / time_scale END AS until_us
       FROM attempts JOIN (SELECT run_id, time_scale FROM runs) USING (run_id)
       WHERE ${generatesSql} AND outcome <> 'ok' AND sent_us IS NOT NULL)
     SELECT DISTINCT nth FROM asked JOIN failed ON run_id = run AND failed.owner = asked.owner
       AND sent_us <= by_us AND until_us >= from_us`,
    [JSON.stringify(asked)],
  )
  return new Set(held.map(({ nth }) => answers[nth]!))
}
