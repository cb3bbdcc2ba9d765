import { outcomes } from '../../attempt/outcome.ts'
import { literal } from './literal.ts'
import {
  type DurationPlace,
  entryTypes,
  type FieldName,
  type Mapping,
  type Place,
  type TimePlace,
} from './mapping.ts'
import { type DateOrder, datedSql, numberSql } from './readings.ts'

/** A column of the staged table: its SQL, and the check of its values. */
export interface StagedField {
  readonly name: string
  readonly sql: string
  /** SQL that is true for an unacceptable value; null if every value is acceptable. */
  readonly wrong: string | null
  readonly expected: string
  /** SQL for the original value. */
  readonly came: string
}

/**
 * How a format reads a column: `text` as VARCHAR, `raw` as the file has it, `kind` its type if the file has types. A
 * column of whole numbers or decimals is `exact`: a cast of its own type loses nothing.
 */
export interface ColumnReader {
  text(column: string | readonly string[]): string
  kind(column: string | readonly string[]): 'text' | 'timestamp' | 'timestamptz' | 'exact' | 'other'
  raw(column: string | readonly string[]): string
}

/** DuckDB types: one holds the credits of most logs in 64 bits, the other those of any log. */
export const creditsTypes = { most: 'DECIMAL(18,6)', any: 'DECIMAL(38,18)' } as const

/** Staged credits are in one of two columns. */
export const stagedCredits = 'coalesce(credits_wide, credits)'

const longestText = 200
/** Pages and JSON name the unit of each amount. */
const longestUnit = 40

/** Words for a value that is not known. An empty cell is another. */
const unknownWords = `('null', 'n/a', '-')`

/** How a log writes numbers and times, where its mapping leaves that open. */
export interface Readings {
  /** The decimal mark; null for plain numbers, `1234.5`. */
  readonly decimal: '.' | ',' | null
  readonly dateOrder: DateOrder | null
}

/** The fields of a line, as SQL over one line of the file. */
export function stagedFields(
  mapping: Mapping,
  read: ColumnReader,
  readings: Readings,
): readonly StagedField[] {
  const { fields } = mapping
  const text = (field: FieldName) => {
    const at = fields[field]
    return at === undefined ? 'NULL' : placeSql(at as Place, read)
  }
  const optional = (sql: string) => (sql === 'NULL' ? sql : `nullif(${sql}, '')`)
  /** A number as plain text, or the column itself if its numbers are exact. */
  const numeric = (field: FieldName) => {
    const exact = exactColumn(fields[field] as Place | undefined, read)
    if (exact !== null || fields[field] === undefined) return exact ?? 'NULL'
    const came = optional(text(field))
    return readings.decimal === null ? came : numberSql(came, readings.decimal)
  }
  const isGiven = (field: FieldName) =>
    `(${optional(text(field))} IS NOT NULL AND lower(${optional(text(field))}) NOT IN ${unknownWords})`
  const plain = (name: string, field: FieldName): StagedField => ({
    name,
    sql:
      fields[field] === undefined
        ? 'NULL::VARCHAR'
        : `left(${optional(text(field))}, ${longestText})`,
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
    const came = numeric(field)
    if (came === 'NULL') return { ...plain(name, field), sql: `NULL::${type}` }
    const isExact = exactColumn(fields[field] as Place | undefined, read) !== null
    // A cast rounds.
    const part = isExact
      ? 'false'
      : `contains(${came}, '.') AND TRY_CAST(${came} AS DECIMAL(38, 18)) <> ${name}`
    return {
      name,
      sql: `TRY_CAST(${came} AS ${type})`,
      wrong: `CASE WHEN ${name} IS NULL THEN ${isGiven(field)} ELSE ${name} ${beyond} OR ${part} END`,
      expected,
      came: optional(text(field)),
    }
  }
  const tokens = (name: string, field: FieldName) =>
    number(name, field, 'BIGINT', 'a whole number, 0 or more', '< 0')
  const status = number('status', 'status', 'INTEGER', 'an HTTP status', 'NOT BETWEEN 100 AND 599')
  const isBuckets = fields.end !== undefined || mapping.bucket !== undefined
  const requests = isBuckets
    ? tokens('requests', 'requests')
    : number('requests', 'requests', 'BIGINT', 'a whole number, 1 or more', '< 1')
  const credits = numeric('credits')
  const outcome = optional(text('outcome'))
  const type = `lower(${optional(text('type'))})`
  return [
    idField(mapping, read),
    timeField('at_us', fields.time, read, readings),
    wallField(fields.time, read, readings),
    endField(mapping, read, readings),
    fields.version === undefined
      ? { ...plain('version_us', 'version'), sql: 'NULL::BIGINT' }
      : { ...timeField('version_us', fields.version, read, readings), wrong: null },
    {
      name: 'type',
      // An amount without a type and below 0 gets its type once all ids are known.
      sql: fields.type === undefined ? 'NULL::VARCHAR' : type,
      wrong:
        fields.type === undefined
          ? null
          : `coalesce(${type} NOT IN (${entryTypes.map(literal).join()}), true)`,
      expected: `one of ${entryTypes.join(', ')} (map other words by values:)`,
      came: optional(text('type')),
    },
    plain('refers_to', 'refersTo'),
    plain('model', 'model'),
    {
      ...plain('endpoint', 'endpoint'),
      sql:
        fields.endpoint === undefined
          ? 'NULL::VARCHAR'
          : endpointSql(`left(${optional(text('endpoint'))}, ${longestText})`),
    },
    {
      ...plain('key_fp', 'keyFp'),
      sql:
        fields.key === undefined
          ? fields.keyFp === undefined
            ? 'NULL::VARCHAR'
            : `left(${optional(text('keyFp'))}, 64)`
          : fingerprintSql(optional(text('key'))),
    },
    plain('account', 'account'),
    {
      name: 'outcome',
      sql: `coalesce(lower(${outcome}), CASE WHEN ${status.sql} >= 400 THEN 'http_error' ELSE 'ok' END)`,
      wrong:
        fields.outcome === undefined
          ? null
          : `${outcome} IS NOT NULL AND lower(${outcome}) NOT IN (${outcomes.map(literal).join()})`,
      expected: `one of ${outcomes.join(', ')} (map other words by values:)`,
      came: outcome,
    },
    status,
    plain('error_code', 'errorCode'),
    {
      name: 'credits',
      sql:
        credits === 'NULL'
          ? `NULL::${creditsTypes.most}`
          : narrowCreditsSql(credits, exactColumn(fields.credits, read) !== null),
      wrong:
        credits === 'NULL'
          ? null
          : `credits IS NULL AND credits_wide IS NULL AND ${isGiven('credits')}`,
      expected: 'a number',
      came: optional(text('credits')),
    },
    {
      ...plain('credits_wide', 'credits'),
      sql:
        credits === 'NULL'
          ? `NULL::${creditsTypes.any}`
          : `CASE WHEN credits IS NULL THEN TRY_CAST(${credits} AS ${creditsTypes.any}) END`,
    },
    {
      ...plain('unit', 'unit'),
      sql: `coalesce(left(${optional(text('unit'))}, ${longestUnit}), 'credits')`,
    },
    tokens('prompt_tokens', 'promptTokens'),
    tokens('cached_tokens', 'cachedTokens'),
    tokens('cache_write_tokens', 'cacheWriteTokens'),
    tokens('cache_write_1h_tokens', 'cacheWrite1hTokens'),
    tokens('completion_tokens', 'completionTokens'),
    tokens('reasoning_tokens', 'reasoningTokens'),
    isBuckets ? requests : { ...requests, sql: `coalesce(${requests.sql}, 1)` },
    durationField('ttft_us', fields.ttft, read),
    durationField('latency_us', fields.latency, read),
  ]
}

function idField({ fields }: Mapping, read: ColumnReader): StagedField {
  const { id } = fields
  if (id === undefined) {
    return { name: 'id', sql: 'NULL::VARCHAR', wrong: null, expected: '', came: 'NULL' }
  }
  const sql = Array.isArray(id)
    ? id.map((column) => `coalesce(${read.text(column)}, '')`).join(` || '/' || `)
    : placeSql(id, read)
  return { name: 'id', sql, wrong: `coalesce(id, '') = ''`, expected: 'an id', came: sql }
}

/**
 * Credits if 64 bits provably hold them, else null. Reading text as 128 bits is slow. The quick proof for text:
 * different numbers of at most 15 characters are different doubles.
 */
function narrowCreditsSql(came: string, isExact: boolean): string {
  const most = `TRY_CAST(${came} AS ${creditsTypes.most})`
  const proven = `${most}::${creditsTypes.any} = TRY_CAST(${came} AS ${creditsTypes.any})`
  const whole = isExact
    ? proven
    : `CASE WHEN length(${came}) <= 15 THEN ${most}::DOUBLE = TRY_CAST(${came} AS DOUBLE) ELSE ${proven} END`
  return `CASE WHEN ${whole} THEN ${most} END`
}

/** Columns of the log that the mapping reads. */
export function mappedColumns(mapping: Mapping): readonly (string | readonly string[])[] {
  const places = Object.values(mapping.fields).flatMap(columnsOf)
  return [
    ...places,
    ...(mapping.dimensions ?? []).map((name) => [name]),
    ...(mapping.problem === undefined ? [] : [mapping.problem]),
  ]
}

/** The columns that a place reads. */
export function columnsOf(at: Mapping['fields'][FieldName]): (string | readonly string[])[] {
  if (at === undefined) return []
  if (typeof at === 'string') return [at]
  if (Array.isArray(at)) return at
  if ('from' in at) return [at.from, at.to]
  return 'column' in at ? [at.column] : []
}

/** The raw column of an unmapped place, if its numbers are exact in the file. */
export function exactColumn(at: Place | undefined, read: ColumnReader): string | null {
  if (at === undefined) return null
  const column =
    typeof at === 'string' ? at : 'column' in at && !at.values && !at.json ? at.column : null
  return column !== null && read.kind(column) === 'exact' ? read.raw(column) : null
}

/** SQL for the text at a place. */
export function placeSql(at: Place, read: ColumnReader): string {
  if (typeof at === 'string') return read.text(at)
  if ('value' in at) return literal(at.value)
  const column = read.text(at.column)
  const came =
    at.json === undefined
      ? column
      : `TRY(json_extract_string(${column}, ${literal(pointerOf(at.json))}))`
  if (at.values === undefined) return came
  const cases = Object.entries(at.values).map(
    ([theirs, ours]) => `WHEN ${literal(theirs)} THEN ${literal(ours)}`,
  )
  return cases.length === 0 ? came : `(CASE ${came} ${cases.join(' ')} ELSE ${came} END)`
}

/** `usage.prompt_tokens` as a JSON pointer. In a list each element is one step, even with dots. */
export function pointerOf(column: string | readonly string[]): string {
  const steps = typeof column === 'string' ? column.split('.') : column
  return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Maps the paths of the two generation endpoints to their names here. */
function endpointSql(text: string): string {
  return `CASE WHEN ends_with(${text}, '/chat/completions') THEN 'chat'
               WHEN ends_with(${text}, '/messages') THEN 'messages' ELSE ${text} END`
}

/** The fingerprint of a key, or of the SHA-256 of a key, which gateways log. Both give the same. */
function fingerprintSql(key: string): string {
  return `left(CASE WHEN regexp_full_match(${key}, '[0-9a-f]{64}') THEN ${key} ELSE sha256(${key}) END, 12)`
}

/** Anything longer than a month is a wrong unit. */
const longestUs = 31 * 86_400e6
const unitUs = { s: 1e6, ms: 1e3, us: 1, ns: 1e-3 } as const

function durationField(
  name: string,
  at: DurationPlace | undefined,
  read: ColumnReader,
): StagedField {
  if (at === undefined)
    return { name, sql: 'NULL::BIGINT', wrong: null, expected: '', came: 'NULL' }
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
      : `TRY(round(TRY_CAST(${exact ?? text} AS DOUBLE) * ${unitUs[at.unit]})::BIGINT)`
  return { ...unchecked, sql: within(sql) }
}

/** 2000 to 2100. Anything outside is a wrong unit. */
const earliestUs = 946_684_800_000_000
const latestUs = 4_102_444_800_000_000

interface FullTimePlace {
  readonly column: string | readonly string[]
  readonly unit: 'auto' | 'iso' | 's' | 'ms' | 'us' | 'ns'
  readonly timezone: string
}

const fullPlace = (at: TimePlace): FullTimePlace =>
  typeof at === 'string' ? { column: at, unit: 'auto', timezone: 'UTC' } : at

/** The zone of times without an offset. */
export const timezoneOf = ({ fields }: Mapping): string => fullPlace(fields.time).timezone

function timeField(
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
function wallField(at: TimePlace, read: ColumnReader, { dateOrder }: Readings): StagedField {
  const { column, unit, timezone } = fullPlace(at)
  const text = read.text(column)
  const isText = read.kind(column) === 'text' || read.kind(column) === 'other'
  const isLocal = timezone !== 'UTC' && (unit === 'auto' || unit === 'iso') && isText
  const sql = `CASE WHEN NOT regexp_matches(${text}, '\\d:\\d\\d.*([Zz]|[+-]\\d\\d(:?\\d\\d)?)\\s*$')
    THEN epoch_us(coalesce(TRY_CAST(${text} AS TIMESTAMP), ${datedSql(text, dateOrder)})) END`
  return {
    name: 'wall_us',
    sql: isLocal ? sql : 'NULL::BIGINT',
    wrong: null,
    expected: '',
    came: 'NULL',
  }
}

const widthUs = { m: 60e6, h: 3600e6, d: 86_400e6 } as const

/** The end of the interval of a line that is a sum; null for an event. */
function endField(mapping: Mapping, read: ColumnReader, readings: Readings): StagedField {
  const { bucket, fields } = mapping
  if (fields.end !== undefined) {
    const end = timeField('end_us', fields.end, read, readings)
    return {
      ...end,
      wrong: `${end.wrong} OR end_us <= at_us`,
      expected: 'an end after the start',
    }
  }
  const width =
    bucket === undefined
      ? null
      : Number.parseInt(bucket, 10) * widthUs[bucket.at(-1) as 'm' | 'h' | 'd']
  return {
    name: 'end_us',
    sql: width === null ? 'NULL::BIGINT' : `at_us + ${width}`,
    wrong: null,
    expected: '',
    came: 'NULL',
  }
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
