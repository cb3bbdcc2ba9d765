import { mappedNames } from '../../measure/usage/quantities.ts'
import type { Session } from '../session/session.ts'
import {
  type CellFormats,
  dateOrderOf,
  decimalOf,
  isDoubtfulSql,
  isShortenedSql,
} from './cell-formats.ts'
import type { Scan } from './log-scan.ts'
import type { FieldName, Mapping } from './mapping.ts'
import { type Column, type ColumnReader, nameOfColumn } from './places.ts'
import type { StagedLog } from './staged-log.ts'

/** Whether numbers and dates are those of a spreadsheet. */
const isTable = ({ format, mapping }: StagedLog) => format === 'csv' || mapping.table === true

const numberFields = ['credits', ...mappedNames, 'requests'] as const satisfies readonly FieldName[]
const timeFields = ['time', 'end', 'version', 'expires'] as const satisfies readonly FieldName[]

/** The mapped columns whose cells are numbers. A cell with JSON has numbers of JSON, which are plain. */
function numberColumns({ fields }: Mapping) {
  return numberFields.flatMap((field) => {
    const at = fields[field]
    if (typeof at === 'string') return [{ field, column: at }]
    return at === undefined || 'value' in at || at.json !== undefined
      ? []
      : [{ field, column: at.column }]
  })
}

const timeColumns = ({ fields }: Mapping): readonly Column[] =>
  timeFields.flatMap((field) => {
    const at = fields[field]
    return at === undefined ? [] : [typeof at === 'string' ? at : at.column]
  })

/** SQL: whether a number of a line may mean another than it seems to; empty if none can. */
export function doubtSql(log: StagedLog, mapping: Mapping, reader: ColumnReader): string {
  const columns = isTable(log) && mapping.decimal === undefined ? numberColumns(mapping) : []
  return columns.map(({ column }) => isDoubtfulSql(reader.text(column))).join(' OR ')
}

/**
 * How a file writes numbers and dates, by all of its cells, once lines are staged by plain numbers, ISO 8601 and what is
 * known. Null if nothing more is found. A line has one reason, so an odd date hides an odd number until the next call.
 *
 * @throws UserError if the numbers or dates of the file have two meanings
 */
export async function moreFormats(
  session: Session,
  log: StagedLog,
  { scan, reader, mapping }: Scan,
  known: CellFormats,
): Promise<CellFormats | null> {
  if (!isTable(log)) return null
  const [odd] = await session.rows<{ numbers: boolean | null; dates: boolean | null }>(
    `SELECT bool_or(doubt OR regexp_matches(reason, '^(credits|requests|[a-z1_]+_tokens):')) AS numbers,
       bool_or(regexp_matches(reason, '^(${timeFields.join('|')}):')) AS dates
     FROM staging.lines WHERE doubt OR reason IS NOT NULL`,
  )
  let { decimal, dateOrder } = known
  if (odd!.numbers === true && decimal === null) {
    const cells = numberColumns(mapping).map(({ field, column }) => ({
      column: nameOfColumn(column),
      text: `nullif(${reader.text(column)}, '')`,
      isWhole: field !== 'credits',
    }))
    decimal = mapping.decimal ?? (await decimalOf(session, log.file, scan, cells))
  }
  if (odd!.dates === true && dateOrder === null) {
    const texts = timeColumns(mapping).map((column) => reader.text(column))
    dateOrder = await dateOrderOf(session, log.file, scan, texts)
  }
  const isKnown = decimal === known.decimal && dateOrder === known.dateOrder
  return isKnown ? null : { decimal, dateOrder }
}

/** Counts cells such as `1,23E+05`, which a spreadsheet has shortened. */
export async function shortenedCells(
  session: Session,
  { scan, reader, mapping }: Scan,
): Promise<string[]> {
  const sums = numberColumns(mapping).map(
    ({ column }) => `count(*) FILTER (WHERE ${isShortenedSql(reader.text(column))})`,
  )
  if (sums.length === 0) return []
  const [row] = await session.rows<{ n: number }>(`SELECT ${sums.join(' + ')} AS n FROM (${scan})`)
  const { n } = row!
  if (n === 0) return []
  return [
    n === 1
      ? '1 cell such as 1,23E+05 was shortened by a spreadsheet: its last digits are lost'
      : `${n} cells such as 1,23E+05 were shortened by a spreadsheet: their last digits are lost`,
  ]
}
