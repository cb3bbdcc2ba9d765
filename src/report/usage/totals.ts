import { decimalText, readNumber } from '../../money/rational.ts'
import type { Session } from '../../store/session/session.ts'
import { lookup } from '../../user/lookup.ts'
import { queryText, type UsageEngine } from './engine/engine.ts'
import type { SeriesPoint, Total, UsageTotals } from './shape.ts'

/** An exact decimal of SQL without zeros at its end. */
const exact = (decimal: string | null) => decimalText(readNumber(decimal ?? '0')!)

const inPeriod = `quarter >= getvariable('usage_from') // 900000000`

/** What was used in the period, from the sums of `prepareUsage`. */
export async function readTotals(store: Session, engine: UsageEngine): Promise<UsageTotals> {
  const [sums] = await store.rows<Record<string, number | null>>(
    `SELECT sum(requests)::BIGINT AS requests, sum(requests_unknown)::BIGINT AS requests_unknown,
       sum(credits_known)::BIGINT AS credits_known,
       sum(prompt_tokens)::BIGINT AS input, sum(cached_tokens)::BIGINT AS cached,
       sum(cache_write_tokens)::BIGINT AS cache_write, sum(completion_tokens)::BIGINT AS output,
       sum(reasoning_tokens)::BIGINT AS reasoning, sum(tokens_known)::BIGINT AS tokens_known,
       sum(cached_known)::BIGINT AS cached_known, sum(cache_write_known)::BIGINT AS cache_write_known,
       sum(reasoning_known)::BIGINT AS reasoning_known
     FROM usage_quarters WHERE ${inPeriod}`,
  )
  const money = await store.rows<{
    unit: string
    used: string
    refunds: string | null
    computed: string | null
  }>(
    `SELECT unit, sum(credits)::VARCHAR AS used, sum(refunds)::VARCHAR AS refunds, sum(computed)::VARCHAR AS computed
     FROM usage_outcomes WHERE ${inPeriod} AND credits IS NOT NULL GROUP BY unit ORDER BY unit`,
  )
  await engine.fill(store, 'usage_ledger_sums', queryText('ledger'))
  const ledger = await store.rows<{ type: string; unit: string; entries: number; amount: string }>(
    `SELECT type, unit, sum(entries)::BIGINT AS entries, sum(amount)::VARCHAR AS amount
     FROM usage_ledger_sums WHERE type <> 'refund' GROUP BY ALL ORDER BY type, unit`,
  )
  const prices = await store.rows<{ name: string }>(
    'SELECT DISTINCT left(priced_by, 100) AS name FROM usage_coverage WHERE priced_by IS NOT NULL ORDER BY name LIMIT 20',
  )
  const requests = sums?.requests ?? 0
  const total = (value: number | null | undefined, known: number | null | undefined): Total => ({
    value: value ?? null,
    unknown: Math.max(0, requests - (known ?? 0)),
  })
  return {
    // A refund has 0 requests, which says nothing of charges beside it.
    requests: {
      value: requests === 0 && (sums?.requests_unknown ?? 0) > 0 ? null : (sums?.requests ?? null),
      unknown: sums?.requests_unknown ?? 0,
    },
    tokens: {
      input: total(sums?.input, sums?.tokens_known),
      cached: total(sums?.cached, sums?.cached_known),
      cacheWrite: total(sums?.cache_write, sums?.cache_write_known),
      output: total(sums?.output, sums?.tokens_known),
      reasoning: total(sums?.reasoning, sums?.reasoning_known),
    },
    money: money.map(({ unit, used, refunds, computed }) => ({
      unit,
      used: exact(used),
      refunds: exact(refunds),
      computed: exact(computed),
    })),
    pricedBy: prices.map(({ name }) => name),
    unknownCost: Math.max(0, requests - (sums?.credits_known ?? 0)),
    ledger: ledger.map((entry) => ({ ...entry, amount: exact(entry.amount) })),
  }
}

/** Hours or days, each with its money in these units. */
export async function readSeries(
  store: Session,
  table: 'usage_hours' | 'usage_days',
  units: readonly string[],
): Promise<readonly SeriesPoint[]> {
  type Amounts = Readonly<Record<`amount_${number}`, string | null>>
  const amounts = units.map((_, at) => `, amount_${at}`).join('')
  const points = await store.rows<Omit<SeriesPoint, 'money'> & Amounts>(
    `SELECT start_us AS "startUs", label, series, length_s AS "lengthS", timezone, open, requests, ok, failed,
       limited, ambiguous, credits, possible_credits AS "possibleCredits",
       prompt_tokens AS "promptTokens", cached_tokens AS "cachedTokens",
       cache_write_tokens AS "cacheWriteTokens", completion_tokens AS "completionTokens",
       reasoning_tokens AS "reasoningTokens", unknown_cost AS "unknownCost"${amounts}
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
