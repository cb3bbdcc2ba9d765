import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { kindsSql } from '../../measure/usage/quantities.ts'
import type { KindCounts } from '../../tokens/kinds.ts'
import { fileSql, literal } from '../literal.ts'
import type { Session } from '../session/session.ts'
import { stagedCredits } from './staged-credits.ts'
import { storeColumns } from './staged-lines.ts'

/** A line without a cost of its own. Times are Unix microseconds; null: the log does not say it. */
interface PricedLine extends KindCounts {
  readonly model: string | null
  readonly atUs: number
  /** The end of the interval of a sum, exclusive; null for an event. */
  readonly endUs: number | null
  readonly outcome: string
  readonly requests: number | null
}

/** The user's prices, for logs without a cost. */
export interface LinePrices {
  readonly name: string
  readonly unit: string
  /** An exact decimal of at most 18 digits after the point; null if the cost is not known. */
  costOf(line: PricedLine): string | null
}

/** SQL for the unit of a staged amount: that of the prices if they gave it. */
export const pricedUnitSql = (unit: string | undefined) =>
  unit === undefined ? 'unit' : `CASE WHEN priced_by IS NULL THEN unit ELSE ${literal(unit)} END`

/** Lines that are read at once. */
const batch = 100_000

/**
 * Gives lines of usage without a cost one by the user's prices: `priced_by` names them.
 *
 * @param folder for a file of costs
 * @returns notes for the reader
 */
export async function priceLines(
  session: Session,
  prices: LinePrices,
  folder: string,
): Promise<readonly string[]> {
  const file = join(folder, 'costs.csv')
  const handle = openSync(file, 'w', 0o600)
  const without = `reason IS NULL AND coalesce(type, 'usage') = 'usage' AND ${stagedCredits} IS NULL`
  let [priced, unknown] = [0, 0]
  try {
    const [last] = await session.rows<{ n: number }>('SELECT count(*) AS n FROM staging.lines')
    for (let from = 0; from < last!.n; from += batch) {
      const lines = await session.rows<PricedLine & { line: number }>(
        `SELECT rowid AS line, model, at_us AS "atUs", end_us AS "endUs", outcome, requests, ${kindsSql}
         FROM staging.lines WHERE rowid >= ${from} AND rowid < ${from + batch} AND ${without}`,
      )
      const costs = lines.flatMap(({ line, ...use }) => {
        const cost = prices.costOf(use)
        return cost === null ? [] : [`${line},${cost}\n`]
      })
      priced += costs.length
      unknown += lines.length - costs.length
      writeSync(handle, costs.join(''))
    }
  } finally {
    closeSync(handle)
  }
  if (priced > 0) {
    await storeColumns(session, ['credits_wide', 'priced_by'])
    await session.execute(
      `UPDATE staging.stored AS lines SET credits_wide = costs.cost, priced_by = ${literal(prices.name)}
       FROM ${fileSql('read_csv', file, 'header = false', "columns = {'line': 'BIGINT', 'cost': 'DECIMAL(38,18)'}")} AS costs
       WHERE lines.rowid = costs.line`,
    )
  }
  const count = (n: number) => `${n.toLocaleString('en-US')} ${n === 1 ? 'line' : 'lines'}`
  return [
    ...(priced > 0
      ? [`the cost of ${count(priced)} is computed by your prices of ${prices.name}`]
      : []),
    ...(unknown > 0
      ? [`${count(unknown)} without a cost: the prices of ${prices.name} do not say theirs`]
      : []),
  ]
}
