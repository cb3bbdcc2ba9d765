import { firstCells } from '../../user/csv.ts'
import { userError } from '../../user/user-error.ts'
import { fileSql, identifier, literal } from '../literal.ts'
import type { Session } from '../session/session.ts'
import { beginningOf, headerOf } from './csv-header.ts'
import { longNumberSql } from './exact-json.ts'
import { longestLine } from './formats/documents.ts'
import { isOneList } from './json-list.ts'
import type { FieldName, LogFormat, Mapping } from './mapping.ts'
import {
  type Column,
  type ColumnReader,
  columnsOf,
  mappedColumns,
  nameOfColumn,
  pointerOf,
  stepsOf,
} from './places.ts'

/** `file` is the name for users; lines are read from `read`. */
interface ScannedLog {
  readonly file: string
  readonly read: string
  readonly format: LogFormat
  readonly mapping: Mapping
}

/** SQL that reads a log as a table. */
export interface Scan {
  readonly scan: string
  readonly reader: ColumnReader
  /** SQL for a line as the rejects file shows it, before its keys are hidden. */
  readonly raw: string
  /** Whether a line is one JSON text, whose places are pointers; else it is a row of named columns. */
  readonly isJson: boolean
  /** Names of columns or members. */
  readonly names: readonly string[]
  /** The mapping; of a file with columns, without optional fields that it lacks. */
  readonly mapping: Mapping
}

export interface CsvShape {
  readonly columns: readonly string[]
  readonly delimiter: string
}

const csvErrors = `store_rejects = true, rejects_table = 'import_errors', rejects_scan = 'import_scans'`

/** @throws UserError when a mapped column is missing */
export async function scanOf(session: Session, log: ScannedLog): Promise<Scan> {
  switch (log.format) {
    case 'jsonl':
      return jsonScan(log)
    case 'csv':
      return tableScan(session, log, csvSql(log))
    case 'parquet':
      return tableScan(session, log, `SELECT * FROM ${fileSql('read_parquet', log.read)}`)
  }
}

/** Takes columns from the header and sniffs nothing: a bad row must not change how the others are read. */
function csvSql(log: ScannedLog): string {
  const delimiter = delimiterOf(log)
  const columns = headerOf(log, delimiter).map((name) => `${literal(name)}: 'VARCHAR'`)
  const rows = fileSql(
    'read_csv',
    log.read,
    ...['header = true', 'auto_detect = false', `columns = {${columns.join(', ')}}`],
    ...[`delim = ${literal(delimiter)}`, `quote = '"'`, `escape = '"'`],
    ...[`max_line_size = ${longestLine}`, csvErrors],
  )
  return `SELECT * FROM ${rows}`
}

/** Each line is one JSON text, `full_text`, and the values of its mapped places are a list, `v`. */
function jsonScan({ read, mapping }: ScannedLog): Scan {
  const columns = mappedColumns(mapping)
  const pointers = [...new Set(columns.map(pointerOf))]
  const valueAt = (column: Column) => `v[${pointers.indexOf(pointerOf(column)) + 1}]`
  const amount = amountOf(mapping)
  const isAmount = (column: Column) => amount !== null && pointerOf(column) === pointerOf(amount)
  const exactAmount =
    amount === null ? 'NULL::VARCHAR' : longNumberSql('full_text', valueAt(amount), amount)
  return {
    scan: `SELECT full_text, v, ${exactAmount} AS amount FROM (${jsonLinesSql(read, pointers)})`,
    reader: {
      raw: valueAt,
      text: (column) =>
        isAmount(column) ? `coalesce(amount, ${valueAt(column)})` : valueAt(column),
      kind: () => 'text',
      isNumber: (column) =>
        `coalesce(TRY(json_type(full_text, ${literal(pointerOf(column))})) <> 'VARCHAR', false)`,
    },
    mapping,
    raw: 'full_text',
    isJson: true,
    names: columns.map((column) => stepsOf(column).at(-1)!),
  }
}

/** A line of so many bytes is never blank; to trim it would be slow. */
const longestBlank = 256

/** SQL for the lines of a JSON array, or of a file with one JSON text a line, each with the values of these places. */
function jsonLinesSql(read: string, pointers: readonly string[]): string {
  const places = `[${pointers.map(literal).join()}]`
  if (isOneList(read)) {
    return `SELECT json::VARCHAR AS full_text, json_extract_string(json, ${places}) AS v
      FROM ${fileSql('read_json_objects', read, "format = 'array'", `maximum_object_size = ${longestLine}`)}`
  }
  // The CSV reader takes each line as one column: a delimiter that no line holds, no quotes, no escapes.
  const lines = fileSql(
    'read_csv',
    read,
    ...["columns = {'full_text': 'VARCHAR'}", "delim = '\x01\x02'", "quote = ''", "escape = ''"],
    ...['header = false', 'auto_detect = false', 'strict_mode = false', 'null_padding = true'],
    ...[`max_line_size = ${longestLine}`, csvErrors],
  )
  return `SELECT full_text, TRY(json_extract_string(full_text, ${places})) AS v FROM ${lines}
    WHERE strlen(full_text) > ${longestBlank} OR trim(full_text) <> ''`
}

/** Where a JSON line has its amount. */
function amountOf({ fields: { credits } }: Mapping): Column | null {
  if (credits === undefined || typeof credits === 'string') return credits ?? null
  return 'column' in credits && credits.json === undefined ? credits.column : null
}

const delimiters = [',', ';', '\t', '|'] as const

/** The names and the delimiter of a CSV file; null for other formats. */
export function columnsIn(log: ScannedLog): CsvShape | null {
  if (log.format !== 'csv') return null
  const delimiter = delimiterOf(log)
  return { columns: headerOf(log, delimiter), delimiter }
}

/** The mapping's delimiter, or the one that gives a header with the mapped columns. */
function delimiterOf({ read, mapping }: ScannedLog): string {
  if (mapping.delimiter !== undefined) return mapping.delimiter
  const text = beginningOf(read)
  const mapped = mappedColumns(mapping).map(nameOfColumn)
  const found = (delimiter: string) => {
    const names = firstCells(text, delimiter)
    return mapped.filter((name) => names.includes(name)).length
  }
  return delimiters.reduce((best, each) => (found(each) > found(best) ? each : best), ',')
}

/** The mapping without those of its optional fields whose column the file lacks. */
function withoutMissing(mapping: Mapping, isThere: (column: Column) => boolean): Mapping {
  const { optional = [], fields } = mapping
  const kept = Object.entries(fields).filter(
    ([name]) =>
      !optional.some((each) => each === name) ||
      columnsOf(fields[name as FieldName]).every(isThere),
  )
  const { tagsColumn, ...others } = mapping
  return {
    ...others,
    // Exports of older versions of Assay have no tags.
    ...(tagsColumn !== undefined && isThere(tagsColumn) ? { tagsColumn } : {}),
    fields: Object.fromEntries(kept) as Mapping['fields'],
  }
}

/** Scans a file that has columns. The error for a missing mapped column lists the existing ones. */
async function tableScan(session: Session, log: ScannedLog, scan: string): Promise<Scan> {
  const described = await session.rows<{ column_name: string; column_type: string }>(
    `DESCRIBE ${scan}`,
  )
  const types = new Map(described.map((column) => [column.column_name, column.column_type]))
  const mapping = withoutMissing(log.mapping, (column) => types.has(nameOfColumn(column)))
  const missing = mappedColumns(mapping).filter((column) => !types.has(nameOfColumn(column)))
  if (missing.length > 0) {
    throw userError.import(
      `${log.file} has no column ${missing.map((column) => `"${nameOfColumn(column)}"`).join(', ')}; it has ${[...types.keys()].join(', ')}`,
    )
  }
  const raw = (column: Column) => `s.${identifier(nameOfColumn(column))}`
  const reader: ColumnReader = {
    raw,
    text: (column) =>
      types.get(nameOfColumn(column)) === 'VARCHAR' ? raw(column) : `(${raw(column)})::VARCHAR`,
    kind: (column) => {
      const type = types.get(nameOfColumn(column))!
      if (type === 'TIMESTAMP WITH TIME ZONE') return 'timestamptz'
      if (/^(TIMESTAMP|DATE)/.test(type)) return 'timestamp'
      if (/^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\(\d+,0\))$/.test(type)) return 'whole'
      if (/^DECIMAL\(/.test(type)) return 'decimal'
      return type === 'VARCHAR' ? 'text' : 'other'
    },
  }
  return {
    scan: `SELECT s FROM (${scan}) AS s`,
    reader,
    mapping,
    raw: 'to_json(s)::VARCHAR',
    isJson: false,
    names: [...types.keys()],
  }
}
