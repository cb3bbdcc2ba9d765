import { generatesSql } from '../../../contract/request.ts'
import {
  abandonmentSql,
  type BalanceHistory,
  columnsOf,
  columnsSql,
  effects,
  selectedColumns,
  timeoutSql,
} from './history.ts'
import { highestPrice, type PricedEvidence, priceTable } from './price-table.ts'

/** Adds attempts that earlier runs abandoned on the same keys, before this run's: a service may still charge them (gap G-14). */
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
  const sql = columnsSql({
    slot: 'slot',
    retry: 'retry',
    callUs: 'sent_us + shift',
    readUs: 'NULL',
    endUs: 'coalesce(closed_us, headers_us, sent_us) + shift',
    effect: String(effects.ambiguous),
    costCredits: `coalesce(price.cost, ${highestPrice(contract)})`,
    value: 'NULL',
    streamed: 'streamed',
    model: 'coalesce(price.place, -1)',
    key: 'keys.nth',
    status: 'status',
    step: '0',
    contentEvents: 'content_events',
    abandonment: abandonmentSql,
    timeout: timeoutSql,
    insufficient: '0',
    settlesByUs: 'sent_us + shift + $4::DOUBLE',
  })
  const columns = selectedColumns(
    await store.doubles(`SELECT ${sql} ${attempts}`, [...parameters, history.lifetimeUs]),
  )
  return {
    ...history,
    size: runs.length + history.size,
    ...(history.pages === undefined
      ? {}
      : { pages: history.pages.map((row) => row + runs.length) }),
    earlierRunIds: runs.map(({ runId }) => runId),
    ...columnsOf((name) => {
      const whole = new Float64Array(runs.length + history.size)
      whole.set(columns[name])
      whole.set(history[name], runs.length)
      return whole
    }),
  }
}
