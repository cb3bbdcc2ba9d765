/**
 * Rates of attempts, the only definition.
 *
 * A rate of arrivals (requests) is over the time of arrivals: n arrivals from the first to the last, each with the mean
 * gap after it. Late answers never change it.
 *
 * A rate of completions (successes, tokens, credits, errors) is over the steady part: a time as long, later by the
 * median response time, so that neither the ramp at the start nor the tail that waits for the last answers counts.
 *
 *     arrivals      |  |  |  |  |  |          first to last, one gap more: 6 in 6 gaps
 *     completions      : |  |  |  |  |  | :       |      the last one is late: 5 in 6 gaps
 */

/** A relation that rates are of. */
export interface Rated {
  /** SQL with the columns of `attempt_values`. */
  readonly from: string
  /** SQL: microseconds to add to the times of a row. */
  readonly offsetUs: string
  /** Whether each step has its own rates; else `step` is null. */
  readonly bySteps: boolean
}

/**
 * SQL of the steady times: a row for each group with `step`, `seconds` (null for fewer than two arrivals at different
 * times), and `from_us` and `until_us` between which completions count.
 */
export function steadySql({ from, offsetUs, bySteps }: Rated): string {
  return `(SELECT step, nullif(gap_us * n / 1e6, 0) AS seconds,
    first_us + usual_us - gap_us / 2 AS from_us, last_us + usual_us + gap_us / 2 AS until_us
  FROM (SELECT ${bySteps ? 'step' : 'NULL::VARCHAR AS step'}, count(*) FILTER (retry = 0) AS n,
      min(${offsetUs} + intended_us) AS first_us, max(${offsetUs} + intended_us) AS last_us,
      (last_us - first_us) / nullif(n - 1, 0) AS gap_us,
      coalesce(median(closed_us - intended_us) FILTER (was_sent), 0) AS usual_us
    FROM ${from} GROUP BY ALL))`
}

/** SQL: whether a row, joined with its steady time, was completed in it. */
export const completedIn = (steady: string, offsetUs = '0') =>
  `(${offsetUs} + closed_us >= ${steady}.from_us AND ${offsetUs} + closed_us < ${steady}.until_us)`

/**
 * SQL of sums for each whole second of the steady part, in order: a column for each, 0 for a second without any.
 *
 * @param sums aggregates over the rows of a second
 */
export function bySecondSql(from: string, sums: Readonly<Record<string, string>>): string {
  const columns = Object.entries(sums).map(
    ([name, sum]) => `coalesce(${sum}, 0)::DOUBLE AS ${name}`,
  )
  return `WITH chosen AS (FROM ${from}),
    steady AS (FROM ${steadySql({ from: 'chosen', offsetUs: '0', bySteps: false })}),
    seconds AS (SELECT unnest(range(0, floor(seconds)::BIGINT)) AS second, from_us FROM steady)
    SELECT ${columns.join(', ')}
    FROM seconds LEFT JOIN chosen ON floor((closed_us - from_us) / 1e6) = second
    GROUP BY second ORDER BY second`
}
