import { literal } from '../literal.ts'
import { type CellFormats, localTimeSql } from './cell-formats.ts'
import type { Mapping, TimePlace, TimeUnit } from './mapping.ts'
import type { Column, ColumnReader } from './places.ts'

/** A place of times with all that its reading needs. */
interface FullPlace {
  readonly column: Column
  readonly unit: TimeUnit
  readonly timezone: string
}

const fullPlace = (place: TimePlace, timezone = 'UTC'): FullPlace =>
  typeof place === 'string'
    ? { column: place, unit: 'auto', timezone }
    : { ...place, timezone: place.timezone ?? timezone }

/** The zone of times without an offset. The import makes it the session's. */
export const timezoneOf = ({ fields }: Mapping): string => fullPlace(fields.time).timezone

/** Up to these magnitudes, a Unix time is in seconds, milliseconds, or microseconds; above, in nanoseconds. */
const below = { s: 1e11, ms: 1e14, us: 1e17 } as const

/** Writes the SQL of times in any of the usual forms. */
export class TimeSql {
  /** The session's zone: that of a place which names none. */
  readonly timezone: string
  readonly #reader: ColumnReader
  readonly #dateOrder: CellFormats['dateOrder']

  constructor(mapping: Mapping, reader: ColumnReader, { dateOrder }: CellFormats) {
    this.timezone = timezoneOf(mapping)
    this.#reader = reader
    this.#dateOrder = dateOrder
  }

  /** The cell as it is written. */
  text(place: TimePlace): string {
    return this.#reader.text(fullPlace(place).column)
  }

  /** What a cell should have, in words. */
  forms(place: TimePlace): string {
    const { unit } = fullPlace(place)
    return unit === 'auto' ? 'ISO 8601, or Unix s, ms, us or ns' : unit
  }

  /** Unix microseconds; null for anything that is no time. */
  us(place: TimePlace): string {
    const full = fullPlace(place, this.timezone)
    const raw = this.#reader.raw(full.column)
    switch (this.#reader.kind(full.column)) {
      case 'timestamp':
        return `epoch_us(timezone(${literal(full.timezone)}, ${raw}::TIMESTAMP))`
      case 'timestamptz':
        return `epoch_us(${raw})`
      default:
        return full.unit === 'iso'
          ? this.#calendarUs(full)
          : full.unit === 'auto'
            ? this.#anyUs(full)
            : unixUs(raw)[full.unit]
    }
  }

  /** The local clock of a time without an offset, as if it were UTC; null for other times. Null in UTC. */
  wallUs(place: TimePlace): string | null {
    const { column, unit, timezone } = fullPlace(place)
    if (timezone === 'UTC') return null
    const kind = this.#reader.kind(column)
    if (kind === 'timestamp') return `epoch_us(${this.#reader.raw(column)}::TIMESTAMP)`
    if (kind === 'timestamptz' || kind === 'whole' || kind === 'decimal') return null
    if (unit !== 'auto' && unit !== 'iso') return null
    const text = this.#reader.text(column)
    const local = `coalesce(${isoSql(text, 'TIMESTAMP')}, ${localTimeSql(text, this.#dateOrder)})`
    return `CASE WHEN NOT ${hasZone(text)} THEN epoch_us(${local}) END`
  }

  #calendarUs({ column, timezone }: FullPlace): string {
    const text = this.#reader.text(column)
    const zone = literal(timezone)
    // DuckDB reads a time without an offset in the session's zone.
    const inSession = isoSql(text, 'TIMESTAMPTZ')
    const iso =
      timezone === this.timezone
        ? inSession
        : `CASE WHEN ${hasZone(text)} THEN ${inSession} ELSE timezone(${zone}, ${isoSql(text, 'TIMESTAMP')}) END`
    if (this.#dateOrder === null) return `epoch_us(${iso})`
    return `epoch_us(coalesce(${iso}, timezone(${zone}, ${localTimeSql(text, this.#dateOrder)})))`
  }

  #anyUs(place: FullPlace): string {
    const raw = this.#reader.raw(place.column)
    const magnitude = `abs(TRY_CAST(${raw} AS DOUBLE))`
    const unix = unixUs(raw)
    // A spreadsheet that writes 1.79E+12 has lost the hour.
    return `CASE WHEN ${magnitude} IS NULL THEN ${this.#calendarUs(place)}
                 WHEN contains(${this.#reader.text(place.column)}, 'E+') THEN NULL
                 WHEN ${magnitude} < ${below.s} THEN ${unix.s}
                 WHEN ${magnitude} < ${below.ms} THEN ${unix.ms}
                 WHEN ${magnitude} < ${below.us} THEN TRY(TRY_CAST(${raw} AS HUGEINT)::BIGINT)
                 ELSE ${unix.ns} END`
  }
}

/** Unix microseconds of a number in each unit. */
const unixUs = (raw: string) => ({
  s: `TRY((round(TRY_CAST(${raw} AS DOUBLE) * 1e6)::BIGINT))`,
  ms: `TRY((round(TRY_CAST(${raw} AS DOUBLE) * 1e3)::BIGINT))`,
  us: `TRY_CAST(${raw} AS BIGINT)`,
  ns: `TRY((TRY_CAST(${raw} AS HUGEINT) // 1000)::BIGINT)`,
})

/**
 * SQL for a time of ISO 8601: as DuckDB reads it, or with what it does not read made plain: no seconds before an offset,
 * a space before one, and a comma before parts of a second.
 */
function isoSql(text: string, type: 'TIMESTAMP' | 'TIMESTAMPTZ'): string {
  const steps = [
    { from: '^(.{10}[T ]\\d\\d:\\d\\d)(\\s*([Zz]|UTC|[+-]\\d.*)?)$', to: '\\1:00\\2' },
    { from: '(:\\d\\d),(\\d)', to: '\\1.\\2' },
    { from: '\\s+([+-]\\d\\d:?\\d\\d)$', to: '\\1' },
  ]
  const plain = steps.reduce(
    (sql, { from, to }) => `regexp_replace(${sql}, ${literal(from)}, ${literal(to)})`,
    `trim(${text})`,
  )
  return `coalesce(TRY_CAST(${text} AS ${type}), TRY_CAST(${plain} AS ${type}))`
}

/** SQL: whether a text says in which zone its time is: `10:00Z`, `10:00+01:00`, `10:00 UTC`. */
const hasZone = (text: string) =>
  `regexp_matches(${text}, '\\d:\\d\\d.*([Zz]|[+-]\\d\\d(:?\\d\\d)?|UTC|GMT)\\s*$')`
