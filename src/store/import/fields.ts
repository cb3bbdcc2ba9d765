import { outcomes } from '../../attempt/outcome.ts'
import { literal } from './literal.ts'
import type { FieldName, Mapping, Place } from './mapping.ts'

/** A column of the staged table: its SQL, and what is wrong with a value that gives null. */
export interface StagedField {
  readonly name: string
  readonly sql: string
  /** Null where any value will do; else SQL that is true of a value that cannot be taken. */
  readonly wrong: string | null
  readonly expected: string
  /** What came, as SQL. */
  readonly came: string
}

/** How the format reads a column: `text` is VARCHAR, `kind` the type where the file has types. */
export interface ColumnReader {
  text(column: string | readonly string[]): string
  kind(column: string | readonly string[]): 'text' | 'timestamp' | 'timestamptz' | 'number'
  raw(column: string | readonly string[]): string
}

const longestText = 200

/** The fields of an event as SQL over one line of the file. */
export function stagedFields(mapping: Mapping, read: ColumnReader): readonly StagedField[] {
  const { fields } = mapping
  const text = (field: FieldName) => {
    const at = fields[field]
    return at === undefined ? 'NULL' : placeSql(at as Place, read)
  }
  const optional = (sql: string) => `nullif(${sql}, '')`
  const plain = (name: string, field: FieldName): StagedField => ({
    name,
    sql: `left(${optional(text(field))}, ${longestText})`,
    wrong: null,
    expected: '',
    came: 'NULL',
  })
  const number = (
    name: string,
    field: FieldName,
    type: string,
    expected: string,
    beyond: string,
  ): StagedField => {
    const came = optional(text(field))
    const value = `TRY_CAST(${came} AS ${type})`
    return {
      name,
      sql: value,
      wrong: `${came} IS NOT NULL AND (${name} IS NULL OR ${name} ${beyond})`,
      expected,
      came,
    }
  }
  const id = Array.isArray(fields.id)
    ? fields.id.map((column) => `coalesce(${read.text(column)}, '')`).join(` || '/' || `)
    : text('id')
  const status = `TRY_CAST(${optional(text('status'))} AS INTEGER)`
  const outcome = optional(text('outcome'))
  return [
    {
      name: 'id',
      sql: id,
      wrong: `coalesce(id, '') = ''`,
      expected: 'an id',
      came: id,
    },
    timeField(fields.time, read),
    plain('model', 'model'),
    {
      ...plain('endpoint', 'endpoint'),
      sql: endpointSql(`left(${optional(text('endpoint'))}, ${longestText})`),
    },
    {
      ...plain('key_fp', 'keyFp'),
      sql:
        fields.key === undefined
          ? `left(${optional(text('keyFp'))}, 64)`
          : `left(sha256(${optional(text('key'))}), 12)`,
    },
    plain('account', 'account'),
    {
      name: 'outcome',
      sql: `coalesce(lower(${outcome}), CASE WHEN ${status} >= 400 THEN 'http_error' ELSE 'ok' END)`,
      wrong: `${outcome} IS NOT NULL AND lower(${outcome}) NOT IN (${outcomes.map(literal).join()})`,
      expected: `one of ${outcomes.join(', ')} (map other words by values:)`,
      came: outcome,
    },
    number('status', 'status', 'INTEGER', 'an HTTP status', 'NOT BETWEEN 100 AND 599'),
    plain('error_code', 'errorCode'),
    number('credits', 'credits', 'DECIMAL(18, 6)', 'a number, 0 or more', '< 0'),
    number('prompt_tokens', 'promptTokens', 'BIGINT', 'a whole number, 0 or more', '< 0'),
    number('completion_tokens', 'completionTokens', 'BIGINT', 'a whole number, 0 or more', '< 0'),
  ]
}

/** Columns of the log that the mapping reads. */
export function mappedColumns(mapping: Mapping): readonly (string | readonly string[])[] {
  return Object.values(mapping.fields).flatMap((at) => {
    if (at === undefined) return []
    if (typeof at === 'string') return [at]
    if (Array.isArray(at)) return at
    return 'column' in at ? [at.column] : []
  })
}

function placeSql(at: Place, read: ColumnReader): string {
  if (typeof at === 'string') return read.text(at)
  if ('value' in at) return literal(at.value)
  const came = read.text(at.column)
  if (at.values === undefined) return came
  const cases = Object.entries(at.values).map(
    ([theirs, ours]) => `WHEN ${literal(theirs)} THEN ${literal(ours)}`,
  )
  return cases.length === 0 ? came : `(CASE ${came} ${cases.join(' ')} ELSE ${came} END)`
}

/** Paths of the two generation endpoints are told by our words for them. */
function endpointSql(text: string): string {
  return `CASE WHEN ends_with(${text}, '/chat/completions') THEN 'chat'
               WHEN ends_with(${text}, '/messages') THEN 'messages' ELSE ${text} END`
}

/** From 2000 to 2100: beyond it a unit was mistaken. */
const earliestUs = 946_684_800_000_000
const latestUs = 4_102_444_800_000_000

function timeField(at: Mapping['fields']['time'], read: ColumnReader): StagedField {
  const { column, unit, timezone } =
    typeof at === 'string' ? { column: at, unit: 'auto' as const, timezone: 'UTC' } : at
  const text = read.text(column)
  const raw = read.raw(column)
  const scaled = (factor: number) => `(round(TRY_CAST(${raw} AS DOUBLE) * ${factor})::BIGINT)`
  const whole = `TRY_CAST(${raw} AS HUGEINT)`
  // A time without an offset is of the session's zone, which the import sets to the mapping's.
  const iso = `epoch_us(TRY_CAST(${text} AS TIMESTAMPTZ))`
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
  const sql =
    kind === 'timestamp'
      ? `epoch_us(timezone(${literal(timezone)}, ${raw}::TIMESTAMP))`
      : kind === 'timestamptz'
        ? `epoch_us(${raw})`
        : byUnit[unit]
  return {
    name: 'at_us',
    sql,
    wrong: `coalesce(at_us NOT BETWEEN ${earliestUs} AND ${latestUs}, true)`,
    expected: `a time between 2000 and 2100 (${unit === 'auto' ? 'ISO 8601, or Unix s, ms, us or ns' : unit})`,
    came: text,
  }
}
