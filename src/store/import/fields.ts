import { outcomes } from '../../attempt/outcome.ts'
import { literal } from './literal.ts'
import type { DurationPlace, FieldName, Mapping, Place } from './mapping.ts'

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

/** The fields of an event, as SQL over one line of the file. */
export function stagedFields(mapping: Mapping, read: ColumnReader): readonly StagedField[] {
  const { fields } = mapping
  const text = (field: FieldName) => {
    const at = fields[field]
    return at === undefined ? 'NULL' : placeSql(at as Place, read)
  }
  const optional = (sql: string) => `nullif(${sql}, '')`
  const numeric = (field: FieldName) =>
    exactColumn(fields[field] as Place | undefined, read) ?? optional(text(field))
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
    const came = numeric(field)
    return {
      name,
      sql: `TRY_CAST(${came} AS ${type})`,
      wrong: `${came} IS NOT NULL AND (${name} IS NULL OR ${name} ${beyond})`,
      expected,
      came: optional(text(field)),
    }
  }
  const id = Array.isArray(fields.id)
    ? fields.id.map((column) => `coalesce(${read.text(column)}, '')`).join(` || '/' || `)
    : text('id')
  const status = number('status', 'status', 'INTEGER', 'an HTTP status', 'NOT BETWEEN 100 AND 599')
  const requests = number('requests', 'requests', 'BIGINT', 'a whole number, 1 or more', '< 1')
  const credits = numeric('credits')
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
          : fingerprintSql(optional(text('key'))),
    },
    plain('account', 'account'),
    {
      name: 'outcome',
      sql: `coalesce(lower(${outcome}), CASE WHEN ${status.sql} >= 400 THEN 'http_error' ELSE 'ok' END)`,
      wrong: `${outcome} IS NOT NULL AND lower(${outcome}) NOT IN (${outcomes.map(literal).join()})`,
      expected: `one of ${outcomes.join(', ')} (map other words by values:)`,
      came: outcome,
    },
    status,
    plain('error_code', 'errorCode'),
    {
      name: 'credits',
      sql: narrowCreditsSql(credits, exactColumn(fields.credits, read) !== null),
      wrong: `${credits} IS NOT NULL AND (credits IS NULL AND credits_wide IS NULL OR credits < 0 OR credits_wide < 0)`,
      expected: 'a number, 0 or more',
      came: optional(text('credits')),
    },
    {
      ...plain('credits_wide', 'credits'),
      sql: `CASE WHEN credits IS NULL THEN TRY_CAST(${credits} AS ${creditsTypes.any}) END`,
    },
    number('prompt_tokens', 'promptTokens', 'BIGINT', 'a whole number, 0 or more', '< 0'),
    number('cached_tokens', 'cachedTokens', 'BIGINT', 'a whole number, 0 or more', '< 0'),
    number('completion_tokens', 'completionTokens', 'BIGINT', 'a whole number, 0 or more', '< 0'),
    {
      ...requests,
      sql: `coalesce(${requests.sql}, 1)`,
      wrong: `${numeric('requests')} IS NOT NULL AND ${requests.sql} IS NULL OR requests < 1`,
    },
    durationField('ttft_us', fields.ttft, read),
    durationField('latency_us', fields.latency, read),
  ]
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
  return Object.values(mapping.fields).flatMap((at) => {
    if (at === undefined) return []
    if (typeof at === 'string') return [at]
    if (Array.isArray(at)) return at
    if ('from' in at) return [at.from, at.to]
    return 'column' in at ? [at.column] : []
  })
}

/** The raw column of an unmapped place, if its numbers are exact in the file. */
export function exactColumn(at: Place | undefined, read: ColumnReader): string | null {
  if (at === undefined) return null
  const column = typeof at === 'string' ? at : 'column' in at && !at.values ? at.column : null
  return column !== null && read.kind(column) === 'exact' ? read.raw(column) : null
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
  if (at === undefined) return { name, sql: 'NULL', wrong: null, expected: '', came: 'NULL' }
  const expected = 'a duration of 0 to 31 days'
  const beyond = `coalesce(${name} NOT BETWEEN 0 AND ${longestUs}, true)`
  if ('from' in at) {
    const [from, to] = [at.from, at.to].map((column) => timeSql(column, 'auto', 'UTC', read))
    return {
      name,
      sql: `${to} - ${from}`,
      wrong: `${to} IS NOT NULL AND ${beyond}`,
      expected,
      came: read.text(at.to),
    }
  }
  const text = `nullif(${read.text(at.column)}, '')`
  const exact = exactColumn({ column: at.column }, read)
  const came = exact ?? text
  return {
    name,
    sql:
      exact !== null && at.unit === 'us'
        ? `TRY_CAST(${exact} AS BIGINT)`
        : `TRY(round(TRY_CAST(${came} AS DOUBLE) * ${unitUs[at.unit]})::BIGINT)`,
    wrong: `${came} IS NOT NULL AND ${beyond}`,
    expected,
    came: text,
  }
}

/** 2000 to 2100. Anything outside is a wrong unit. */
const earliestUs = 946_684_800_000_000
const latestUs = 4_102_444_800_000_000

function timeField(at: Mapping['fields']['time'], read: ColumnReader): StagedField {
  const { column, unit, timezone } =
    typeof at === 'string' ? { column: at, unit: 'auto' as const, timezone: 'UTC' } : at
  return {
    name: 'at_us',
    sql: timeSql(column, unit, timezone, read),
    wrong: `coalesce(at_us NOT BETWEEN ${earliestUs} AND ${latestUs}, true)`,
    expected: `a time between 2000 and 2100 (${unit === 'auto' ? 'ISO 8601, or Unix s, ms, us or ns' : unit})`,
    came: read.text(column),
  }
}

/** Unix microseconds of a time in any of the usual forms; null for anything else. */
function timeSql(
  column: string | readonly string[],
  unit: 'auto' | 'iso' | 's' | 'ms' | 'us' | 'ns',
  timezone: string,
  read: ColumnReader,
): string {
  const text = read.text(column)
  const raw = read.raw(column)
  const scaled = (factor: number) => `(round(TRY_CAST(${raw} AS DOUBLE) * ${factor})::BIGINT)`
  const whole = `TRY_CAST(${raw} AS HUGEINT)`
  // A time without an offset is in the session's zone, which the import sets to the mapping's.
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
  if (kind === 'timestamp') return `epoch_us(timezone(${literal(timezone)}, ${raw}::TIMESTAMP))`
  return kind === 'timestamptz' ? `epoch_us(${raw})` : byUnit[unit]
}
