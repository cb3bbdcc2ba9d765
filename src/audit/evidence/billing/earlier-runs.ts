import { generatesSql } from '../../../contract/request.ts'
import { abandonments, type BalanceHistory, columnsOf, effects } from './history.ts'
import { highestPrice, type PricedEvidence, priceTable } from './price-table.ts'

/**
 * Adds attempts that earlier runs abandoned on the same keys. A service may finish and charge such an attempt (gap
 * G-14) while this run reads its balances, until its own deadline. They come first: their calls precede the run.
 */
export async function withEarlier(
  { store, contract }: PricedEvidence,
  history: BalanceHistory,
): Promise<BalanceHistory> {
  const attempts = `
    FROM attempts JOIN runs USING (run_id)
      JOIN (SELECT run_id AS own_id, base_url, started_at AS began FROM runs WHERE run_id = $1) own
        ON runs.base_url = own.base_url AND runs.run_id <> own.own_id
      JOIN (SELECT key_fp, row_number() OVER (ORDER BY key_fp) AS nth
            FROM (SELECT DISTINCT key_fp FROM attempts
                  WHERE run_id = $1 AND coalesce(account, key_fp, '') = $2)) keys USING (key_fp)
      LEFT JOIN (SELECT * FROM ${priceTable(contract)} price(model, place, cost)) price
        ON lower(attempts.model) = lower(price.model)
      , LATERAL (SELECT epoch_us(started_at) - epoch_us(began) AS shift) shifted
    WHERE ${generatesSql} AND outcome NOT IN ('ok', 'http_error')
      AND sent_us IS NOT NULL AND sent_us + shift < 0 AND sent_us + shift > $3
    ORDER BY sent_us + shift, run_id, slot, retry`
  const parameters = [history.runId, history.account, -Math.ceil(history.lifetimeUs)]
  const runs = await store.rows<{ runId: string }>(
    `SELECT run_id AS "runId" ${attempts}`,
    parameters,
  )
  if (runs.length === 0) return history
  const columns = await store.doubles(
    `SELECT slot::DOUBLE, retry::DOUBLE, (sent_us + shift)::DOUBLE, NULL::DOUBLE,
       (coalesce(closed_us, headers_us, sent_us) + shift)::DOUBLE, ${effects.ambiguous}::DOUBLE,
       coalesce(price.cost, ${highestPrice(contract)})::DOUBLE, NULL::DOUBLE, streamed::DOUBLE,
       coalesce(price.place, -1)::DOUBLE, keys.nth::DOUBLE, status::DOUBLE, 0::DOUBLE, content_events::DOUBLE,
       CASE outcome WHEN 'aborted' THEN ${abandonments.aborted} WHEN 'timeout' THEN ${abandonments.timeout}
         ELSE ${abandonments.no} END::DOUBLE, 0::DOUBLE, sent_us + shift + $4::DOUBLE
     ${attempts}`,
    [...parameters, history.lifetimeUs],
  )
  return {
    ...history,
    size: runs.length + history.size,
    ...(history.pages === undefined
      ? {}
      : { pages: history.pages.map((row) => row + runs.length) }),
    earlierRunIds: runs.map(({ runId }) => runId),
    ...columnsOf((name, at) => {
      const whole = new Float64Array(runs.length + history.size)
      whole.set(columns[at]!)
      whole.set(history[name], runs.length)
      return whole
    }),
  }
}
