import { literal } from '../literal.ts'
import { isGivenSql } from './field-sql.ts'
import type { DurationPlace, Mapping, TimePlace } from './mapping.ts'
import { type ColumnReader, exactColumn } from './places.ts'
import { absentField, type StagedField, uncheckedField } from './staged-field.ts'
import type { TimeSql } from './time-sql.ts'

/** Anything longer than a month is a wrong unit. */
const longestUs = 31 * 86_400e6

const unitUs = { s: 1e6, ms: 1e3, us: 1, ns: 1e-3 } as const

/** A duration that cannot be read is not known; the rest of the line is. */
export function durationField(
  name: string,
  place: DurationPlace | undefined,
  times: TimeSql,
  reader: ColumnReader,
): StagedField {
  if (place === undefined) return absentField(name, 'BIGINT')
  const us =
    'from' in place
      ? `(${times.us({ column: place.to, unit: 'auto' })} - ${times.us({ column: place.from, unit: 'auto' })})`
      : statedUs(place, reader)
  return uncheckedField(name, `CASE WHEN ${us} BETWEEN 0 AND ${longestUs} THEN ${us} END`)
}

function statedUs(
  { column, unit }: Extract<DurationPlace, { column: unknown }>,
  reader: ColumnReader,
): string {
  const exact = exactColumn({ column }, reader)
  if (exact !== null && unit === 'us') return `TRY_CAST(${exact.sql} AS BIGINT)`
  const number = exact?.sql ?? `nullif(${reader.text(column)}, '')`
  return `TRY_CAST(round(TRY_CAST(${number} AS DOUBLE) * ${unitUs[unit]}) AS BIGINT)`
}

/** 2000 to 2100. Anything outside is a wrong unit. */
const earliestUs = 946_684_800_000_000

export const latestUs = 4_102_444_800_000_000

export function timeField(name: string, place: TimePlace, times: TimeSql): StagedField {
  return {
    name,
    sql: times.us(place),
    wrong: `coalesce(${name} NOT BETWEEN ${earliestUs} AND ${latestUs}, true)`,
    expected: `a time between 2000 and 2100 (${times.forms(place)})`,
    observed: times.text(place),
  }
}

/** The columns of the times of a line. */
export function timeFields(mapping: Mapping, times: TimeSql): readonly StagedField[] {
  const { time, version } = mapping.fields
  const wallUs = times.wallUs(time)
  return [
    timeField('at_us', time, times),
    wallUs === null ? absentField('wall_us', 'BIGINT') : uncheckedField('wall_us', wallUs),
    endField(mapping, times),
    version === undefined ? absentField('version_us', 'BIGINT') : versionField(version, times),
  ]
}

/** A version may be a count, which is read as a time near 1970; only the order of versions matters. */
function versionField(place: TimePlace, times: TimeSql): StagedField {
  const observed = `nullif(${times.text(place)}, '')`
  return {
    name: 'version_us',
    sql: times.us(place),
    wrong: `CASE WHEN version_us IS NULL THEN ${isGivenSql(observed)} ELSE false END`,
    expected: 'a time, a number, or nothing',
    observed,
  }
}

const widthUs = { m: 60e6, h: 3600e6, d: 86_400e6 } as const

/** The end of the interval of a line that is a sum; null for an event. Days are those of the zone's calendar. */
function endField({ bucket, fields, identified }: Mapping, times: TimeSql): StagedField {
  if (fields.end !== undefined) {
    const end = timeField('end_us', fields.end, times)
    return {
      ...end,
      wrong: `${end.wrong} OR end_us <= at_us`,
      expected: `a time after that of the line (${times.forms(fields.end)})`,
    }
  }
  // A charge without an interval is one of a moment.
  if (bucket === undefined && identified === true) return uncheckedField('end_us', 'at_us + 1')
  if (bucket === undefined) return absentField('end_us', 'BIGINT')
  const unit = bucket.at(-1) as 'm' | 'h' | 'd'
  const count = Number.parseInt(bucket, 10)
  const isLocal = unit === 'd' && times.timezone !== 'UTC'
  return uncheckedField(
    'end_us',
    isLocal ? laterDaySql(count, times.timezone) : `at_us + ${count * widthUs[unit]}`,
  )
}

/** Days later on the local clock: a day of a clock change has 23 or 25 hours. */
function laterDaySql(days: number, timezone: string): string {
  const zone = literal(timezone)
  const wall = `coalesce(make_timestamp(wall_us), timezone(${zone}, timezone('UTC', make_timestamp(at_us))))`
  return `epoch_us(timezone(${zone}, ${wall} + INTERVAL ${days} DAY))`
}
