import { endSql } from '../../../measure/usage/ends.ts'
import { outcomeColumns, sumColumns } from '../../../measure/usage/quantities.ts'

/** The sums of a series or a key, by end and unit. */
const sums = `${endSql} AS ended, unit, ${sumColumns(outcomeColumns)}`

/** What a row is of, in the split that was asked for. */
const nameSql = `coalesce(CASE getvariable('usage_by') WHEN 'key' THEN key_fp WHEN 'endpoint' THEN endpoint WHEN 'account' THEN account
    WHEN 'tag' THEN nullif(JSONExtractString(tags, getvariable('usage_tag')), '') ELSE model END, '(unknown)')`

/** The names with the most requests. */
export const seriesSql = `
SELECT ${nameSql} AS name, sum(requests) AS requests
FROM usage_cells
WHERE first_us >= getvariable('usage_from') AND first_us < getvariable('usage_to')
GROUP BY name ORDER BY requests DESC, name LIMIT 7`

/** Sums of each series by quarters of an hour, as the relations of an engine have them. */
export const outcomesSql = `
SELECT quarter, width_us, CASE WHEN width_us > 900000000 THEN source ELSE '' END AS bucket_source,
  CASE WHEN has(getvariable('usage_series'), name) THEN name ELSE '(other)' END AS series,
  ${sums}
FROM (
  SELECT *, ${nameSql} AS name FROM usage_cells) AS named
WHERE first_us >= getvariable('usage_before_from') AND first_us < getvariable('usage_to')
GROUP BY quarter, width_us, bucket_source, series, ended, unit`

/** Sums of the keys with the most credits. */
export const keyOutcomesSql = `
SELECT key_fp, account, ${sums}
FROM usage_cells
WHERE first_us >= getvariable('usage_from') AND first_us < getvariable('usage_to')
  AND has(getvariable('usage_top'), coalesce(key_fp, ''))
GROUP BY key_fp, account, ended, unit`

/**
 * The first odd requests, each with the number of all.
 *
 * @param isOdd a condition on columns of `usage_shown`
 */
export function oddSql(isOdd: string): string {
  const chosen = `at_us >= getvariable('usage_from') AND at_us < getvariable('usage_to') AND (${isOdd})`
  return `
SELECT source, id, at_us, model, status, credits, prompt_tokens, completion_tokens,
  (SELECT sum(requests) FROM usage_shown WHERE ${chosen}) AS n
FROM usage_shown
WHERE ${chosen}
ORDER BY at_us, source, id LIMIT 5`
}
