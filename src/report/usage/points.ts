import { quarterUs } from '../../measure/usage/quantities.ts'
import type { Session } from '../../store/session/session.ts'
import { dayUs } from '../../user/durations.ts'
import { largest, smallest } from '../../user/extremes.ts'
import { shortened, tokenColumns } from './quarter-sums.ts'
import type { UsageScope } from './shape.ts'

export async function prepareCalendar(session: Session): Promise<void> {
  await session.execute(`
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
export async function placeBuckets(
  session: Session,
  sources: UsageScope['sources'],
): Promise<ReadonlySet<string>> {
  await session.execute(`
    CREATE OR REPLACE TEMP TABLE usage_places AS
    SELECT bucket_source, bool_and(coalesce(first.day_us = last.day_us, false)) AS in_days,
      bool_and(coalesce(first.hour_us = last.hour_us, false)) AS in_hours
    FROM (SELECT DISTINCT bucket_source, quarter, width_us FROM usage_quarters
          WHERE bucket_source <> '' AND quarter >= getvariable('usage_from') // ${quarterUs}) AS buckets
    LEFT JOIN usage_calendar AS first USING (quarter)
    LEFT JOIN usage_calendar AS last ON last.quarter = (buckets.quarter * ${quarterUs} + width_us - 1) // ${quarterUs}
    GROUP BY bucket_source`)
  const places = await session.rows<{ bucket_source: string; in_days: boolean; in_hours: boolean }>(
    'FROM usage_places',
  )
  const placeOf = new Map(places.map((place) => [place.bucket_source, place]))
  const covering = (is: 'in_days' | 'in_hours') => {
    const some = sources.filter(
      ({ origin, source }) => origin !== 'poll' && (placeOf.get(source)?.[is] ?? true),
    )
    const from = smallest(some.map((each) => each.firstUs))
    const to = largest(some.map((each) => each.lastUs))
    // A balance does not show that there were no requests.
    return some.length === 0
      ? 'false'
      : `quarter >= ${Math.floor(from / quarterUs)} AND quarter <= ${Math.floor(to / quarterUs)}`
  }
  await session.execute(`
    CREATE OR REPLACE TEMP TABLE usage_calendar AS
    SELECT *, ${covering('in_days')} AS covered, ${covering('in_hours')} AS covered_in_hours,
      at_us + ${quarterUs} > least(getvariable('usage_now'), getvariable('usage_covered_to') + 1)
        OR EXISTS (FROM usage_partial WHERE from_us < at_us + ${quarterUs} AND to_us > at_us) AS open
    FROM usage_calendar ORDER BY quarter`)
  return new Set(places.filter((place) => !place.in_days).map((place) => place.bucket_source))
}

/** Sums over the quarters of an hour or a day; null if none was covered. */
function pointSums(covered: string, units: readonly string[]): string {
  const counted = (name: string) =>
    `CASE WHEN NOT bool_or(${covered}) THEN NULL WHEN count(there) = 0 THEN 0 ELSE sum(${name})::BIGINT END`
  // Null, not 0, for requests without a known value.
  const known = (name: string) =>
    `CASE WHEN NOT bool_or(${covered}) THEN NULL WHEN count(there) = 0 THEN 0 ELSE sum(${name})::DOUBLE END AS ${name}`
  return [
    `CASE WHEN sum(requests_unknown) > 0 AND coalesce(sum(requests), 0) = 0 THEN NULL ELSE ${counted('requests')} END AS requests`,
    ...['ok', 'failed', 'limited', 'ambiguous', 'requests_unknown'].map(
      (name) => `${counted(name)} AS ${name}`,
    ),
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

export async function prepareBuckets(session: Session, units: readonly string[]): Promise<void> {
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
  // Sums that no local day contains are in UTC days; those over more than a day are points of their own.
  const apart = `
    SELECT start_us, label, start_us // 1000 AS wall_ms, series, any_value(length_s) AS length_s, bool_or(open) AS open,
      'UTC' AS timezone, ${pointSums('true', units)}
    FROM (
      SELECT *, 1 AS there, CASE WHEN is_day THEN ${dayUs / 1e6} ELSE width_us // 1000000 END AS length_s,
        CASE WHEN is_day THEN at_us // ${dayUs} * ${dayUs} ELSE at_us END AS start_us,
        strftime(make_timestamp(at_us), '%Y-%m-%d')
          || CASE WHEN is_day THEN '' ELSE strftime(make_timestamp(at_us + width_us - 1), ' to %Y-%m-%d') END AS label,
        at_us + width_us > getvariable('usage_now')
          OR EXISTS (FROM usage_partial WHERE from_us < at_us + width_us AND to_us > at_us) AS open
      FROM (
        SELECT *, (quarter * ${quarterUs})::BIGINT AS at_us,
          quarter * ${quarterUs} // ${dayUs} = (quarter * ${quarterUs} + width_us - 1) // ${dayUs} AS is_day
        FROM usage_quarters
        WHERE NOT ${inPlace('in_days')} AND quarter >= getvariable('usage_from') // ${quarterUs}))
    GROUP BY start_us, label, series`
  await session.execute(`
    CREATE OR REPLACE TEMP TABLE usage_hours AS ${filled('hour_us', 'hour_label', 'in_hours')} ORDER BY start_us, series;
    CREATE OR REPLACE TEMP TABLE usage_days AS
    SELECT * FROM (
      (${filled('day_us', 'day_label', 'in_days')}
       HAVING EXISTS (FROM usage_calendar WHERE covered) OR NOT EXISTS (FROM usage_places WHERE NOT in_days))
      UNION ALL BY NAME ${apart}) ORDER BY start_us, length_s, series;
  `)
}

/** `usage_week_hours`: means by local weekday and hour. */
export function prepareWeekHours(session: Session): Promise<void> {
  return session.execute(`
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
