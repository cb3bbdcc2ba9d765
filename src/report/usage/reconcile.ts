import type { Session } from '../../store/session/session.ts'
import type { UsageEngine } from './engine/engine.ts'
import * as queries from './engine/queries.ts'
import type { Reconciliation, ReconciliationRow } from './shape.ts'

/** A poll of a key, and the usage since the previous poll. */
interface Interval {
  readonly account: string
  readonly fromUs: number
  readonly toUs: number
  readonly before: number
  readonly after: number
  readonly seen: number
  readonly seenAtMost: number
}

/**
 * Compares the service's figures with observed usage. Between two polls of GET /user/credits, the consumed credits
 * must grow by the cost of the requests in between: at least that of certain charges, at most with the ambiguous ones.
 */
export function judge(intervals: readonly Interval[]): Reconciliation {
  if (intervals.length === 0) {
    return {
      known: false,
      summary: 'Two polls of GET /user/credits are needed: assay usage watch makes them.',
    }
  }
  const rows = intervals.map((interval): ReconciliationRow => {
    const serviceReported = interval.after - interval.before
    const difference =
      serviceReported > interval.seenAtMost
        ? serviceReported - interval.seenAtMost
        : Math.min(0, serviceReported - interval.seen)
    return {
      fromUs: interval.fromUs,
      toUs: interval.toUs,
      account: interval.account,
      serviceReported,
      seen: interval.seen,
      seenAtMost: interval.seenAtMost,
      verdict: difference === 0 ? 'agrees' : 'differs',
      difference,
    }
  })
  const differing = rows.filter((row) => row.verdict === 'differs')
  const total = (of: (row: ReconciliationRow) => number) =>
    rows.reduce((sum, row) => sum + of(row), 0)
  const count = (value: number) => value.toLocaleString('en-US')
  return {
    known: true,
    rows,
    verdict: differing.length === 0 ? 'agrees' : 'differs',
    summary:
      differing.length === 0
        ? `The service reported ${count(total((row) => row.serviceReported))} credits, and this store saw ${count(total((row) => row.seen))}, over ${rows.length} intervals.`
        : `${differing.length} of ${rows.length} intervals differ: the service reported ${count(total((row) => row.serviceReported))} credits, and this store saw ${count(total((row) => row.seen))}. Traffic outside this store looks the same.`,
  }
}

/** Pairs of polls per query. Their keys and times are its parameters. */
const pairsAtOnce = 5000

export async function reconcile(session: Session, engine: UsageEngine): Promise<Reconciliation> {
  await session.execute(
    `CREATE OR REPLACE TEMP TABLE usage_pairs AS
     WITH polls AS (
       SELECT key_fp, at_us, consumed, lag(at_us) OVER w AS from_us, lag(consumed) OVER w AS before
       FROM poll_times WHERE consumed IS NOT NULL
       WINDOW w AS (PARTITION BY base_url, key_fp ORDER BY polled_us))
     SELECT key_fp, from_us, at_us AS to_us, before, consumed AS after,
       row_number() OVER (ORDER BY from_us, key_fp, at_us) AS pair
     FROM polls
     WHERE before IS NOT NULL
       AND at_us > getvariable('usage_from') AND from_us < getvariable('usage_to')`,
  )
  // Figures of GET /user/credits are credits; without any use in credits, the service may call another unit so.
  await session.execute(
    `SET VARIABLE usage_poll_unit = (SELECT CASE WHEN count(*) > 0 THEN 'credits' ELSE getvariable('usage_unit') END
     FROM usage_coverage WHERE unit = 'credits' AND amounts > 0)`,
  )
  const [pairs] = await session.rows<{ n: number }>('SELECT count(*) AS n FROM usage_pairs')
  const intervals: Interval[] = []
  for (let at = 0; at < pairs!.n; at += pairsAtOnce) {
    const some = `FROM usage_pairs WHERE pair > ${at} AND pair <= ${at + pairsAtOnce}`
    await session.execute(`
      SET VARIABLE usage_poll_keys = (SELECT list(key_fp ORDER BY pair) ${some});
      SET VARIABLE usage_poll_from = (SELECT list(from_us ORDER BY pair) ${some});
      SET VARIABLE usage_poll_to = (SELECT list(to_us ORDER BY pair) ${some});
    `)
    await engine.fill(session, 'usage_seen', queries.seen)
    for (const each of await session.rows<Interval>(
      `SELECT pairs.key_fp AS account, from_us AS "fromUs", to_us AS "toUs",
           before::DOUBLE AS before, after::DOUBLE AS after,
           coalesce(usage_seen.credits, 0)::DOUBLE AS seen,
           coalesce(usage_seen.possible_credits, 0)::DOUBLE AS "seenAtMost"
         FROM (${some}) AS pairs LEFT JOIN usage_seen ON usage_seen.pair = pairs.pair - ${at}
         ORDER BY pairs.pair`,
    ))
      intervals.push(each)
  }
  return judge(intervals)
}
