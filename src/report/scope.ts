import { limitColumns, limitSqlOf } from '../measure/limit.ts'
import { columnOf, type MeasureName, measures } from '../measure/measures.ts'
import { goodSql, maybeGoodSql, type ObjectiveName, objectiveNames } from '../measure/objectives.ts'
import { samplesNeeded } from '../measure/percentile.ts'
import { countedSql } from '../measure/standings.ts'
import { checkTimeZone } from '../measure/usage/zone.ts'
import { literal } from '../store/literal.ts'
import type { Session } from '../store/session/session.ts'
import { userError } from '../user/user-error.ts'
import { prepareRates } from './rates.ts'
import { relationSql } from './temp-table.ts'

/** The subject of a report: runs, and the zone of its times. */
export interface Scope {
  readonly runIds: readonly string[]
  /** IANA name, for hours and days. */
  readonly timeZone: string
}

/** The column of `shown_runs` with an objective that is a limit by length. */
const byLength = (name: ObjectiveName): string => `${name}ByLength`

/** SQL over `shown_runs`: whether its scenario says what a good request is: by objectives, or by what it expects. */
export const hasObjectives = `(examines OR ${objectiveNames.map((name) => `"${name}" IS NOT NULL OR "${byLength(name)}" IS NOT NULL`).join(' OR ')})`

/**
 * Prepares what the queries of `reports/` read, in this connection only:
 *
 * - variables: `getvariable('run_ids')`, `'timezone'`, `'bucket_s'` (width of a time bucket), `'needs_p50'`, `'needs_p95'`
 * and `'needs_p99'` (the samples that a percentile needs), `'coarse_ttft_p50_s'` and so on for `response`, `ttft` and
 * `tpot` (widths with enough samples for the percentile), `'curve_quantiles'` (as many quantiles as the samples support, evenly spaced on a log axis)
 * - `shown_runs`: the runs, with `offset_us` since the first of them began
 * - `searched_runs` and `searched_attempts`: the same, and those of earlier runs whose trials count, because a search goes on
 *   from them
 * - `shown_attempts`: `attempt_times` of those runs, with `at_s` and `ended_s` since that start, and `good` (null
 *   without
 * objectives)
 * - `shown_latency`: the counted ones with a service time, which are successes, and timeouts as at least their
 *   deadline.
 * A fast failure never improves a percentile
 * - `shown_intervals` (measure, at_s, statistic, ms, n): p50, p95 and p99 of response time, TTFT and TPOT in each time
 * interval with enough samples; also in the trials of a search
 * - `shown_rates`: see `rates.ts`
 * - `buckets`: the start `at_s` of each time bucket from the first request on, without gaps
 *
 * @throws UserError for a run that is not in the store, or an unknown zone
 */
export async function prepareScope(session: Session, scope: Scope): Promise<void> {
  await checkRuns(session, scope.runIds)
  checkTimeZone(scope.timeZone)
  await session.execute(`
    SET VARIABLE run_ids = [${scope.runIds.map(literal).join(', ')}]::VARCHAR[];
    SET VARIABLE timezone = ${literal(scope.timeZone)};
    CREATE OR REPLACE TEMP TABLE searched_runs AS
      WITH shown AS (FROM runs WHERE list_contains(getvariable('run_ids'), run_id))
      SELECT *, epoch_us(started_at) - (SELECT min(epoch_us(started_at)) FROM shown) AS offset_us,
        run_id IN (SELECT run_id FROM request_kinds WHERE part = 'steady') AS has_steady,
        coalesce(len(try_cast(scenario_json AS JSON) -> '$.steps[*].expect[*]') > 0, false) AS examines,
        ${boundColumns}
      FROM runs
      WHERE list_contains(getvariable('run_ids'), run_id)
        OR run_id IN (SELECT unnest(try_cast(verdict_json AS JSON) ->> '$.sweeps[*].trials[*].runId') FROM shown);
    CREATE OR REPLACE TEMP TABLE shown_runs AS
      FROM searched_runs WHERE list_contains(getvariable('run_ids'), run_id);
  `)
  const [bounded] = await session.rows<Record<string, boolean>>(
    `SELECT ${boundNames.map((name) => `count("${name}") > 0 AS "${name}"`).join(', ')} FROM shown_runs`,
  )
  // Bounds that no run has are omitted: their measures would slow down every query.
  const boundIfAny = (name: ObjectiveName) => {
    if (bounded![byLength(name)]) return limitSqlOf(`"${name}"`, `"${byLength(name)}"`)
    return bounded![name] ? { us: `"${name}"`, isUnknown: 'false' } : null
  }
  const isSmall = await session.takeAttemptsAtHand({ values: true })
  const attemptsOf = (runs: string) => `
      SELECT times.* REPLACE (${countedSql('has_steady')} AS counted), offset_us,
        (offset_us + intended_us) / 1e6 AS at_s,
        (offset_us + sent_us) / 1e6 AS sent_s,
        (offset_us + coalesce(closed_us, intended_us)) / 1e6 AS ended_s,
        ${hasObjectives} AND ${maybeGoodSql(boundIfAny)} AS maybe_good,
        CASE WHEN ${hasObjectives}
             THEN ${goodSql(boundIfAny)} END AS good
      FROM attempt_times AS times
      JOIN (SELECT run_id, offset_us, has_steady, examines, ${boundNames.map((name) => `"${name}"`).join(', ')} FROM ${runs}) USING (run_id)`
  const [earlier] = await session.rows(
    'FROM searched_runs ANTI JOIN shown_runs USING (run_id) LIMIT 1',
  )
  await session.execute(`
    ${relationSql('shown_attempts', isSmall)} ${attemptsOf('shown_runs')};
    ${relationSql('searched_attempts', isSmall)}
      ${earlier === undefined ? 'FROM shown_attempts' : attemptsOf('searched_runs')};
    CREATE OR REPLACE TEMP VIEW shown_latency AS
      FROM shown_attempts WHERE counted AND ${measures.service.of} AND service_us IS NOT NULL;
  `)
  await prepareBuckets(session)
  await session.execute(
    `${relationSql('shown_intervals', isSmall)} ${intervalNames.map(intervalsSql).join(' UNION ALL ')}`,
  )
  await prepareRates(session)
}

const boundNames = objectiveNames.flatMap((name) => [name, byLength(name)])
const boundColumns = objectiveNames
  .map((name) => {
    const found = limitColumns('try_cast(scenario_json AS JSON)', `$.objectives.${name}`)
    return `${found.us} AS "${name}", ${found.byLength} AS "${byLength(name)}"`
  })
  .join(', ')

/** Measures that are drawn over time. */
const intervalNames = ['response', 'ttft', 'tpot'] as const
const drawnPercentiles = [50, 95, 99] as const

const intervalsSql = (name: MeasureName) =>
  drawnPercentiles
    .map((p) => {
      const width = `getvariable('coarse_${name}_p${p}_s')`
      return `
  SELECT '${name}' AS measure, floor(at_s / ${width}) * ${width} AS at_s, 'p${p}' AS statistic,
    quantile_cont(${columnOf(name)} / 1000, ${p / 100}) AS ms, count(*) AS n
  FROM shown_attempts
  WHERE (counted OR part = 'trial') AND ${measures.service.of} AND service_us IS NOT NULL AND ${columnOf(name)} IS NOT NULL
  GROUP BY ALL HAVING count(*) >= getvariable('needs_p${p}')`
    })
    .join(' UNION ALL ')

async function checkRuns(session: Session, runIds: readonly string[]): Promise<void> {
  const found = await session.rows<{ run_id: string }>('SELECT run_id FROM runs')
  const known = new Set(found.map((row) => row.run_id))
  const missing = runIds.filter((id) => !known.has(id))
  if (missing.length > 0) {
    throw userError.report(
      `no run ${missing.join(', ')} in ${session.path}: it has ${[...known].join(', ') || 'none'}`,
    )
  }
}

/** Most points of a line in a chart over time. */
const mostBuckets = 120
const widthsS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600]

/** The narrowest round width that cuts a span into at most this many buckets. */
export const bucketWidthS = (spanS: number, most: number): number =>
  widthsS.find((width) => spanS / width <= most) ?? 3600 * Math.ceil(spanS / 3600 / most)

/** Average samples per bucket, as a multiple of those that the percentile needs. */
const plenty = 1.5

async function prepareBuckets(session: Session): Promise<void> {
  const [span] = await session.rows<{
    seconds: number | null
    begins_s: number | null
    answers: number
    drawn_streams: number
    drawn_answers: number
  }>(`
    SELECT max(ended_s) AS seconds, min(at_s) AS begins_s,       count(ttft_us) FILTER (counted OR part = 'trial') AS drawn_streams,
      count(service_us) FILTER (counted OR part = 'trial') AS drawn_answers,
      count(service_us) FILTER (counted) AS answers
    FROM shown_attempts`)
  const { seconds, answers, drawn_streams, drawn_answers } = {
    ...span!,
    seconds: span!.seconds ?? 0,
  }
  const width = bucketWidthS(seconds, mostBuckets)
  const count = Math.max(1, Math.floor(seconds / width) + 1)
  const first = Math.min(count - 1, Math.floor((span!.begins_s ?? 0) / width))
  const percentiles = drawnPercentiles.map((p) => {
    const needs = samplesNeeded(p / 100)
    const coarse = intervalNames.map((name) => {
      const samples = name === 'response' ? drawn_answers : drawn_streams
      const most = Math.min(mostBuckets, Math.max(1, samples / (needs * plenty)))
      return `SET VARIABLE coarse_${name}_p${p}_s = ${bucketWidthS(seconds, most)}::DOUBLE;`
    })
    return [`SET VARIABLE needs_p${p} = ${needs};`, ...coarse].join('\n')
  })
  const quantiles = Array.from({ length: 121 }, (_, i) => 1 - 10 ** (-i / 20)).filter(
    (p) => answers > 0 && (p === 0 || samplesNeeded(p) <= answers),
  )
  await session.execute(`
    SET VARIABLE bucket_s = ${width}::DOUBLE;
    ${percentiles.join('\n')}
    SET VARIABLE curve_quantiles = [${quantiles.join(', ')}]::DOUBLE[];
    CREATE OR REPLACE TEMP VIEW buckets AS
      SELECT i AS bucket, i * getvariable('bucket_s') AS at_s FROM range(${first}, ${count}) AS t(i);
  `)
}
