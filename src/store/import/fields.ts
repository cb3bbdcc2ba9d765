import { outcomes } from '../../attempt/outcome.ts'
import { mappedNames, mappedTokens } from '../../measure/usage/quantities.ts'
import { mostTags, tagDimension } from '../../measure/usage/tags.ts'
import { identifier, literal } from '../literal.ts'
import { type CellFormats, numberSql } from './cell-formats.ts'
import { entryTypes } from './entry-types.ts'
import { joinedIdSql } from './joined-id.ts'
import type { FieldName, Mapping, Place } from './mapping.ts'
import {
  type ColumnReader,
  endpointSql,
  exactColumn,
  fingerprintSql,
  pathSql,
  placeSql,
} from './places.ts'
import { type StagedField, sameField } from './staged-field.ts'
import { ownUnit } from './staged-lines.ts'
import { durationField, endField, timeField, timezoneOf, wallField } from './staged-times.ts'

/** DuckDB types: one holds the credits of most logs in 64 bits, the other those of any log. */
export const creditsTypes = { most: 'DECIMAL(18,6)', any: 'DECIMAL(38,18)' } as const

/** Staged credits are in one of two columns. */
export const stagedCredits = 'coalesce(credits_wide, credits)'

/** Names and ids are whole or refused: two that differ later would become one. */
const longestName = 200
/** Only words that explain an error are cut. */
const longestText = 200
/** Pages and JSON name the unit of each amount. */
const longestUnit = 40

/** Words for a value that is not known, as databases and data frames write it. An empty cell is another. */
const unknownWords = ['null', 'n/a', 'na', 'nan', 'none', '-', '–', '—', '\\n', '(null)', '<na>']

/** SQL: DuckDB would join all lines with the words of an `IN` of more than five, a quarter of an import. */
const isOneOf = (sql: string, words: readonly string[]) =>
  `list_contains([${words.map(literal).join()}], ${sql})`

/** SQL: whether a text says anything. */
export const isGivenSql = (text: string) =>
  `CASE WHEN ${text} IS NULL THEN false ELSE NOT ${isOneOf(`lower(${text})`, unknownWords)} END`

/** The fields of a line, as SQL over one line of the file. */
export function stagedFields(
  mapping: Mapping,
  read: ColumnReader,
  readings: CellFormats,
): readonly StagedField[] {
  const { fields } = mapping
  const timezone = timezoneOf(mapping)
  const text = (field: FieldName) => {
    const at = fields[field]
    return at === undefined ? 'NULL' : placeSql(at as Place, read)
  }
  const optional = (sql: string) => (sql === 'NULL' ? sql : `nullif(${sql}, '')`)
  /** Most texts are short, and `left` counts their characters. */
  const short = (field: FieldName, longest: number) => {
    const sql = text(field)
    return typeof fields[field] === 'string'
      ? `CASE WHEN strlen(${sql}) > ${longest} THEN left(${sql}, ${longest}) ELSE nullif(${sql}, '') END`
      : `left(${optional(sql)}, ${longest})`
  }
  /** A name or an id, whole. */
  const name = (column: string, field: FieldName, longest = longestName): StagedField =>
    fields[field] === undefined
      ? sameField(column, 'NULL::VARCHAR')
      : {
          name: column,
          sql: optional(text(field)),
          observed: optional(text(field)),
          // Most names are short, and `length` counts their characters.
          wrong: `CASE WHEN strlen(${column}) > ${longest} THEN length(${column}) > ${longest} ELSE false END`,
          expected: `at most ${longest} characters`,
        }
  /** A number as plain text, or the column itself if its numbers are exact. */
  const numeric = (field: FieldName) => {
    const exact = exactColumn(fields[field] as Place | undefined, read)
    if (exact !== null || fields[field] === undefined) return exact ?? 'NULL'
    const observed = optional(text(field))
    return readings.decimal === null ? observed : numberSql(observed, readings.decimal)
  }
  const isGiven = (field: FieldName) => isGivenSql(optional(text(field)))
  const plain = (name: string, field: FieldName): StagedField =>
    fields[field] === undefined
      ? sameField(name, 'NULL::VARCHAR')
      : {
          ...sameField(name, short(field, longestText)),
          isSame: false,
        }
  const number = (
    name: string,
    field: FieldName,
    type: string,
    expected: string,
    beyond: string,
  ): StagedField => {
    const observed = numeric(field)
    if (observed === 'NULL') return sameField(name, `NULL::${type}`)
    const isExact = exactColumn(fields[field] as Place | undefined, read) !== null
    // A cast rounds. CASE, because AND computes both of its sides for all rows, and a decimal of 38 digits is slow.
    const part = isExact
      ? 'false'
      : `CASE WHEN contains(${observed}, '.') OR contains(${observed}, '-') THEN TRY_CAST(${observed} AS DECIMAL(38, 18)) <> ${name} ELSE false END`
    return {
      name,
      sql: `TRY_CAST(${observed} AS ${type})`,
      wrong: `CASE WHEN ${name} IS NULL THEN ${isGiven(field)} ELSE ${name} ${beyond} OR ${part} END`,
      expected,
      observed: optional(text(field)),
    }
  }
  const tokens = (name: string, field: FieldName) =>
    number(name, field, 'BIGINT', 'a whole number, 0 or more', '< 0')
  const status = number('status', 'status', 'INTEGER', 'an HTTP status', 'NOT BETWEEN 100 AND 599')
  const isBuckets =
    fields.end !== undefined || mapping.bucket !== undefined || mapping.identified === true
  const requests = tokens('requests', 'requests')
  const credits = numeric('credits')
  const outcome = optional(text('outcome'))
  const type = `lower(${optional(text('type'))})`
  return [
    idField(mapping, read),
    timeField('at_us', fields.time, timezone, read, readings),
    wallField(fields.time, read, readings),
    endField(mapping, read, readings),
    fields.version === undefined
      ? sameField('version_us', 'NULL::BIGINT')
      : {
          ...timeField('version_us', fields.version, timezone, read, readings),
          wrong: null,
        },
    // An amount without a type and below 0 gets its type once all ids are known.
    fields.type === undefined
      ? sameField('type', 'NULL::VARCHAR')
      : {
          name: 'type',
          sql: type,
          wrong: `coalesce(NOT ${isOneOf(type, entryTypes)}, ${mapping.optional?.includes('type') !== true})`,
          expected: `one of ${entryTypes.join(', ')} (map other words by values:)`,
          observed: optional(text('type')),
        },
    name('refers_to', 'refersTo'),
    name('model', 'model'),
    fields.endpoint === undefined
      ? sameField('endpoint', 'NULL::VARCHAR')
      : {
          ...name('endpoint', 'endpoint'),
          sql: endpointSql(pathSql(text('endpoint'))),
          observed: optional(pathSql(text('endpoint'))),
        },
    fields.key === undefined && fields.keyFp === undefined
      ? sameField('key_fp', 'NULL::VARCHAR')
      : fields.key === undefined
        ? name('key_fp', 'keyFp')
        : {
            name: 'key_fp',
            wrong: null,
            expected: '',
            observed: 'NULL',
            sql: fingerprintSql(optional(text('key'))),
          },
    name('account', 'account'),
    {
      name: 'outcome',
      sql: `coalesce(lower(${outcome}), CASE WHEN ${status.sql} >= 400 THEN 'http_error' ELSE 'ok' END)`,
      wrong: fields.outcome === undefined ? null : `NOT ${isOneOf('outcome', outcomes)}`,
      expected: `one of ${outcomes.join(', ')} (map other words by values:)`,
      observed: outcome,
    },
    status,
    plain('error_code', 'errorCode'),
    ...(credits === 'NULL'
      ? [
          sameField('credits', `NULL::${creditsTypes.most}`),
          sameField('credits_wide', `NULL::${creditsTypes.any}`),
        ]
      : [
          {
            name: 'credits',
            sql: narrowCreditsSql(credits, exactColumn(fields.credits, read) !== null),
            wrong: `CASE WHEN credits IS NULL AND credits_wide IS NULL THEN ${isGiven('credits')} ELSE false END`,
            expected: 'a number',
            observed: optional(text('credits')),
          },
          {
            name: 'credits_wide',
            wrong: null,
            expected: '',
            observed: 'NULL',
            sql: `CASE WHEN credits IS NULL THEN TRY_CAST(${credits} AS ${creditsTypes.any}) END`,
          },
        ]),
    fields.unit === undefined
      ? sameField('unit', ownUnit)
      : {
          ...name('unit', 'unit', longestUnit),
          sql: `coalesce(${unitSql(optional(text('unit')))}, ${ownUnit})`,
        },
    ...mappedNames.map((field) => tokens(mappedTokens[field], field)),
    isBuckets ? requests : { ...requests, isSame: false, sql: `coalesce(${requests.sql}, 1)` },
    durationField('ttft_us', fields.ttft, timezone, read, readings),
    durationField('latency_us', fields.latency, timezone, read, readings),
  ]
}

/** The tags of a line: each by its name, to be joined once keys are hidden, or all as a store has them. */
export function stagedTags(mapping: Mapping, read: ColumnReader): readonly StagedField[] {
  const { tags = [], tagsColumn } = mapping
  if (tagsColumn !== undefined) {
    const sql = `nullif(${read.text(tagsColumn)}, '')`
    const isRight = `TRY(json_type(tags)) = 'OBJECT' AND len(TRY(json_keys(tags))) <= ${mostTags}`
    const wrong = `CASE WHEN tags IS NULL THEN false ELSE NOT coalesce(${isRight}, false) END`
    const expected = `a JSON object of at most ${mostTags} texts`
    return [{ name: 'tags', sql, wrong, expected, observed: sql }]
  }
  const own = tags.map(([tag, at]): StagedField => {
    const name = identifier(tagDimension(tag))
    const sql = `nullif(${placeSql(at, read)}, '')`
    const wrong = `coalesce(length(${name}) > ${longestName}, false)`
    return { name, sql, wrong, expected: `at most ${longestName} characters`, observed: sql }
  })
  return [...own, sameField('tags', 'NULL::VARCHAR')]
}

const currencies = Intl.supportedValuesOf('currency')

/** SQL for the unit of an amount: currencies of ISO 4217 in capitals, `usd` like `USD`. */
const unitSql = (text: string) =>
  `nullif(CASE WHEN ${isOneOf(`upper(trim(${text}))`, currencies)} THEN upper(trim(${text})) ELSE trim(${text}) END, '')`

function idField({ fields }: Mapping, read: ColumnReader): StagedField {
  const { id } = fields
  if (id === undefined) {
    return { name: 'id', sql: 'NULL::VARCHAR', wrong: null, expected: '', observed: 'NULL' }
  }
  const sql = Array.isArray(id)
    ? joinedIdSql(id.map((column) => `coalesce(${read.text(column)}, '')`))
    : placeSql(id, read)
  return { name: 'id', sql, wrong: `coalesce(id, '') = ''`, expected: 'an id', observed: sql }
}

/**
 * Credits if 64 bits provably hold them, else null. Reading text as 128 bits is slow. The quick proof for text:
 * different numbers of at most 15 characters are different doubles.
 */
function narrowCreditsSql(observed: string, isExact: boolean): string {
  const most = `TRY_CAST(${observed} AS ${creditsTypes.most})`
  const proven = `${most}::${creditsTypes.any} = TRY_CAST(${observed} AS ${creditsTypes.any})`
  const whole = isExact
    ? proven
    : `CASE WHEN length(${observed}) <= 15 THEN ${most}::DOUBLE = TRY_CAST(${observed} AS DOUBLE) ELSE ${proven} END`
  return `CASE WHEN ${whole} THEN ${most} END`
}
