import { userError } from '../../user/user-error.ts'
import type { Session } from '../session/session.ts'

/**
 * How spreadsheets write numbers and dates. One cell may be ambiguous: `1.234` is 1234 or 1.234, and `03/11/2026` is in March or in
 * November. So a format counts if it fits all cells of a file.
 */

export const decimalMarks = ['.', ','] as const
export type DecimalMark = (typeof decimalMarks)[number]
export const dateOrders = ['dmy', 'mdy'] as const
export type DateOrder = (typeof dateOrders)[number]

/** Which of two moments a local time is that a clock change repeats. */
export const repeatedTimes = ['first', 'second', 'reject'] as const
export type RepeatedTime = (typeof repeatedTimes)[number]
/** Whether a count of tokens contains a part of them. */
export const partPlaces = ['within', 'separate'] as const

/** How a log writes numbers and times, where its mapping does not say it. */
export interface CellFormats {
  /** The decimal mark; null for plain numbers, `1234.5`. */
  readonly decimal: DecimalMark | null
  readonly dateOrder: DateOrder | null
}

/** SQL for a number with this decimal mark, as plain text; null for a text that is none. */
export function numberSql(text: string, decimal: DecimalMark): string {
  const [point, thousands] = decimal === '.' ? ['\\.', ','] : [',', '\\.']
  // Without spaces (also U+00A0 and U+202F), signs of money, and the apostrophe that keeps a cell text; `(5)` is -5.
  const bare = `regexp_replace(${text}, '[\\s\\x{00A0}\\x{202F}€$£¥%'']', '', 'g')`
  const signed = `regexp_replace(${bare}, '^\\((.*)\\)$', '-\\1')`
  // `1,234,567`, or in India `12,34,567`: groups of two before the last three.
  const groups = `([1-9]\\d{0,2}(${thousands}\\d{3})+|[1-9]\\d?(${thousands}\\d{2})+${thousands}\\d{3})`
  const number = `^[+-]?(${groups}|\\d+|)(${point}\\d*)?([eE][+-]?\\d+)?$`
  const mark = decimal === '.' ? ',' : '.'
  return `(CASE WHEN regexp_matches(${signed}, '${number}')
    THEN replace(replace(${signed}, '${mark}', ''), '${decimal}', '.') END)`
}

/** SQL for a number cell that looks like a plain number, but that may have a thousands mark, or was shortened. */
export const isDoubtfulSql = (text: string) =>
  `(${text}[-4] = '.' AND ${text}[1] <> '0' AND NOT contains(${text}[:-5], '.') OR contains(${text}, 'E+'))`

/** SQL for a number that a spreadsheet shortened, such as `1,23E+05`. */
export const isShortenedSql = (text: string) =>
  `regexp_matches(${text}, '^-?\\d([.,]\\d+)?E[+]\\d+$')`

const times = ['', ' %H:%M', ' %H:%M:%S', ' %H:%M:%S.%f', ' %I:%M %p', ' %I:%M:%S %p']

/** SQL for the local time of a date that is not ISO 8601; null for any other text. */
export function localTimeSql(text: string, order: DateOrder | null): string {
  if (order === null) return 'NULL::TIMESTAMP'
  const day = order === 'dmy' ? '%d{}%m{}%Y' : '%m{}%d{}%Y'
  const forms = ['.', '/', '-'].flatMap((mark) =>
    times.map((time) => `'${day.replaceAll('{}', mark)}${time}'`),
  )
  return `try_strptime(trim(replace(${text}, ',', '')), [${forms.join()}])`
}

/** A column of numbers; `isWhole` if it has counts. */
interface NumberColumn {
  readonly column: string
  readonly text: string
  readonly isWhole: boolean
}

/**
 * The decimal mark that fits most number cells of a file.
 *
 * @param from the rows, as SQL
 * @throws UserError if both marks fit all cells, and mean different numbers
 */
export async function decimalOf(
  session: Session,
  file: string,
  from: string,
  columns: readonly NumberColumn[],
): Promise<DecimalMark> {
  const sums = { dot: 0, comma: 0, both: 0 }
  let open: { readonly column: string; readonly cell: string } | null = null
  for (const { column, text, isWhole } of columns) {
    const value = (mark: DecimalMark) => {
      const cast = `TRY_CAST(${numberSql(text, mark)} AS DECIMAL(38, 18))`
      return isWhole ? `(CASE WHEN ${cast} = trunc(${cast}) THEN ${cast} END)` : cast
    }
    const [row] = await session.rows<{
      dot: number
      comma: number
      both: number
      cell: string | null
    }>(
      `SELECT count(dot) AS dot, count(comma) AS comma,
         count(*) FILTER (WHERE dot IS NOT NULL AND comma IS NOT NULL) AS both,
         any_value(text) FILTER (WHERE dot <> comma) AS cell
       FROM (SELECT ${text} AS text, ${value('.')} AS dot, ${value(',')} AS comma FROM (${from}))`,
    )
    sums.dot += row!.dot
    sums.comma += row!.comma
    sums.both += row!.both
    if (row!.cell !== null) open ??= { column, cell: row!.cell }
  }
  if (open !== null && sums.dot === sums.both && sums.comma === sums.both) {
    const { column, cell } = open
    throw userError.import(
      `${file}: ${column}: ${cell} is ${cell.replaceAll('.', '').replace(',', '.')} or ${cell.replaceAll(',', '')}; add --decimal , or --decimal .`,
    )
  }
  return sums.comma > sums.dot ? ',' : '.'
}

/**
 * The order of day and month in the dates of a file; null if its dates are ISO 8601.
 *
 * @param texts the columns of times, as SQL
 * @throws UserError if both orders fit all dates
 */
export async function dateOrderOf(
  session: Session,
  file: string,
  from: string,
  texts: readonly string[],
): Promise<DateOrder | null> {
  const [row] = await session.rows<{ dmy: number; mdy: number; both: number; cell: string | null }>(
    `SELECT count(dmy) AS dmy, count(mdy) AS mdy,
       count(*) FILTER (WHERE dmy IS NOT NULL AND mdy IS NOT NULL) AS both,
       any_value(text) FILTER (WHERE dmy <> mdy) AS cell
     FROM (SELECT text, ${localTimeSql('text', 'dmy')} AS dmy, ${localTimeSql('text', 'mdy')} AS mdy
           FROM (SELECT unnest([${texts.join()}]) AS text FROM (${from})))`,
  )
  const { dmy, mdy, both, cell } = row!
  if (dmy + mdy === 0) return null
  // Only the order of the day before the month uses dots.
  if (cell?.includes('.')) return 'dmy'
  if (cell !== null && dmy === both && mdy === both) {
    throw userError.import(
      `${file}: ${cell} has the day or the month first; add --date-order dmy or --date-order mdy`,
    )
  }
  return mdy > dmy ? 'mdy' : 'dmy'
}
