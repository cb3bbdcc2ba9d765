import type { Contract } from '../../contract/contract.ts'
import { generatesSql } from '../../contract/request.ts'
import { balanceOrder } from '../../measure/credits.ts'
import type { Session } from '../../store/session/session.ts'
import type { UsageEngine } from './engine/engine.ts'
import * as queries from './engine/queries.ts'
import { oddHours } from './odd-hours.ts'
import { oddRows } from './odd-rows.ts'
import type { Anomaly, Reconciliation } from './shape.ts'

const rowsShown = 5
/** Successes in a row with an unchanged balance before it is called flat. */
const flatRun = 20

type Row = Anomaly['rows'][number]

/** Anomalies of the period that a person should check, with rows as examples. Only the audit gives verdicts. */
export async function findAnomalies(
  session: Session,
  engine: UsageEngine,
  contract: Contract | null,
  units: readonly string[],
  reconciliation: Reconciliation,
): Promise<readonly Anomaly[]> {
  const found = [
    ...(engine.holdsRequests ? await oddRows(session, engine, contract) : []),
    ...(await oddHoursAndKeys(session, engine, units)),
    ...(await flatRemaining(session)),
    ...differences(reconciliation),
  ]
  return found.filter((anomaly) => anomaly.count > 0)
}

/** The anomalies that sums show without the contract. @param units of amounts; hours are judged in each of them */
export async function oddHoursAndKeys(
  session: Session,
  engine: UsageEngine,
  units: readonly string[],
): Promise<readonly Anomaly[]> {
  const found = [...(await oddHours(session, units)), ...(await newKeys(session, engine))]
  return found.filter((anomaly) => anomaly.count > 0)
}

/** Keys first seen in the period, if there is a whole day of earlier usage. */
async function newKeys(session: Session, engine: UsageEngine): Promise<readonly Anomaly[]> {
  await engine.fill(session, 'usage_new_keys', queries.newKeys)
  const rows = await session.rows<Row & { n: number }>(
    `SELECT 'key' AS source, key_fp AS id, first_us AS "atUs",
       requests || ' requests in the period' AS shows, n::BIGINT AS n
     FROM usage_new_keys ORDER BY first_us, key_fp`,
  )
  const count = rows[0]?.n ?? 0
  return [
    {
      kind: 'new-key',
      count,
      summary: `${count} ${count === 1 ? 'key' : 'keys'} never seen before.`,
      rows: rows.map(({ n: _, ...row }) => row),
    },
  ]
}

/** Balances that do not fall despite successes with a price: a cached header, or no charge. */
async function flatRemaining(session: Session): Promise<readonly Anomaly[]> {
  const order = `${balanceOrder('headers_us', 'credits_remaining')}, slot, retry`
  const rows = await session.rows<Row>(
    `SELECT run_id AS source, any_value(coalesce(account, key_fp)) || ' at ' || remaining AS id,
       min(at_us) AS "atUs", count(*) || ' consecutive successes with an unchanged balance' AS shows
     FROM (
       SELECT run_id, account, key_fp, credits_remaining AS remaining,
         service_start_us + (closed_us * time_scale)::BIGINT AS at_us,
         row_number() OVER (PARTITION BY run_id, account, key_fp ORDER BY ${order})
           - row_number() OVER (PARTITION BY run_id, account, key_fp, credits_remaining ORDER BY ${order})
           AS island
       FROM attempts JOIN run_clocks USING (run_id)
       JOIN model_prices ON model_prices.contract = run_clocks.contract
         AND model_prices.model = attempts.model AND model_prices.credits > 0
       WHERE outcome = 'ok' AND ${generatesSql} AND credits_remaining IS NOT NULL
         AND (len(getvariable('usage_runs')) = 0 OR list_contains(getvariable('usage_runs'), run_id)))
     GROUP BY run_id, account, key_fp, remaining, island HAVING count(*) >= ${flatRun}
     ORDER BY count(*) DESC`,
  )
  return [
    {
      kind: 'flat-remaining',
      count: rows.length,
      summary: `${rows.length} series of successes did not change X-Credits-Remaining.`,
      rows,
    },
  ]
}

function differences(reconciliation: Reconciliation): readonly Anomaly[] {
  if (!reconciliation.known) return []
  const differing = reconciliation.rows.filter((row) => row.verdict === 'differs')
  return [
    {
      kind: 'service-differs',
      count: differing.length,
      summary: reconciliation.summary,
      rows: differing.slice(0, rowsShown).map((row) => ({
        source: 'poll',
        id: row.account,
        atUs: row.toUs,
        shows: `service ${row.serviceReported}, seen ${row.seen}${row.seenAtMost > row.seen ? ` to ${row.seenAtMost}` : ''}`,
      })),
    },
  ]
}
