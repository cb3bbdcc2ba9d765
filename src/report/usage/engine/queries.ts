import { endSql } from '../../../measure/usage/ends.ts'
import { outcomeColumns, sumColumns } from '../../../measure/usage/quantities.ts'
import type { Variable } from '../../../store/session/variable.ts'
import { heldRowsSql } from '../imported-lots.ts'
import { type Holdings, type Lot, usesBy } from '../ledger.ts'

/** A query, and the relations of its own that it reads, by name. */
export interface Written {
  readonly relations?: Readonly<Record<string, string>>
  readonly rows: string
}

/**
 * A query of the usage page over the relations of an engine (`engine.ts`), in SQL that both engines read. The engine says how it
 * writes a variable of the session.
 */
export type PageQuery = (variable: Variable) => Written

/** One statement: relations, those of the query after those of its engine, and then its rows. */
export function statementOf({ relations = {}, rows }: Written, before: Written['relations'] = {}) {
  const all = Object.entries({ ...before, ...relations }).map(
    ([name, sql]) => `${name} AS (${sql})`,
  )
  return all.length === 0 ? rows : `WITH ${all.join(',\n')}\n${rows}`
}

/** Whether a time is within the period of the page. */
const within = (variable: Variable, time = 'first_us') =>
  `${time} >= ${variable('usage_from')} AND ${time} < ${variable('usage_to')}`

/** What a row is of, in the split that was asked for. */
const nameSql = (variable: Variable) =>
  `coalesce(CASE ${variable('usage_by')} WHEN 'key' THEN key_fp WHEN 'endpoint' THEN endpoint WHEN 'account' THEN account
    WHEN 'tag' THEN nullif(JSONExtractString(tags, ${variable('usage_tag')}), '') ELSE model END, '(unknown)')`

/** Sums of each source, unit and width: what the sources cover. */
export const coverage: PageQuery = () => ({
  rows: `
SELECT origin, source, unit, width_us, priced_by, CAST(sum(requests) AS BIGINT) AS requests,
  count(credits) AS amounts, min(first_us) AS first_us, max(last_us) AS last_us
FROM usage_cells GROUP BY origin, source, unit, width_us, priced_by`,
})

/** Sources whose lines are charges of a bill. */
export const billingSources: PageQuery = () => ({ rows: 'SELECT DISTINCT source FROM usage_bills' })

/** The first entry of a bill beside its use, such as the tax of a month. */
export const firstOfBills: PageQuery = () => ({
  rows: `
SELECT CASE WHEN count(*) = 0 THEN NULL ELSE min(at_us) END AS at_us FROM usage_ledger
WHERE type <> 'refund' AND source IN (SELECT source FROM usage_bills)`,
})

/** Imports of a part of a log (`--partial`), unless a whole log of the source covered their time later. */
export const partial: PageQuery = () => ({
  relations: {
    mended: `
  SELECT cut.source AS source, cut.imported_us AS imported_us
  FROM usage_import_spans AS cut JOIN usage_import_spans AS later ON later.source = cut.source
  WHERE cut.is_partial AND NOT later.is_partial AND later.imported_us > cut.imported_us
    AND later.from_us <= cut.from_us AND later.to_us >= cut.to_us`,
  },
  rows: `
SELECT source, min(from_us) AS from_us, max(to_us) AS to_us FROM usage_import_spans
WHERE is_partial AND (source, imported_us) NOT IN (SELECT source, imported_us FROM mended)
GROUP BY source`,
})

/** The seven series with the most requests. */
export const series: PageQuery = (variable) => ({
  rows: `
SELECT ${nameSql(variable)} AS name, sum(requests) AS requests
FROM usage_cells
WHERE ${within(variable)}
GROUP BY name ORDER BY requests DESC, name LIMIT 7`,
})

/** The groups of `board`. */
const boardGroups =
  'quarter, width_us, model_name AS model, key_name AS key, endpoint_name AS endpoint, outcome, status, unit'
/** Its rows with their names. */
const boardNamed = (variable: Variable) => `(
  SELECT *, coalesce(model, '(unknown)') AS model_name, coalesce(endpoint, '(unknown)') AS endpoint_name,
    CASE WHEN ${variable('usage_by')} = 'account' THEN coalesce(account, '(unknown)')
      WHEN ${variable('usage_by')} = 'tag' THEN coalesce(nullif(JSONExtractString(tags, ${variable('usage_tag')}), ''), '(unknown)')
      WHEN has(${variable('usage_top')}, coalesce(key_fp, '')) THEN coalesce(key_fp, '(unknown)')
      ELSE '(other)' END AS key_name
  FROM usage_cells) AS named
WHERE ${within(variable)}`

/**
 * Sums for the filters of the page, of the models, keys and endpoints; keys beyond the first are one. A page by account
 * or tag has accounts or values in the place of keys.
 */
export const board: PageQuery = (variable) => ({
  rows: `
SELECT ${boardGroups},
  CAST(sum(requests) AS BIGINT) AS requests, CAST(sum(credits_known) AS BIGINT) AS credits_known, sum(credits) AS credits,
  sum(prompt_tokens) AS prompt_tokens, sum(cached_tokens) AS cached_tokens, sum(completion_tokens) AS completion_tokens
FROM ${boardNamed(variable)}
GROUP BY quarter, width_us, model_name, key_name, endpoint_name, outcome, status, unit`,
})

/** The same where the cells of the engine are sums already: adding up what is hardly ever two rows takes longer than it saves. */
export const boardOfSums: PageQuery = (variable) => ({
  rows: `
SELECT ${boardGroups}, requests, credits_known, credits, prompt_tokens, cached_tokens, completion_tokens
FROM ${boardNamed(variable)}`,
})

export const errors: PageQuery = (variable) => ({
  rows: `
SELECT quarter, CAST(sum(requests) AS BIGINT) AS requests,
  CASE WHEN outcome = 'http_error'
       THEN coalesce(CAST(status AS VARCHAR) || CASE WHEN error_code IS NULL THEN '' ELSE ' ' || error_code END, error_code, outcome)
       ELSE outcome END AS error
FROM usage_cells
WHERE outcome <> 'ok' AND ${within(variable)}
GROUP BY quarter, error`,
})

/** Entries that are no usage, added up. */
export const ledger: PageQuery = (variable) => ({
  rows: `
SELECT source, type, unit, count(*) AS entries, sum(credits) AS amount
FROM usage_ledger
WHERE ${within(variable, 'at_us')}
GROUP BY source, type, unit ORDER BY type, unit, source`,
})

/** Rows that give or take credits. */
export const heldRows: PageQuery = () => ({ rows: heldRowsSql('usage_ledger') })

/** Whether the use is of one account. */
export const usedBy: PageQuery = () => ({
  rows: `
SELECT DISTINCT account FROM usage_cells LIMIT 2`,
})

/** What was used in the unit of a ledger of these lots. */
export const ledgerUses =
  (held: Pick<Holdings, 'lots' | 'taken'>): PageQuery =>
  (variable) => {
    const { segment, named } = usesBy(held, variable('usage_lot_models'))
    return {
      rows: `
SELECT ${segment} AS segment, ${named} AS named, sum(credits) AS credits
FROM usage_cells WHERE unit = ${variable('usage_ledger_unit')}
GROUP BY segment, named`,
    }
  }

/** Of which models the use of the period in this unit is, as lots name them. */
export const ledgerMix =
  (lots: readonly Lot[]): PageQuery =>
  (variable) => ({
    rows: `
SELECT ${usesBy({ lots }, variable('usage_lot_models')).named} AS named, sum(credits) AS credits
FROM usage_cells WHERE unit = ${variable('usage_ledger_unit')} AND ${within(variable)}
GROUP BY named`,
  })

export const keyHours: PageQuery = (variable) => ({
  rows: `
SELECT key_fp, account, hour, width_us, CAST(sum(requests) AS BIGINT) AS requests,
  sum(CASE WHEN unit = ${variable('usage_unit')} THEN credits END) AS credits,
  min(first_us) AS first_us, max(last_us) AS last_us
FROM usage_cells AS cell
WHERE ${within(variable, 'cell.first_us')}
GROUP BY key_fp, account, hour, width_us`,
})

export const topKeys: PageQuery = () => ({
  rows: `
SELECT key_fp, account, CAST(sum(requests) AS BIGINT) AS requests, sum(credits) AS credits,
  min(first_us) AS first_us, max(last_us) AS last_us
FROM usage_key_hours GROUP BY key_fp, account
ORDER BY credits DESC NULLS LAST, requests DESC, key_fp, account LIMIT 20`,
})

/** The models of the keys with the most credits. */
export const keyModels: PageQuery = (variable) => ({
  rows: `
SELECT key_fp, model, CAST(sum(requests) AS BIGINT) AS requests,
  sum(CASE WHEN unit = ${variable('usage_unit')} THEN credits END) AS credits,
  CAST(sum(credits_known) AS BIGINT) AS credits_known,
  sum(prompt_tokens) AS prompt_tokens, sum(cached_tokens) AS cached_tokens, sum(completion_tokens) AS completion_tokens
FROM usage_cells
WHERE ${within(variable)}
  AND has(${variable('usage_top')}, coalesce(key_fp, ''))
GROUP BY key_fp, model`,
})

/** Keys that were used first within the period, at least a day after the first use that any source covers. */
export const newKeys: PageQuery = (variable) => ({
  rows: `
SELECT key_fp, min(hours.first_us) AS first_us, CAST(sum(requests) AS BIGINT) AS requests,
  count(*) OVER () AS n
FROM usage_key_hours AS hours
WHERE key_fp IS NOT NULL AND key_fp NOT IN (
  SELECT key_fp FROM usage_cells WHERE first_us < ${variable('usage_from')} AND key_fp IS NOT NULL)
GROUP BY key_fp
HAVING min(hours.first_us) >= ${variable('usage_covered_from')} + 86400000000
ORDER BY first_us, key_fp LIMIT 5`,
})

/**
 * Minutes of all keys would be most of a page's cost. So this reads only the 50 busiest hours, and hours with more
 * requests than the lowest limit, or than 20: no minute has more requests than its hour. A peak exists only below the width of sums:
 * `minute_unknown` and so on are requests of sums that are wider.
 */
export const peaks: PageQuery = (variable) => ({
  relations: {
    hours: `
  SELECT key_fp, hour, sum(requests) AS n FROM usage_key_hours WHERE width_us <= 3600000000 GROUP BY key_fp, hour`,
    busy: `
  SELECT key_fp, hour FROM hours WHERE n > ${variable('usage_lowest_limit')}
  UNION DISTINCT SELECT key_fp, hour FROM (SELECT key_fp, hour FROM hours ORDER BY n DESC LIMIT 50) AS busiest`,
    minutes: `
  SELECT sum(usage_minutes.requests) AS n
  FROM usage_minutes JOIN busy
    ON usage_minutes.key_fp IS NOT DISTINCT FROM busy.key_fp AND usage_minutes.hour = busy.hour
  WHERE ${within(variable)}
  GROUP BY usage_minutes.key_fp, usage_minutes.minute`,
  },
  rows: `
SELECT (SELECT CAST(max(n) AS BIGINT) FROM minutes) AS minute, (SELECT CAST(max(n) AS BIGINT) FROM hours) AS hour,
  (SELECT CAST(max(n) AS BIGINT)
   FROM (SELECT sum(requests) AS n FROM usage_key_hours WHERE width_us <= 86400000000
         GROUP BY key_fp, floor(hour / 24)) AS days) AS day,
  (SELECT CAST(max(width_us) AS BIGINT) FROM usage_key_hours) AS width_us`,
})

/**
 * What was spent between each two polls of a key, by the keys of its account: what answers say that it was, and what it was at
 * most. Pairs of polls are lists of equal length, `usage_poll_keys`, `usage_poll_from` and `usage_poll_to` (`reconcile.ts`); a
 * poll states no unit, so `usage_poll_unit` is one for all.
 */
export const seen: PageQuery = (variable) => ({
  relations: {
    polled: `
  SELECT pair, ${variable('usage_poll_keys')}[pair] AS key_fp,
    ${variable('usage_poll_from')}[pair] AS from_us, ${variable('usage_poll_to')}[pair] AS to_us
  FROM (SELECT arrayJoin(range(1, length(${variable('usage_poll_keys')}) + 1)) AS pair) AS pairs`,
    accounts: `
  SELECT key_fp AS polled_key, key_fp FROM polled
  UNION DISTINCT
  SELECT mine.key_fp AS polled_key, others.key_fp AS key_fp
  FROM (SELECT DISTINCT key_fp, account FROM usage_key_hours) AS mine
  JOIN (SELECT DISTINCT key_fp, account FROM usage_key_hours) AS others ON others.account = mine.account
  WHERE has(${variable('usage_poll_keys')}, mine.key_fp)`,
  },
  rows: `
SELECT polled.pair AS pair, sum(cells.credits) AS credits, sum(cells.possible_credits) AS possible_credits
FROM polled
JOIN accounts ON accounts.polled_key = polled.key_fp
JOIN usage_cells AS cells ON cells.key_fp = accounts.key_fp
WHERE cells.unit = ${variable('usage_poll_unit')}
  AND cells.first_us >= polled.from_us AND cells.last_us < polled.to_us
GROUP BY polled.pair`,
})

/** The first requests of one log in the time that two logs cover, which the other log names, too. Their ids are the same. */
export const sameIds: PageQuery = (variable) => ({
  rows: `
SELECT CAST(count(DISTINCT id) AS BIGINT) AS same, min(id) AS example FROM usage_shown
WHERE source = ${variable('usage_two_logs')}[2] AND id IN (
  SELECT id FROM usage_shown
  WHERE source = ${variable('usage_two_logs')}[1] AND at_us >= ${variable('usage_both_from')} AND at_us <= ${variable('usage_both_to')}
  ORDER BY at_us LIMIT 1000)`,
})

const sums = `${endSql} AS ended, unit, ${sumColumns(outcomeColumns)}`

/** Sums of each series by quarters of an hour, as the relations of an engine have them. */
export const outcomes: PageQuery = (variable) => ({
  rows: `
SELECT quarter, width_us, CASE WHEN width_us > 900000000 THEN source ELSE '' END AS bucket_source,
  CASE WHEN has(${variable('usage_series')}, name) THEN name ELSE '(other)' END AS series,
  ${sums}
FROM (SELECT *, ${nameSql(variable)} AS name FROM usage_cells) AS named
WHERE first_us >= ${variable('usage_before_from')} AND first_us < ${variable('usage_to')}
GROUP BY quarter, width_us, bucket_source, series, ended, unit`,
})

/** Sums of the keys with the most credits. */
export const keyOutcomes: PageQuery = (variable) => ({
  rows: `
SELECT key_fp, account, ${sums}
FROM usage_cells
WHERE ${within(variable)}
  AND has(${variable('usage_top')}, coalesce(key_fp, ''))
GROUP BY key_fp, account, ended, unit`,
})

/**
 * The first odd requests, each with the number of all.
 *
 * @param isOdd a condition on columns of `usage_shown`
 */
export const odd =
  (isOdd: (variable: Variable) => string): PageQuery =>
  (variable) => {
    const chosen = `${within(variable, 'at_us')} AND (${isOdd(variable)})`
    return {
      rows: `
SELECT source, id, at_us, model, status, credits, prompt_tokens, completion_tokens,
  (SELECT sum(requests) FROM usage_shown WHERE ${chosen}) AS n
FROM usage_shown
WHERE ${chosen}
ORDER BY at_us, source, id LIMIT 5`,
    }
  }
