import { createHash } from 'node:crypto'
import { sqlName } from '../attempt/columns.ts'
import { foreignMeasures } from './foreign-measures.ts'
import {
  columnOf,
  cutOf,
  type Measure,
  type MeasureName,
  measureNames,
  measures,
} from './measures.ts'
import { succeeded } from './row-sql.ts'
import { standings } from './standings.ts'
import { taskViews } from './task-measures.ts'
import { tokenParts } from './token-parts.ts'
import { usageViewSql } from './usage/view.ts'

const valueSql = (name: MeasureName) =>
  `CASE WHEN ${measures[name].of} THEN ${measures[name].value} END`

const columns = [
  ...Object.entries(standings).map(([name, { sql }]) => `(${sql}) AS ${name}`),
  ...Object.entries(tokenParts).map(([name, { sql }]) => `${sql} AS ${name}`),
  ...measureNames.flatMap((name) => {
    const { of, cut } = measures[name] as Measure
    const value = `${valueSql(name)} AS ${columnOf(name)}`
    return cut === null ? [value] : [value, `(${of}) AND (${cut}) AS ${cutOf(name)}`]
  }),
  ...Object.entries(foreignMeasures).map(
    ([name, { sql }]) => `CASE WHEN ${succeeded} THEN ${sql} END AS ${name}`,
  ),
]

const entries = measureNames.map(
  (name) =>
    `{measure: '${sqlName(name)}', us: ${columnOf(name)}::DOUBLE, at_least: ${cutOf(name) ?? 'false'}}`,
)

/**
 * The views of the store: `attempt_values` has a column for each measure, `attempt_measures` has a row
 * for each, and `attempt_times` is `attempt_values` with times of day.
 */
const views = `
CREATE OR REPLACE VIEW attempt_values AS
SELECT attempts.*,
  ${columns.join(',\n  ')}
FROM attempts;
CREATE OR REPLACE VIEW attempt_times AS
SELECT attempt_values.*,
  runs.started_at + to_microseconds(intended_us) AS intended_at,
  runs.started_at + to_microseconds(coalesce(closed_us, intended_us)) AS closed_at,
  runs.time_scale
FROM attempt_values JOIN runs USING (run_id);
CREATE OR REPLACE VIEW attempt_measures AS
SELECT * EXCLUDE (entry), entry.measure, entry.us, entry.at_least
FROM (
  SELECT run_id, slot, retry, phase, part, step, endpoint, model, account, outcome, on_purpose,
    unnest([${entries.join(',\n      ')}]) AS entry
  FROM attempt_values
)
WHERE entry.us IS NOT NULL;
${taskViews}
${usageViewSql};`

/** A store keeps the digest as the comment of `attempt_measures`. */
export const measureViews = {
  sql: views,
  digest: createHash('sha256').update(views).digest('hex').slice(0, 16),
}
