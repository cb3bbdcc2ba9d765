import { quarterUs } from '../../measure/usage/quantities.ts'

/**
 * SQL for `us`, the longest time between two uses, in microseconds. Use is known by quarters of an hour, so it may be two quarters longer
 * than it looks.
 *
 * @param from a table of sums by quarter
 */
export const longestSilenceSql = (from: string) => `
  SELECT (greatest(coalesce(max(start_us - before_us), 0), 0) + ${2 * quarterUs})::DOUBLE AS us FROM (
    SELECT start_us, max(end_us) OVER (ORDER BY start_us ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_us
    FROM (SELECT quarter * ${quarterUs} AS start_us, max(quarter * ${quarterUs} + width_us) AS end_us
      FROM ${from} WHERE requests > 0 OR requests_unknown > 0 GROUP BY quarter))`
