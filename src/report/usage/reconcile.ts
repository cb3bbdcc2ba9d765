import type { Store } from '../../store/open.ts'
import type { Reconciliation, ReconciliationRow } from './shape.ts'

/** A poll of a key and what was seen since the one before. */
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
 * What the service says against what was seen: between two polls of GET /user/credits, its
 * consumed credits must have grown by what the requests of that time cost; at least the sure
 * ones, at most those and the ambiguous ones.
 */
export function judge(intervals: readonly Interval[]): Reconciliation {
  if (intervals.length === 0) {
    return {
      known: false,
      says: 'Two polls of GET /user/credits are needed: assay usage watch makes them.',
    }
  }
  const rows = intervals.map((interval): ReconciliationRow => {
    const serviceSays = interval.after - interval.before
    const difference =
      serviceSays > interval.seenAtMost
        ? serviceSays - interval.seenAtMost
        : Math.min(0, serviceSays - interval.seen)
    return {
      fromUs: interval.fromUs,
      toUs: interval.toUs,
      account: interval.account,
      serviceSays,
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
    says:
      differing.length === 0
        ? `The service says ${count(total((row) => row.serviceSays))} credits, and ${count(total((row) => row.seen))} were seen, over ${rows.length} intervals.`
        : `${differing.length} of ${rows.length} intervals differ: the service says ${count(total((row) => row.serviceSays))} credits, seen were ${count(total((row) => row.seen))}. Traffic that this store has not seen looks the same.`,
  }
}

/** Reads the polls of the period and judges them. */
export async function reconcile(store: Store): Promise<Reconciliation> {
  const intervals = await store.rows<Interval>(
    `WITH polls AS (
       SELECT key_fp, at_us, consumed, lag(at_us) OVER w AS from_us, lag(consumed) OVER w AS before
       FROM poll_times WHERE consumed IS NOT NULL
       WINDOW w AS (PARTITION BY base_url, key_fp ORDER BY polled_us)),
     pairs AS (
       SELECT *, row_number() OVER () AS pair FROM polls
       WHERE before IS NOT NULL
         AND at_us > getvariable('usage_from') AND from_us < getvariable('usage_to')),
     accounts AS (
       -- Keys of one account share its balance: all of them count.
       SELECT DISTINCT mine.key_fp AS polled, others.key_fp
       FROM usage_keys AS mine JOIN usage_keys AS others
         ON others.key_fp = mine.key_fp OR others.account = mine.account)
     SELECT pairs.key_fp AS account, from_us AS "fromUs", pairs.at_us AS "toUs",
       any_value(before)::DOUBLE AS before, any_value(consumed)::DOUBLE AS after,
       coalesce(sum(usage_shown.credits), 0)::DOUBLE AS seen,
       coalesce(sum(usage_shown.possible_credits), 0)::DOUBLE AS "seenAtMost"
     FROM pairs
     LEFT JOIN accounts ON accounts.polled = pairs.key_fp
     LEFT JOIN usage_shown ON usage_shown.key_fp = coalesce(accounts.key_fp, pairs.key_fp)
       AND usage_shown.at_us >= from_us AND usage_shown.at_us < pairs.at_us
     GROUP BY pair, pairs.key_fp, from_us, pairs.at_us ORDER BY "fromUs", account`,
  )
  return judge(intervals)
}
