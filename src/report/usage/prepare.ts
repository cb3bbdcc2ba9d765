import { type Contract, pricesOf } from '../../contract/contract.ts'
import { defaultContract } from '../../contract/default.ts'
import { limitTo } from '../../store/account.ts'
import { literal, textList } from '../../store/import/literal.ts'
import type { Session } from '../../store/session.ts'
import { UserError } from '../../user/user-error.ts'
import { hideTable } from '../temp-table.ts'
import { queryText, storeEngine, type UsageEngine } from './engine/engine.ts'
import { enterCosts } from './money-of-runs.ts'
import { accountOf, type UsageOptions, type UsageScope } from './shape.ts'
import { checkTimeZone, endOfDayUs, shiftDaysUs, startOfDayUs } from './zone.ts'

/** Usage is summed in quarters of an hour: the offset of every current zone is a multiple of one. */
export const quarterUs = 900e6

/**
 * The name of a series; the user's name for a key. Names are cut, because a log's model may be a megabyte long and
 * repeats in every hour.
 */
const shortened = (name: string) =>
  `left(coalesce(CASE getvariable('usage_by') WHEN 'key' THEN getvariable('usage_key_names')[${name}] END, ${name}), 200)`

const tokenColumns = [
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'completion_tokens',
  'reasoning_tokens',
] as const

/** The longest month, in days. */
const mostDefaultDays = 31

/**
 * Prepares what the usage page and its charts read, in this connection only:
 *
 * - variables `usage_from`, `usage_to`, `usage_before_from`, `usage_before_to` (Unix microseconds), `usage_timezone`,
 * `usage_by`, `usage_now`, `usage_covered_from`, `usage_covered_to`
 * - `usage_cells` and the engine's other relations (`engine/`)
 * - `usage_calendar`: every quarter hour of the period with its local hour and day
 * - `usage_quarters`: sums of each quarter and series; `usage_outcomes`: also by outcome
 * - `usage_hours`, `usage_days`: sums by local hour and day without gaps: 0 if covered without requests, null if not
 * covered; `wall_ms` is the local clock at their start, as milliseconds of UTC, for chart axes
 * - `usage_week_hours`: means by local weekday and hour
 * - `usage_key_sums`: all sums of the twenty keys with the most credits; `usage_key_models`: the same by model
 * - `usage_key_names`, a variable: names of keys by fingerprint; `usage_credit_usd`: the price of a credit, or null
 *
 * The engine reads requests only a few times per page; everything else works on quarters.
 *
 * @throws UserError for an unknown zone, an empty period, or a store without usage
 */
export async function prepareUsage(
  store: Session,
  options: UsageOptions,
  engine: UsageEngine = storeEngine,
): Promise<UsageScope> {
  checkTimeZone(options.timezone)
  const names = options.keyNames ?? {}
  await enterPrices(store, options.contract ?? defaultContract)
  await enterCosts(store, options.contract ?? defaultContract)
  await store.execute(`
    SET VARIABLE usage_runs = ${textList(options.runIds)};
    SET VARIABLE usage_sources = ${textList(options.sources)};
    SET VARIABLE usage_timezone = ${literal(options.timezone)};
    SET VARIABLE usage_by = ${literal(options.by)};
    SET VARIABLE usage_credit_usd = ${options.creditUsd ?? 'NULL'}::DOUBLE;
    SET VARIABLE usage_key_names = MAP(${textList(Object.keys(names))}, ${textList(Object.values(names))});
    CREATE TEMP MACRO IF NOT EXISTS arrayJoin(names) AS unnest(names);
  `)
  await limitTo(store, accountOf(options), engine.keyTables)
  await engine.begin(store, options)
  const sources = await readSources(store, engine, options)
  // A service in scaled time is ahead of our clock, but its past usage is not in the future.
  const nowUs = Math.max(Math.round(options.nowUs), ...sources.map((each) => each.lastUs + 1))
  const scope = scopeOf({ ...options, nowUs }, sources)
  const [beforeFrom, beforeTo] = periodBefore(scope, sources)
  const polls = sources.every(({ origin }) => origin === 'poll')
  // A balance does not show that there were no requests.
  const covering = polls ? [{ firstUs: scope.toUs, lastUs: scope.fromUs }] : sources
  await store.execute(`
    SET VARIABLE usage_now = ${nowUs}::BIGINT;
    SET VARIABLE usage_from = ${scope.fromUs}::BIGINT;
    SET VARIABLE usage_to = ${scope.toUs}::BIGINT;
    SET VARIABLE usage_before_from = ${beforeFrom}::BIGINT;
    SET VARIABLE usage_before_to = ${beforeTo}::BIGINT;
    SET VARIABLE usage_covered_from = ${Math.min(...covering.map((each) => each.firstUs))}::BIGINT;
    SET VARIABLE usage_covered_to = ${Math.max(...covering.map((each) => each.lastUs))}::BIGINT;
  `)
  await prepareKeys(store, engine)
  const units = await readUnits(store)
  await prepareQuarters(store, engine, units)
  await prepareCalendar(store)
  const utc = await placeBuckets(store, sources)
  await prepareBuckets(store, units)
  const inUtc = [...utc].sort()
  const utcNote =
    inUtc.length === 0
      ? []
      : [
          `Days of ${inUtc.join(', ')} are UTC days: its sums are over intervals that no day in ${options.timezone} contains.`,
        ]
  return {
    ...scope,
    unit: units[0] ?? 'credits',
    units,
    sources: sources.map((each) => ({ ...each, days: utc.has(each.source) ? 'UTC' : 'local' })),
    notes: [...scope.notes, ...utcNote],
  }
}

/** Enters the prices of the contract, which give attempts a cost in the view `usage`. */
export async function enterPrices(store: Session, contract: Contract): Promise<void> {
  await hideTable(store, 'model_prices')
  for (const { id, costCredits } of pricesOf(contract)) {
    const key = [contract.name, id]
    await store.execute('DELETE FROM model_prices WHERE contract = $1 AND model = $2', key)
    await store.execute('INSERT INTO model_prices VALUES ($1, $2, $3)', [...key, costCredits])
  }
}

async function readSources(
  store: Session,
  engine: UsageEngine,
  options: UsageOptions,
): Promise<UsageScope['sources']> {
  await engine.fill(store, 'usage_coverage', queryText('coverage'))
  // Charts and forecasts are about one unit: that of most amounts.
  const [unit = 'credits'] = await readUnits(store)
  await store.execute(`SET VARIABLE usage_unit = ${literal(unit)}`)
  const rows = await store.rows<UsageScope['sources'][number]>(
    `SELECT 'local' AS days, origin, source, sum(requests)::BIGINT AS requests, min(first_us) AS "firstUs", max(last_us) AS "lastUs",
       nullif(max(CASE WHEN width_us > ${quarterUs} THEN width_us // 1000000 ELSE 0 END), 0)::BIGINT AS "widestS"
     FROM usage_coverage GROUP BY origin, source ORDER BY "firstUs", source`,
  )
  if (rows.length > 0) return rows
  const polls = await store.rows<UsageScope['sources'][number]>(
    `SELECT 'local' AS days, 'poll' AS origin, base_url AS source, 0 AS requests, min(at_us) AS "firstUs",
       max(at_us) AS "lastUs", NULL AS "widestS"
     FROM poll_times WHERE remaining IS NOT NULL OR consumed IS NOT NULL
     GROUP BY ALL ORDER BY "firstUs", source`,
  )
  if (polls.length === 0) {
    const { account, keys } = accountOf(options)
    if (account !== null || keys !== null) {
      throw new UserError(
        'report',
        `${engine.name ?? store.path} holds no usage of ${[account !== null && `the account "${account}"`, keys !== null && 'these keys'].filter(Boolean).join(' with ')}: expected the name of an account as the log or the run has it (assay usage --by account), and keys of --key-names or their fingerprints.`,
      )
    }
    throw new UserError(
      'report',
      `${engine.name ?? store.path} holds no usage to show: make a run (assay run), import a log (assay import), poll a balance (assay usage watch), or name other runs and sources.`,
    )
  }
  return polls
}

/** The units of amounts, that of most amounts first. */
async function readUnits(store: Session): Promise<readonly string[]> {
  const rows = await store.rows<{ unit: string }>(
    'SELECT unit FROM usage_coverage WHERE amounts > 0 GROUP BY unit ORDER BY sum(amounts) DESC, unit',
  )
  return rows.map(({ unit }) => unit)
}

function scopeOf(options: UsageOptions, sources: UsageScope['sources']): UsageScope {
  const { timezone, by, nowUs } = options
  const lastUs = Math.max(...sources.map((each) => each.lastUs))
  const toUs = options.toUs ?? endOfDayUs(lastUs, timezone)
  const fromUs = options.fromUs ?? firstDayUs(sources, toUs, timezone)
  if (fromUs >= toUs) {
    throw new UserError(
      'report',
      `The period from ${new Date(fromUs / 1000).toISOString()} to ${new Date(toUs / 1000).toISOString()} is empty: --to must come after --from.`,
    )
  }
  if (fromUs % quarterUs !== 0 || toUs % quarterUs !== 0) {
    throw new UserError(
      'report',
      'Usage is kept in quarters of an hour: a period must begin and end on one.',
    )
  }
  const creditUsd = options.creditUsd ?? null
  return {
    fromUs,
    toUs,
    timezone,
    by,
    account: accountOf(options).account,
    nowUs,
    sources,
    creditUsd,
    unit: '',
    units: [],
    notes: notesOf(sources),
  }
}

/** The first local day with usage, but at most 31 days before the end. */
function firstDayUs(sources: UsageScope['sources'], toUs: number, timezone: string): number {
  const firstUs = startOfDayUs(Math.min(...sources.map((each) => each.firstUs)), timezone)
  const monthUs = shiftDaysUs(toUs, -mostDefaultDays, timezone)
  return firstUs < toUs ? Math.max(firstUs, monthUs) : monthUs
}

function notesOf(sources: UsageScope['sources']): readonly string[] {
  const notes: string[] = []
  const runs = sources.filter((each) => each.origin === 'run')
  const overlapping = sources.filter(
    (each) =>
      each.origin === 'import' &&
      runs.some((run) => run.firstUs <= each.lastUs && each.firstUs <= run.lastUs),
  )
  if (overlapping.length > 0) {
    notes.push(
      `The imported ${overlapping.map((each) => `"${each.source}"`).join(', ')} and runs of this store cover the same time: requests in both count twice. Choose one with --source or by naming runs.`,
    )
  }
  return notes
}

/** Share of the preceding period that may be missing at its start: no log begins exactly on time. */
const mostMissing = 0.02

/**
 * The preceding period of as many local days. It is cut to the elapsed part of this one, to compare half a month with
 * half a month. Empty if it was not measured from its start.
 */
function periodBefore(
  scope: UsageScope,
  sources: UsageScope['sources'],
): readonly [number, number] {
  const { fromUs, toUs, timezone } = scope
  const days = Math.round((toUs - fromUs) / 86_400e6)
  const whole = shiftDaysUs(fromUs, days, timezone) === toUs
  const beforeFrom = whole ? shiftDaysUs(fromUs, -days, timezone) : fromUs - (toUs - fromUs)
  const coveredTo = Math.max(...sources.map((each) => each.lastUs)) + 1
  const passed = Math.min(toUs, Math.max(coveredTo, fromUs)) - fromUs
  const elapsed = passed < toUs - fromUs ? passed : fromUs - beforeFrom
  const quarters = Math.ceil(elapsed / quarterUs) * quarterUs
  const beforeTo = Math.min(fromUs, beforeFrom + quarters)
  const missing = Math.min(...sources.map((each) => each.firstUs)) - beforeFrom
  return missing > mostMissing * (beforeTo - beforeFrom) ? [fromUs, fromUs] : [beforeFrom, beforeTo]
}

/**
 * The columns of `UsageSums` (in snake case), from sums by outcome and unit. Two steps are cheaper: a filter on each of
 * ten sums costs more than a few more groups.
 */
const usageSums = (() => {
  const sum = (column: string, when: string, name: string) =>
    `coalesce(sum(${column}) FILTER (WHERE ${when}), 0) AS ${name}`
  const inUnit = (column: string) =>
    `sum(${column}) FILTER (WHERE unit = getvariable('usage_unit')) AS ${column}`
  const all = (column: string) => `sum(${column}) AS ${column}`
  return [
    'sum(n) AS requests',
    sum('n', `outcome = 'ok'`, 'ok'),
    sum('n', `outcome = 'http_error'`, 'failed'),
    sum('n', 'limited', 'limited'),
    sum('n', `outcome IN ('broken', 'timeout', 'aborted')`, 'ambiguous'),
    'coalesce(sum(requests_unknown), 0) AS requests_unknown',
    inUnit('credits'),
    inUnit('possible_credits'),
    'coalesce(sum(credits_known), 0) AS credits_known',
    ...tokenColumns.map(all),
    // Means are over successes.
    `sum(both_tokens) FILTER (WHERE outcome = 'ok') AS both_tokens`,
    sum('tokens_known', `outcome = 'ok'`, 'tokens_known_ok'),
    ...['tokens_known', 'cached_known', 'cache_write_known', 'reasoning_known'].map(
      (column) => `coalesce(sum(${column}), 0) AS ${column}`,
    ),
  ].join(',\n')
})()

/** UTC hours of each key, and all sums of the keys with the most credits. */
async function prepareKeys(store: Session, engine: UsageEngine): Promise<void> {
  await engine.enterPeriod(store)
  await engine.fill(store, 'usage_top_keys', queryText('top-keys'))
  await store.execute(
    `SET VARIABLE usage_top = (SELECT coalesce(list(coalesce(key_fp, '')), []) FROM usage_top_keys)`,
  )
  await engine.fill(store, 'usage_key_outcomes', queryText('key-outcomes'))
  await store.execute(`
    CREATE OR REPLACE TEMP TABLE usage_key_sums AS
    SELECT key_fp, account, ${usageSums} FROM usage_key_outcomes GROUP BY ALL
  `)
  await engine.fill(store, 'usage_key_models', queryText('key-models'))
}

async function prepareQuarters(
  store: Session,
  engine: UsageEngine,
  units: readonly string[],
): Promise<void> {
  const amounts = units
    .map((unit, at) => `, sum(credits) FILTER (WHERE unit = ${literal(unit)}) AS amount_${at}`)
    .join('')
  await engine.fill(store, 'usage_series', queryText('series'))
  await store.execute(
    'SET VARIABLE usage_series = (SELECT coalesce(list(name), []) FROM usage_series)',
  )
  await engine.fill(store, 'usage_outcomes', queryText('outcomes'))
  await store.execute(`
    CREATE OR REPLACE TEMP TABLE usage_quarters AS
    SELECT quarter, width_us, bucket_source, ${shortened('series')} AS series, ${usageSums}${amounts} FROM usage_outcomes GROUP BY ALL
  `)
}

async function prepareCalendar(store: Session): Promise<void> {
  await store.execute(`
    CREATE OR REPLACE TEMP TABLE usage_calendar AS
    WITH quarters AS (
      SELECT unnest(range(getvariable('usage_from') // ${quarterUs}, getvariable('usage_to') // ${quarterUs}))
        AS quarter),
    local AS (
      SELECT quarter, quarter * ${quarterUs} AS at_us,
        timezone(getvariable('usage_timezone'), make_timestamptz((quarter * ${quarterUs})::BIGINT)) AS clock
      FROM quarters),
    split AS (
      SELECT *, date_trunc('hour', clock) AS hour_clock, date_trunc('day', clock) AS day_clock,
        (epoch_us(clock) - at_us) // 60000000 AS offset_min
      FROM local)
    SELECT quarter, at_us::BIGINT AS at_us, offset_min,
      -- Position of the hour on a local time axis. Repeated hours share one hour of it.
      epoch_ms(hour_clock) + 3600000 * (dense_rank() OVER (PARTITION BY hour_clock ORDER BY offset_min DESC) - 1)
        // count(DISTINCT offset_min) OVER (PARTITION BY hour_clock) AS wall_ms,
      -- An hour that a clock change repeats counts as two, with different offsets.
      (min(at_us) OVER (PARTITION BY hour_clock, offset_min))::BIGINT AS hour_us,
      (min(at_us) OVER (PARTITION BY day_clock))::BIGINT AS day_us,
      strftime(hour_clock, '%Y-%m-%d %H:%M ') || CASE WHEN offset_min < 0 THEN '-' ELSE '+' END
        || printf('%02d:%02d', abs(offset_min) // 60, abs(offset_min) % 60) AS hour_label,
      strftime(day_clock, '%Y-%m-%d') AS day_label,
      isodow(clock)::INTEGER AS weekday, hour(clock)::INTEGER AS hour_of_day
    FROM split ORDER BY quarter
  `)
}

/**
 * Decides where sums over more than a quarter of an hour are drawn. A source whose sums all lie within one local day
 * each has local days; the sums of any other cannot be cut, and keep their UTC days. The same holds for hours.
 *
 * @returns the sources with UTC days
 */
async function placeBuckets(
  store: Session,
  sources: UsageScope['sources'],
): Promise<ReadonlySet<string>> {
  await store.execute(`
    CREATE OR REPLACE TEMP TABLE usage_places AS
    SELECT bucket_source, bool_and(coalesce(first.day_us = last.day_us, false)) AS in_days,
      bool_and(coalesce(first.hour_us = last.hour_us, false)) AS in_hours
    FROM (SELECT DISTINCT bucket_source, quarter, width_us FROM usage_quarters
          WHERE bucket_source <> '' AND quarter >= getvariable('usage_from') // ${quarterUs}) AS buckets
    LEFT JOIN usage_calendar AS first USING (quarter)
    LEFT JOIN usage_calendar AS last ON last.quarter = (buckets.quarter * ${quarterUs} + width_us - 1) // ${quarterUs}
    GROUP BY bucket_source`)
  const places = await store.rows<{ bucket_source: string; in_days: boolean; in_hours: boolean }>(
    'FROM usage_places',
  )
  const placeOf = new Map(places.map((place) => [place.bucket_source, place]))
  const covering = (is: 'in_days' | 'in_hours') => {
    const some = sources.filter(
      ({ origin, source }) => origin !== 'poll' && (placeOf.get(source)?.[is] ?? true),
    )
    const from = Math.min(...some.map((each) => each.firstUs))
    const to = Math.max(...some.map((each) => each.lastUs))
    // A balance does not show that there were no requests.
    return some.length === 0
      ? 'false'
      : `quarter >= ${Math.floor(from / quarterUs)} AND quarter <= ${Math.floor(to / quarterUs)}`
  }
  await store.execute(`
    CREATE OR REPLACE TEMP TABLE usage_calendar AS
    SELECT *, ${covering('in_days')} AS covered, ${covering('in_hours')} AS covered_in_hours,
      at_us + ${quarterUs} > least(getvariable('usage_now'), getvariable('usage_covered_to') + 1) AS open
    FROM usage_calendar ORDER BY quarter`)
  return new Set(places.filter((place) => !place.in_days).map((place) => place.bucket_source))
}

/** Sums over the quarters of an hour or a day; null if none was covered. */
function pointSums(covered: string, units: readonly string[]): string {
  const count = (name: string) =>
    `CASE WHEN NOT bool_or(${covered}) THEN NULL WHEN count(there) = 0 THEN 0 ELSE sum(${name})::BIGINT END AS ${name}`
  // Null, not 0, for requests without a known value.
  const known = (name: string) =>
    `CASE WHEN NOT bool_or(${covered}) THEN NULL WHEN count(there) = 0 THEN 0 ELSE sum(${name})::DOUBLE END AS ${name}`
  return [
    ...['requests', 'ok', 'failed', 'limited', 'ambiguous', 'requests_unknown'].map(count),
    ...['credits', 'possible_credits', ...tokenColumns].map(known),
    // At least this much: `requests - credits_known` are not known.
    ...units.map(
      (_, at) =>
        `CASE WHEN bool_or(${covered}) THEN coalesce(sum(amount_${at}), 0)::VARCHAR END AS amount_${at}`,
    ),
    `CASE WHEN bool_or(${covered}) THEN greatest(0, coalesce(sum(requests), 0) - coalesce(sum(credits_known), 0))::BIGINT END AS unknown_cost`,
  ].join(',\n')
}

const inPlace = (is: 'in_days' | 'in_hours') =>
  `(bucket_source = '' OR bucket_source IN (SELECT bucket_source FROM usage_places WHERE ${is}))`

async function prepareBuckets(store: Session, units: readonly string[]): Promise<void> {
  const filled = (start: string, label: string, is: 'in_days' | 'in_hours') => {
    const covered = is === 'in_days' ? 'covered' : 'covered_in_hours'
    return `
    SELECT ${start} AS start_us, ${label} AS label, min(wall_ms) AS wall_ms, series,
      count(DISTINCT quarter)::BIGINT * 900 AS length_s, bool_or(open) AS open,
      getvariable('usage_timezone') AS timezone, ${pointSums(covered, units)}
    FROM usage_calendar CROSS JOIN (
      SELECT DISTINCT series FROM usage_quarters
      WHERE quarter >= getvariable('usage_from') // ${quarterUs}
      UNION SELECT ${shortened('name')} FROM usage_series
      UNION SELECT '(none)' WHERE NOT EXISTS (FROM usage_series))
    LEFT JOIN (SELECT 1 AS there, * FROM usage_quarters WHERE ${inPlace(is)}) USING (quarter, series)
    GROUP BY ${start}, ${label}, series`
  }
  const dayUs = 86_400_000_000
  // Sums that no local day contains are in UTC days; those over more than a day are points of their own.
  const apart = `
    SELECT start_us, label, start_us // 1000 AS wall_ms, series, any_value(length_s) AS length_s, bool_or(open) AS open,
      'UTC' AS timezone, ${pointSums('true', units)}
    FROM (
      SELECT *, 1 AS there, CASE WHEN is_day THEN ${dayUs / 1e6} ELSE width_us // 1000000 END AS length_s,
        CASE WHEN is_day THEN at_us // ${dayUs} * ${dayUs} ELSE at_us END AS start_us,
        strftime(make_timestamp(at_us), '%Y-%m-%d')
          || CASE WHEN is_day THEN '' ELSE strftime(make_timestamp(at_us + width_us - 1), ' to %Y-%m-%d') END AS label,
        at_us + width_us > getvariable('usage_now') AS open
      FROM (
        SELECT *, (quarter * ${quarterUs})::BIGINT AS at_us,
          quarter * ${quarterUs} // ${dayUs} = (quarter * ${quarterUs} + width_us - 1) // ${dayUs} AS is_day
        FROM usage_quarters
        WHERE NOT ${inPlace('in_days')} AND quarter >= getvariable('usage_from') // ${quarterUs}))
    GROUP BY start_us, label, series`
  await store.execute(`
    CREATE OR REPLACE TEMP TABLE usage_hours AS ${filled('hour_us', 'hour_label', 'in_hours')} ORDER BY start_us, series;
    CREATE OR REPLACE TEMP TABLE usage_days AS
    SELECT * FROM (
      (${filled('day_us', 'day_label', 'in_days')}
       HAVING EXISTS (FROM usage_calendar WHERE covered) OR NOT EXISTS (FROM usage_places WHERE NOT in_days))
      UNION ALL BY NAME ${apart}) ORDER BY start_us, length_s, series;
    CREATE OR REPLACE TEMP TABLE usage_week_hours AS
    SELECT weekday, hour_of_day, avg(credits) AS credits, avg(requests) AS requests,
      count(requests) AS hours
    FROM (
      SELECT hour_us, any_value(weekday) AS weekday, any_value(hour_of_day) AS hour_of_day
      FROM usage_calendar GROUP BY hour_us)
    JOIN (
      SELECT start_us AS hour_us, sum(requests) AS requests,
        CASE WHEN count(*) FILTER (WHERE requests > 0 AND credits IS NULL) = 0 THEN sum(credits) END
          AS credits
      FROM usage_hours WHERE NOT open GROUP BY start_us) USING (hour_us)
    GROUP BY weekday, hour_of_day ORDER BY weekday, hour_of_day
  `)
}
