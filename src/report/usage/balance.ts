import type { Grant } from '../../contract/grant.ts'
import { balanceOrder } from '../../measure/credits.ts'
import { quarterUs } from '../../measure/usage/quantities.ts'
import type { Session } from '../../store/session/session.ts'
import type { BalancePoint } from './shape.ts'

/**
 * SQL for all observed balances: account, time, credits and source. A poll belongs to the account that runs gave its
 * key.
 */
const seen = `
  SELECT 'header' AS seen_in, coalesce(account, key_fp, '(unknown)') AS account,
    service_start_us + (headers_us * time_scale)::BIGINT AS at_us,
    credits_remaining AS remaining
  FROM attempts JOIN run_clocks USING (run_id)
  WHERE credits_remaining IS NOT NULL AND headers_us IS NOT NULL
    AND (len(getvariable('usage_runs')) = 0 OR list_contains(getvariable('usage_runs'), run_id))
  UNION ALL
  SELECT 'poll', coalesce((SELECT any_value(account) FROM request_kinds WHERE request_kinds.key_fp = poll_times.key_fp), key_fp),
    at_us, remaining::DOUBLE
  FROM poll_times WHERE remaining IS NOT NULL`

const order = balanceOrder('at_us', 'remaining')

/** The last balance of each quarter hour and account in the period. */
export function readBalance(session: Session): Promise<readonly BalancePoint[]> {
  return session.rows<BalancePoint>(
    `SELECT max(at_us) AS "atUs", account, arg_max(remaining, ${order}) AS remaining,
       arg_max(seen_in, ${order}) AS "from"
     FROM (${seen})
     WHERE at_us >= getvariable('usage_from') AND at_us < getvariable('usage_to')
     GROUP BY account, at_us // ${quarterUs} ORDER BY "atUs", account`,
  )
}

/**
 * The grants held now: those in the last poll of each key, else that poll's balance, else the last X-Credits-Remaining
 * of each account, as one grant without expiry. Null without any of these.
 */
export async function readGrants(
  session: Session,
  nowUs: number,
): Promise<readonly Grant[] | null> {
  const polls = await session.rows<{ remaining: number | null; grants_json: string | null }>(
    `SELECT arg_max(remaining::DOUBLE, polled_us) AS remaining,
       arg_max_null(grants_json, polled_us) AS grants_json
     FROM usage_polls WHERE remaining IS NOT NULL GROUP BY key_fp`,
  )
  if (polls.length > 0) {
    return polls.flatMap(({ remaining, grants_json }) => {
      const grants = grants_json === null ? [] : (JSON.parse(grants_json) as Grant[])
      return grants.length > 0
        ? grants
        : [{ name: 'balance', credits: remaining!, expiresUs: null }]
    })
  }
  const balances = await session.rows<{ account: string; remaining: number }>(
    `SELECT account, arg_max(remaining, ${order}) AS remaining FROM (${seen})
     WHERE at_us <= $1 GROUP BY account ORDER BY account`,
    [BigInt(Math.round(nowUs))],
  )
  if (balances.length === 0) return null
  return balances.map(({ account, remaining }) => ({
    name: account,
    credits: remaining,
    expiresUs: null,
  }))
}
