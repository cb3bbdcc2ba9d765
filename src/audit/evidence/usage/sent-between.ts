import { generatesSql } from '../../../contract/request.ts'
import { literal } from '../../../store/literal.ts'
import { openPricesOf } from '../balances.ts'
import { maybePaidSql } from '../billing/maybe-paid.ts'
import { isEmpty } from '../billing/open-prices.ts'
import { type PricedEvidence, priceTable } from '../billing/price-table.ts'
import type { ExchangeRow } from '../exchange.ts'
import { type SentBetween, SentByMoment } from './sent-by-moment.ts'

export type RowPair = readonly [earlier: ExchangeRow, later: ExchangeRow]

/** What the account of each pair of rows sent between their responses; null if its cost is not certain. One query for all pairs. */
export async function sentBetween(
  evidence: PricedEvidence,
  pairs: readonly RowPair[],
): Promise<readonly (SentBetween | null)[]> {
  const known = pairs.filter(([{ account }]) => account !== null)
  const accounts = [...Map.groupBy(known, accountOf)].map(([key, ofIt], nth) => {
    const [{ runId, account }] = ofIt[0]!
    return {
      key,
      named: { nth, run_id: runId, account_name: account },
      sent: new SentByMoment(ofIt),
    }
  })
  if (accounts.length === 0) return pairs.map(() => null)
  await evidence.store.doubleBatches(
    await sentSql(evidence),
    [JSON.stringify(accounts.map(({ named }) => named))],
    ([nth, sentUs, endUs, ...values]) => {
      for (let row = 0; row < nth!.length; row++)
        accounts[nth![row]!]!.sent.add(sentUs![row]!, endUs![row]!, values, row)
    },
  )
  for (const { sent } of accounts) sent.accumulate()
  const sentOf = new Map(accounts.map(({ key, sent }) => [key, sent]))
  return pairs.map((pair) => sentOf.get(accountOf(pair))?.between(pair) ?? null)
}

const accountOf = ([{ runId, account }]: RowPair) => JSON.stringify([runId, account])

/** The number of the account, the times of an attempt, then its values in the order of the sums. */
async function sentSql(evidence: PricedEvidence): Promise<string> {
  const { reads, openReads } = await openPricesOf(evidence)
  const open = openReads.map(literal).join(', ')
  return `
    WITH accounts AS (
      SELECT unnest(from_json($1, '[{"nth": "INTEGER", "run_id": "VARCHAR", "account_name": "VARCHAR"}]'), recursive := true)),
      price(model, place, cost) AS (SELECT * FROM ${priceTable(evidence.contract)}),
      sent AS (
        SELECT nth, sent_us, coalesce(closed_us, headers_us, sent_us) AS end_us,
          outcome = 'ok' AND ${generatesSql} AS charged,
          coalesce(price.cost, 0) AS price,
          CASE WHEN outcome <> 'ok' THEN 0 WHEN endpoint = 'models' THEN ${reads.models}
            WHEN endpoint = 'credits' THEN ${reads.credits} ELSE 0 END AS read_price,
          ${open === '' ? 'false' : `outcome = 'ok' AND endpoint IN (${open})`} AS open,
          ${generatesSql} AND (outcome IN ('broken', 'timeout', 'aborted')
            OR coalesce(templates.headers ILIKE '%"idempotency-key"%', false)) AS ambiguous,
          (outcome = 'ok' AND ${generatesSql} AND (coalesce(${isEmpty}, false) OR price.cost IS NULL))
            OR (outcome <> 'http_error' AND coalesce(${maybePaidSql('templates.method')}, false)) AS open_cost,
          outcome = 'http_error' AS refused
        FROM attempts JOIN accounts ON attempts.run_id = accounts.run_id AND account = account_name
          LEFT JOIN templates ON attempts.run_id = templates.run_id AND attempts.template = templates.template
          LEFT JOIN price ON lower(attempts.model) = price.model
        WHERE sent_us IS NOT NULL)
    SELECT nth::DOUBLE, sent_us::DOUBLE, end_us::DOUBLE, charged::DOUBLE, (charged::INTEGER * price)::DOUBLE,
      (read_price > 0)::DOUBLE, read_price::DOUBLE, open::DOUBLE, ambiguous::DOUBLE, open_cost::DOUBLE, refused::DOUBLE
    FROM sent`
}
