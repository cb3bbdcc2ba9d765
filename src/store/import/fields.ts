import { outcomes } from '../../attempt/outcome.ts'
import { mappedNames, mappedTokens } from '../../measure/usage/quantities.ts'
import type { CellFormats } from './cell-formats.ts'
import { entryTypes } from './entry-types.ts'
import { FieldSql, isOneOf } from './field-sql.ts'
import { joinedIdSql } from './joined-id.ts'
import { fingerprintSql, lastFourSql } from './key-forms.ts'
import type { Mapping } from './mapping.ts'
import { type ColumnReader, endpointSql, pathSql, placeSql } from './places.ts'
import { creditsFields } from './staged-credits.ts'
import { absentField, type StagedField, sameField, uncheckedField } from './staged-field.ts'
import { ownUnit } from './staged-lines.ts'
import { durationField, timeFields } from './staged-times.ts'
import { TimeSql } from './time-sql.ts'

/** Pages and JSON name the unit of each amount. */
const longestUnit = 40

/** The fields of a line, as SQL over one line of the file. */
export function stagedFields(
  mapping: Mapping,
  reader: ColumnReader,
  formats: CellFormats,
): readonly StagedField[] {
  const { fields } = mapping
  const line = new FieldSql(mapping, reader, formats)
  const times = new TimeSql(mapping, reader, formats)
  const status = line.numbers({
    ...{ column: 'status', field: 'status', type: 'INTEGER', expected: 'an HTTP status' },
    isOutside: (sql) => `${sql} NOT BETWEEN 100 AND 599`,
  })
  return [
    idField(mapping, reader),
    ...timeFields(mapping, times),
    typeField(mapping, line),
    line.name('refers_to', 'refersTo'),
    line.name('model', 'model'),
    endpointField(line),
    keyField(line),
    lastFourField(line),
    line.name('account', 'account'),
    outcomeField(line, status.sql),
    status,
    line.words('error_code', 'errorCode'),
    ...creditsFields(line),
    unitField(line),
    ...mappedNames.map((field) => line.counts(mappedTokens[field], field)),
    requestsField(mapping, line),
    durationField('ttft_us', fields.ttft, times, reader),
    durationField('latency_us', fields.latency, times, reader),
  ]
}

function idField({ fields: { id } }: Mapping, reader: ColumnReader): StagedField {
  if (id === undefined) return uncheckedField('id', 'NULL::VARCHAR')
  const sql = Array.isArray(id)
    ? joinedIdSql(id.map((column) => `coalesce(${reader.text(column)}, '')`))
    : placeSql(id, reader)
  return { name: 'id', sql, wrong: `coalesce(id, '') = ''`, expected: 'an id', observed: sql }
}

/** An amount without a type and below 0 gets its type once all ids are known. */
function typeField({ optional = [] }: Mapping, line: FieldSql): StagedField {
  if (!line.isMapped('type')) return absentField('type', 'VARCHAR')
  const isMissingWrong = !optional.includes('type')
  return {
    name: 'type',
    sql: `lower(${line.cell('type')})`,
    wrong: `coalesce(NOT ${isOneOf('type', entryTypes)}, ${isMissingWrong})`,
    expected: `one of ${entryTypes.join(', ')} (map other words by values:)`,
    observed: line.cell('type'),
  }
}

function endpointField(line: FieldSql): StagedField {
  if (!line.isMapped('endpoint')) return absentField('endpoint', 'VARCHAR')
  const path = pathSql(line.text('endpoint'))
  return {
    ...line.name('endpoint', 'endpoint'),
    sql: endpointSql(path),
    observed: `nullif(${path}, '')`,
  }
}

function keyField(line: FieldSql): StagedField {
  return line.isMapped('key')
    ? uncheckedField('key_fp', fingerprintSql(line.cell('key')))
    : line.name('key_fp', 'keyFp')
}

/** The last four letters of the key, if the line shows them: in a place of their own, else where it has the key or its name. */
function lastFourField(line: FieldSql): StagedField {
  const places = [
    ['lastFour', 'end'],
    ['key', 'key'],
    ['keyFp', 'name'],
  ] as const
  const shown = places.flatMap(([field, of]) =>
    line.isMapped(field) ? [lastFourSql(line.cell(field), of)] : [],
  )
  return shown.length === 0
    ? absentField('key_last_four', 'VARCHAR')
    : uncheckedField('key_last_four', `coalesce(${shown.join(', ')})`)
}

/** @param status SQL */
function outcomeField(line: FieldSql, status: string): StagedField {
  const outcome = line.cell('outcome')
  return {
    name: 'outcome',
    sql: `coalesce(lower(${outcome}), CASE WHEN ${status} >= 400 THEN 'http_error' ELSE 'ok' END)`,
    wrong: line.isMapped('outcome') ? `NOT ${isOneOf('outcome', outcomes)}` : null,
    expected: `one of ${outcomes.join(', ')} (map other words by values:)`,
    observed: outcome,
  }
}

const currencies = Intl.supportedValuesOf('currency')

/** Currencies of ISO 4217 are written in capitals, `usd` like `USD`. */
function unitField(line: FieldSql): StagedField {
  if (!line.isMapped('unit')) return sameField('unit', ownUnit)
  const unit = `trim(${line.cell('unit')})`
  const capitals = `upper(${unit})`
  const written = `CASE WHEN ${isOneOf(capitals, currencies)} THEN ${capitals} ELSE ${unit} END`
  return {
    ...line.name('unit', 'unit', longestUnit),
    sql: `coalesce(nullif(${written}, ''), ${ownUnit})`,
  }
}

/** A line of a sum has the number that it says; a line of an event is one request unless it says another number. */
function requestsField(mapping: Mapping, line: FieldSql): StagedField {
  const requests = line.counts('requests', 'requests')
  const { bucket, identified, fields } = mapping
  const isSum = fields.end !== undefined || bucket !== undefined || identified === true
  if (isSum) return requests
  // A cell that cannot be read stays null, so that it is refused.
  const one = `CASE WHEN NOT ${line.isGiven('requests')} THEN 1 END`
  return { ...requests, isSame: false, sql: `coalesce(${requests.sql}, ${one})` }
}
