import { literal } from '../literal.ts'
import { type CellFormats, type DateOrder, localTimeSql } from './cell-formats.ts'
import type { DurationPlace, Mapping, TimePlace, TimeUnit } from './mapping.ts'
import { type ColumnReader, exactColumn } from './places.ts'
import { type StagedField, sameField } from './staged-field.ts'

/** Anything longer than a month is a wrong unit. */
const longestUs = 31 * 86_400e6

const unitUs = { s: 1e6, ms: 1e3, us: 1, ns: 1e-3 } as const

/** @param timezone the session's, in which both times of a difference are if they have no offset */
export function durationField(
  name: string,
  at: DurationPlace | undefined,
  timezone: string,
  read: ColumnReader,
  { dateOrder }: CellFormats,
): StagedField {
  if (at === undefined) return sameField(name, 'NULL::BIGINT')
  // A duration that is not one is not known; the rest of the line is.
  const within = (sql: string) => `CASE WHEN ${sql} BETWEEN 0 AND ${longestUs} THEN ${sql} END`
  const unchecked = { name, wrong: null, expected: '', observed: 'NULL' }
  if ('from' in at) {
    const [from, to] = [at.from, at.to].map((column) =>
      timeSql({ column, unit: 'auto', timezone }, timezone, read, dateOrder),
    )
    return { ...unchecked, sql: within(`(${to} - ${from})`) }
  }
  const text = `nullif(${read.text(at.column)}, '')`
  const exact = exactColumn({ column: at.column }, read)
  const sql =
    exact !== null && at.unit === 'us'
      ? `TRY_CAST(${exact} AS BIGINT)`
      : `TRY_CAST(round(TRY_CAST(${exact ?? text} AS DOUBLE) * ${unitUs[at.unit]}) AS BIGINT)`
  return { ...unchecked, sql: within(sql) }
}

/** 2000 to 2100. Anything outside is a wrong unit. */
const earliestUs = 946_684_800_000_000

export const latestUs = 4_102_444_800_000_000

interface FullTimePlace {
  readonly column: string | readonly string[]
  readonly unit: TimeUnit
  readonly timezone: string
}

const fullPlace = (at: TimePlace, timezone = 'UTC'): FullTimePlace =>
  typeof at === 'string'
    ? { column: at, unit: 'auto', timezone }
    : { ...at, timezone: at.timezone ?? timezone }

/** The zone of times without an offset. The import makes it the session's. */
export const timezoneOf = ({ fields }: Mapping): string => fullPlace(fields.time).timezone

/** @param timezone the session's, which is that of the place if it names none */
export function timeField(
  name: string,
  at: TimePlace,
  timezone: string,
  read: ColumnReader,
  { dateOrder }: CellFormats,
): StagedField {
  const place = fullPlace(at, timezone)
  return {
    name,
    sql: timeSql(place, timezone, read, dateOrder),
    wrong: `coalesce(${name} NOT BETWEEN ${earliestUs} AND ${latestUs}, true)`,
    expected: `a time between 2000 and 2100 (${place.unit === 'auto' ? 'ISO 8601, or Unix s, ms, us or ns' : place.unit})`,
    observed: read.text(place.column),
  }
}

/** The local clock of a time without an offset, as if it were UTC; null for other times, and in UTC. */
export function wallField(
  at: TimePlace,
  read: ColumnReader,
  { dateOrder }: CellFormats,
): StagedField {
  const { column, unit, timezone } = fullPlace(at)
  const text = read.text(column)
  const kind = read.kind(column)
  const isText = (kind === 'text' || kind === 'other') && (unit === 'auto' || unit === 'iso')
  if (timezone === 'UTC' || !(isText || kind === 'timestamp')) {
    return sameField('wall_us', 'NULL::BIGINT')
  }
  const sql = isText
    ? `CASE WHEN NOT ${hasZone(text)}
         THEN epoch_us(coalesce(${castSql(text, 'TIMESTAMP')}, ${localTimeSql(text, dateOrder)})) END`
    : `epoch_us(${read.raw(column)}::TIMESTAMP)`
  return { name: 'wall_us', sql, wrong: null, expected: '', observed: 'NULL' }
}

/**
 * SQL for a time of ISO 8601: as DuckDB reads it, or with what it does not read made plain: no seconds before an offset,
 * a space before one, and a comma before parts of a second.
 */
function castSql(text: string, type: 'TIMESTAMP' | 'TIMESTAMPTZ'): string {
  const steps: readonly (readonly [string, string])[] = [
    ['^(.{10}[T ]\\d\\d:\\d\\d)(\\s*([Zz]|UTC|[+-]\\d.*)?)$', '\\1:00\\2'],
    ['(:\\d\\d),(\\d)', '\\1.\\2'],
    ['\\s+([+-]\\d\\d:?\\d\\d)$', '\\1'],
  ]
  const plain = steps.reduce(
    (sql, [from, to]) => `regexp_replace(${sql}, ${literal(from)}, ${literal(to)})`,
    `trim(${text})`,
  )
  return `coalesce(TRY_CAST(${text} AS ${type}), TRY_CAST(${plain} AS ${type}))`
}

/** SQL: whether a text says in which zone its time is: `10:00Z`, `10:00+01:00`, `10:00 UTC`. */
const hasZone = (text: string) =>
  `regexp_matches(${text}, '\\d:\\d\\d.*([Zz]|[+-]\\d\\d(:?\\d\\d)?|UTC|GMT)\\s*$')`

const widthUs = { m: 60e6, h: 3600e6, d: 86_400e6 } as const

/** The end of the interval of a line that is a sum; null for an event. Days are those of the zone's calendar. */
export function endField(mapping: Mapping, read: ColumnReader, readings: CellFormats): StagedField {
  const { bucket, fields } = mapping
  const timezone = timezoneOf(mapping)
  if (fields.end !== undefined) {
    const end = timeField('end_us', fields.end, timezone, read, readings)
    return {
      ...end,
      wrong: `${end.wrong} OR end_us <= at_us`,
      expected: 'an end after the start',
    }
  }
  // A charge without an interval is one of a moment.
  if (bucket === undefined && mapping.identified === true) {
    return { name: 'end_us', sql: 'at_us + 1', wrong: null, expected: '', observed: 'NULL' }
  }
  if (bucket === undefined) return sameField('end_us', 'NULL::BIGINT')
  const unit = bucket.at(-1) as 'm' | 'h' | 'd'
  const count = Number.parseInt(bucket, 10)
  const sql =
    unit === 'd' && timezone !== 'UTC'
      ? laterDaySql(count, timezone)
      : `at_us + ${count * widthUs[unit]}`
  return { name: 'end_us', sql, wrong: null, expected: '', observed: 'NULL' }
}

/** Days later on the local clock: a day of a clock change has 23 or 25 hours. */
function laterDaySql(days: number, timezone: string): string {
  const zone = literal(timezone)
  const wall = `coalesce(make_timestamp(wall_us), timezone(${zone}, timezone('UTC', make_timestamp(at_us))))`
  return `epoch_us(timezone(${zone}, ${wall} + INTERVAL ${days} DAY))`
}

/**
 * Unix microseconds of a time in any of the usual forms; null for anything else.
 *
 * @param own the session's zone
 */
function timeSql(
  { column, unit, timezone }: FullTimePlace,
  own: string,
  read: ColumnReader,
  dateOrder: DateOrder | null,
): string {
  const text = read.text(column)
  const raw = read.raw(column)
  const scaled = (factor: number) => `(round(TRY_CAST(${raw} AS DOUBLE) * ${factor})::BIGINT)`
  const whole = `TRY_CAST(${raw} AS HUGEINT)`
  // A time without an offset is in the session's zone.
  const cast = castSql(text, 'TIMESTAMPTZ')
  const exact =
    timezone === own
      ? cast
      : `CASE WHEN ${hasZone(text)} THEN ${cast} ELSE timezone(${literal(timezone)}, ${castSql(text, 'TIMESTAMP')}) END`
  const dated = `timezone(${literal(timezone)}, ${localTimeSql(text, dateOrder)})`
  const iso = `epoch_us(${dateOrder === null ? exact : `coalesce(${exact}, ${dated})`})`
  const magnitude = `abs(TRY_CAST(${raw} AS DOUBLE))`
  const byUnit = {
    iso,
    s: `TRY(${scaled(1e6)})`,
    ms: `TRY(${scaled(1e3)})`,
    us: `TRY_CAST(${raw} AS BIGINT)`,
    ns: `TRY((${whole} // 1000)::BIGINT)`,
    // A spreadsheet that writes 1.79E+12 has lost the hour.
    auto: `CASE WHEN ${magnitude} IS NULL THEN ${iso} WHEN contains(${text}, 'E+') THEN NULL
                WHEN ${magnitude} < 1e11 THEN TRY(${scaled(1e6)})
                WHEN ${magnitude} < 1e14 THEN TRY(${scaled(1e3)})
                WHEN ${magnitude} < 1e17 THEN TRY(${whole}::BIGINT)
                ELSE TRY((${whole} // 1000)::BIGINT) END`,
  }
  const kind = read.kind(column)
  if (kind === 'timestamp') return `epoch_us(timezone(${literal(timezone)}, ${raw}::TIMESTAMP))`
  return kind === 'timestamptz' ? `epoch_us(${raw})` : byUnit[unit]
}
