import { eachToken, type ShownToken, shownTokens, tokenKinds } from '../../tokens/kinds.ts'
import type { Session } from '../session/session.ts'
import { pricedUnitSql } from './price-lines.ts'
import { stagedCredits } from './staged-credits.ts'

/** What a file holds, before it is imported. Null is not known, and never 0. */
export interface LogSummary {
  readonly kind: 'events' | 'buckets' | 'both' | 'charges' | 'nothing'
  /** Widths of buckets, seconds. */
  readonly widthsS: readonly number[]
  readonly fromUs: number | null
  readonly toUs: number | null
  readonly requests: number | null
  readonly tokens: Readonly<Record<ShownToken, number | null>>
  /** Sums of usage and refunds by unit, as exact decimals. */
  readonly cost: Readonly<Record<string, string>>
  /** Requests that do not report their tokens, or their cost. */
  readonly unknown: { readonly tokens: number; readonly cost: number }
}

/** A line that is bad, repeats another of the file or contradicts its id is not counted. */
const good = `reason IS NULL
  AND rowid NOT IN (SELECT line_no FROM staging.known WHERE import_no IS NULL OR how = 'differs')`

/**
 * Sums the good lines of `staging.lines`, each once. Lines that the store has, and buckets that other statements replace,
 * are counted, too.
 *
 * @param of `pricedUnit`: the unit of costs that the user's prices gave; `isBill`: lines are charges
 */
export async function describeLog(
  session: Session,
  { pricedUnit, isBill }: { readonly pricedUnit: string | undefined; readonly isBill: boolean },
): Promise<LogSummary> {
  const [sums] = await session.rows<Record<string, number | null>>(
    `SELECT count(*) FILTER (WHERE end_us IS NULL) AS events, count(end_us) AS buckets, min(at_us) AS first,
       max(coalesce(end_us, at_us)) AS last, sum(requests) FILTER (WHERE coalesce(type, 'usage') = 'usage')::BIGINT AS requests,
       ${shownTokens.map((name) => `sum(${tokenKinds[name].column})::BIGINT AS "${name}"`).join(', ')},
       coalesce(sum(requests) FILTER (WHERE prompt_tokens IS NULL AND completion_tokens IS NULL), 0)::BIGINT AS no_tokens,
       coalesce(sum(requests) FILTER (WHERE ${stagedCredits} IS NULL), 0)::BIGINT AS no_cost
     FROM staging.lines WHERE ${good}`,
  )
  const widths = await session.rows<{ s: number }>(
    `SELECT DISTINCT ((end_us - at_us) // 1000000)::BIGINT AS s FROM staging.lines
     WHERE ${good} AND end_us IS NOT NULL ORDER BY s`,
  )
  const costs = await session.rows<{ unit: string; sum: string }>(
    `SELECT ${pricedUnitSql(pricedUnit)} AS unit, sum(${stagedCredits})::VARCHAR AS sum FROM staging.lines
     WHERE ${good} AND ${stagedCredits} IS NOT NULL AND coalesce(type, 'usage') IN ('usage', 'refund')
     GROUP BY 1 ORDER BY 1`,
  )
  const { events, buckets, first, last, requests } = sums!
  return {
    kind: isBill
      ? 'charges'
      : events! > 0 && buckets! > 0
        ? 'both'
        : buckets! > 0
          ? 'buckets'
          : events! > 0
            ? 'events'
            : 'nothing',
    widthsS: widths.map(({ s }) => s),
    fromUs: first ?? null,
    toUs: last ?? null,
    requests: requests ?? null,
    tokens: eachToken((name) => sums![name] ?? null),
    cost: Object.fromEntries(
      costs.map(({ unit, sum }) => [unit, sum.includes('.') ? sum.replace(/\.?0+$/, '') : sum]),
    ),
    unknown: { tokens: sums!.no_tokens!, cost: sums!.no_cost! },
  }
}
