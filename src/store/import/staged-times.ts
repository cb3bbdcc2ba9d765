import { literal } from '../literal.ts'
import type { DurationPlace, Mapping, TimePlace, TimeUnit } from './mapping.ts'
import { type ColumnReader, exactColumn } from './places.ts'
import { type DateOrder, datedSql, type Readings } from './readings.ts'
import { type StagedField, sameField } from './staged-field.ts'

/** Anything longer than a month is a wrong unit. */
const longestUs = 31 * 86_400e6

const unitUs = { s: 1e6, ms: 1e3, us: 1, ns: 1e-3 } as const

export function durationField(
  name: string,
  at: DurationPlace | undefined,
  read: ColumnReader,
): StagedField {
  if (at === undefined) return sameField(name, 'NULL::BIGINT')
  // A duration that is not one is not known; the rest of the line is.
  const within = (sql: string) => `CASE WHEN ${sql} BETWEEN 0 AND ${longestUs} THEN ${sql} END`
  const unchecked = { name, wrong: null, expected: '', came: 'NULL' }
  if ('from' in at) {
    const [from, to] = [at.from, at.to].map((column) =>
      timeSql({ column, unit: 'auto', timezone: 'UTC' }, read, null),
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

const latestUs = 4_102_444_800_000_000

interface FullTimePlace {
  readonly column: string | readonly string[]
  readonly unit: TimeUnit
  readonly timezone: string
}

const fullPlace = (at: TimePlace): FullTimePlace =>
  typeof at === 'string' ? { column: at, unit: 'auto', timezone: 'UTC' } : at

/** The zone of times without an offset. */
export const timezoneOf = ({ fields }: Mapping): string => fullPlace(fields.time).timezone

export function timeField(
  name: string,
  at: TimePlace,
  read: ColumnReader,
  { dateOrder }: Readings,
): StagedField {
  const place = fullPlace(at)
  return {
    name,
    sql: timeSql(place, read, dateOrder),
    wrong: `coalesce(${name} NOT BETWEEN ${earliestUs} AND ${latestUs}, true)`,
    expected: `a time between 2000 and 2100 (${place.unit === 'auto' ? 'ISO 8601, or Unix s, ms, us or ns' : place.unit})`,
    came: read.text(place.column),
  }
}

/** The local clock of a time without an offset, as if it were UTC; null for other times, and in UTC. */
export function wallField(at: TimePlace, read: ColumnReader, { dateOrder }: Readings): StagedField {
  const { column, unit, timezone } = fullPlace(at)
  const text = read.text(column)
  const isText = read.kind(column) === 'text' || read.kind(column) === 'other'
  const isLocal = timezone !== 'UTC' && (unit === 'auto' || unit === 'iso') && isText
  const sql = `CASE WHEN NOT regexp_matches(${text}, '\\d:\\d\\d.*([Zz]|[+-]\\d\\d(:?\\d\\d)?)\\s*$')
    THEN epoch_us(coalesce(TRY_CAST(${text} AS TIMESTAMP), ${datedSql(text, dateOrder)})) END`
  return isLocal
    ? { name: 'wall_us', sql, wrong: null, expected: '', came: 'NULL' }
    : sameField('wall_us', 'NULL::BIGINT')
}

const widthUs = { m: 60e6, h: 3600e6, d: 86_400e6 } as const

/** The end of the interval of a line that is a sum; null for an event. */
export function endField(mapping: Mapping, read: ColumnReader, readings: Readings): StagedField {
  const { bucket, fields } = mapping
  if (fields.end !== undefined) {
    const end = timeField('end_us', fields.end, read, readings)
    return {
      ...end,
      wrong: `${end.wrong} OR end_us <= at_us`,
      expected: 'an end after the start',
    }
  }
  if (bucket === undefined) return sameField('end_us', 'NULL::BIGINT')
  const width = Number.parseInt(bucket, 10) * widthUs[bucket.at(-1) as 'm' | 'h' | 'd']
  return { name: 'end_us', sql: `at_us + ${width}`, wrong: null, expected: '', came: 'NULL' }
}

/** Unix microseconds of a time in any of the usual forms; null for anything else. */
function timeSql(
  { column, unit, timezone }: FullTimePlace,
  read: ColumnReader,
  dateOrder: DateOrder | null,
): string {
  const text = read.text(column)
  const raw = read.raw(column)
  const scaled = (factor: number) => `(round(TRY_CAST(${raw} AS DOUBLE) * ${factor})::BIGINT)`
  const whole = `TRY_CAST(${raw} AS HUGEINT)`
  // A time without an offset is in the session's zone, which the import sets to the mapping's.
  const exact = `TRY_CAST(${text} AS TIMESTAMPTZ)`
  const dated = `timezone(${literal(timezone)}, ${datedSql(text, dateOrder)})`
  const iso = `epoch_us(${dateOrder === null ? exact : `coalesce(${exact}, ${dated})`})`
  const magnitude = `abs(TRY_CAST(${raw} AS DOUBLE))`
  const byUnit = {
    iso,
    s: `TRY(${scaled(1e6)})`,
    ms: `TRY(${scaled(1e3)})`,
    us: `TRY_CAST(${raw} AS BIGINT)`,
    ns: `TRY((${whole} // 1000)::BIGINT)`,
    auto: `CASE WHEN ${magnitude} IS NULL THEN ${iso}
                WHEN ${magnitude} < 1e11 THEN TRY(${scaled(1e6)})
                WHEN ${magnitude} < 1e14 THEN TRY(${scaled(1e3)})
                WHEN ${magnitude} < 1e17 THEN TRY(${whole}::BIGINT)
                ELSE TRY((${whole} // 1000)::BIGINT) END`,
  }
  const kind = read.kind(column)
  if (kind === 'timestamp') return `epoch_us(timezone(${literal(timezone)}, ${raw}::TIMESTAMP))`
  return kind === 'timestamptz' ? `epoch_us(${raw})` : byUnit[unit]
}
