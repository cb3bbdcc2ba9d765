import { tokenFieldsSql } from '../../measure/usage/quantities.ts'
import {
  figuresOfEnded,
  requestsOf,
  type Sums,
  type SumsQuery,
  sumsSql,
} from '../../measure/usage/sums.ts'
import { decimalText, readNumber } from '../../money/rational.ts'
import type { Session } from '../../store/session/session.ts'
import { eachToken } from '../../tokens/kinds.ts'
import { lookup } from '../../user/lookup.ts'
import type { UsageEngine } from './engine/engine.ts'
import * as queries from './engine/queries.ts'
import type { SeriesPoint, UsageTotals } from './shape.ts'

/** An exact decimal of SQL without zeros at its end. */
const exact = (decimal: string | null) => decimalText(readNumber(decimal ?? '0')!)

/** The rows end with the period, and begin with the one before it. */
const inPeriod = `quarter >= getvariable('usage_from') // 900000000`

/** The sums of the rows of `usage_outcomes`; a group for each value of `by`. */
export const periodSums = <Groups>(
  session: Session,
  query: Pick<SumsQuery, 'where' | 'by'>,
): Promise<readonly (Sums & Groups)[]> =>
  session.rows<Sums & Groups>(
    sumsSql({ from: 'usage_outcomes', figures: figuresOfEnded, ...query }),
  )

/** What was used in the period, from the sums of `prepareUsage`. */
export async function readTotals(session: Session, engine: UsageEngine): Promise<UsageTotals> {
  const [sums] = (await periodSums<object>(session, { where: inPeriod })) as [Sums]
  await engine.fill(session, 'usage_ledger_sums', queries.ledger)
  // Refunds are in the money.
  const ledger = await session.rows<{
    type: string
    unit: string
    entries: number
    amount: string
  }>(
    `SELECT type, unit, sum(entries)::BIGINT AS entries, sum(amount)::VARCHAR AS amount
     FROM usage_ledger_sums WHERE type <> 'refund' GROUP BY ALL ORDER BY type, unit`,
  )
  const prices = await session.rows<{ name: string }>(
    'SELECT DISTINCT left(priced_by, 100) AS name FROM usage_coverage WHERE priced_by IS NOT NULL ORDER BY name LIMIT 20',
  )
  const requests = sums.requests ?? 0
  const unknownOf = (known: number | null) => Math.max(0, requests - (known ?? 0))
  return {
    requests: {
      value: sums.requests === null ? null : requestsOf(sums),
      unknown: sums.requestsUnknown ?? 0,
    },
    tokens: eachToken((name) => ({ value: sums[name], unknown: unknownOf(sums[`${name}Known`]) })),
    money: (sums.amounts ?? []).map(({ unit, used, refunds, computed }) => ({
      unit,
      used: exact(used),
      refunds: exact(refunds),
      computed: exact(computed),
    })),
    pricedBy: prices.map(({ name }) => name),
    unknownCost: unknownOf(sums.costKnown),
    ledger: ledger.map((entry) => ({ ...entry, amount: exact(entry.amount) })),
  }
}

/** Hours or days, each with its money in these units. */
export async function readSeries(
  session: Session,
  table: 'usage_hours' | 'usage_days',
  units: readonly string[],
): Promise<readonly SeriesPoint[]> {
  type Amounts = Readonly<Record<`amount_${number}`, string | null>>
  const amounts = units.map((_, at) => `, amount_${at}`).join('')
  const points = await session.rows<Omit<SeriesPoint, 'money'> & Amounts>(
    `SELECT start_us AS "startUs", label, series, length_s AS "lengthS", timezone, open, requests, ok, failed,
       limited, ambiguous, credits, possible_credits AS "possibleCredits",
       ${tokenFieldsSql}, unknown_cost AS "unknownCost"${amounts}
     FROM ${table} ORDER BY start_us, length_s, series`,
  )
  return points.map((row) => {
    const point: Record<string, unknown> = lookup({ ...row })
    const money: Record<string, string> = lookup()
    for (const [at, unit] of units.entries()) {
      const amount = row[`amount_${at}`]
      delete point[`amount_${at}`]
      if (amount !== null && amount !== undefined) money[unit] = exact(amount)
    }
    return { ...(point as unknown as Omit<SeriesPoint, 'money'>), money }
  })
}
