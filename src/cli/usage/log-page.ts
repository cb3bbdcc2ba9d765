import { parseWritten } from '../../audit/evidence/prices/answer-json.ts'
import { csvRows } from '../../audit/evidence/prices/csv.ts'
import { isRowOf, placed, usualPlaces } from '../../audit/evidence/prices/log.ts'
import { rowsIn } from '../../audit/evidence/prices/log-rows.ts'
import type { LogTerms } from '../../contract/prices.ts'
import { withoutMark } from '../../user/byte-order-mark.ts'
import { isDocument, isObject, type JsonObject } from '../../user/json.ts'
import { userError } from '../../user/user-error.ts'
import { type LogAnswer, logAnswer, shownPath } from './log-answer.ts'
import { type More, moreOf } from './more-rows.ts'

/** One answer of a log: its rows, and what it says of further ones. */
export interface LogPage {
  /** One document a line, as the service wrote it. */
  readonly text: string
  /** Each row as JSON. */
  readonly rows: readonly string[]
  readonly more: More
}

/**
 * Reads one page of a log: JSON, lines of JSON, or CSV.
 *
 * @returns null if there is no such page
 * @throws UserError if it is no log, or says why it shows none
 */
export async function logPage(
  url: string,
  terms: LogTerms | null,
  patienceMs: number,
): Promise<LogPage | null> {
  const answer = await logAnswer(url, patienceMs)
  return answer === null ? null : pageOf(url, answer, terms)
}

function pageOf(url: string, { text, link }: LogAnswer, terms: LogTerms | null): LogPage {
  const isRow = isRowOf(terms)
  const lines = linesOf(withoutMark(text), url)
  const documents = lines.map((line) => parseWritten(line))
  const isLike = (row: unknown) =>
    isRow(row) || placed(row, terms?.id, usualPlaces.id) !== undefined
  const rows = documents.flatMap((document) => {
    const own = rowsIn(document, isRow)
    // Of a page without rows, the page itself is none.
    return own.length === 1 ? own.filter(isLike) : own
  })
  if (!rows.some(isRow)) {
    const says = documents.map(refusalIn).find((each) => each !== null)
    if (says != null)
      throw userError.usage(
        `--log: ${shownPath(url)} shows no rows, but says: ${JSON.stringify(says.slice(0, 200))}.`,
      )
  }
  return {
    text: lines.join('\n'),
    rows: rows.map((row) => JSON.stringify(row)),
    more: moreOf(url, documents, isRow, link),
  }
}

/** The documents of an answer, one a line. In JSON, a line ends outside of texts only. */
function linesOf(text: string, url: string): readonly string[] {
  const trimmed = text.trim()
  if (trimmed === '') return []
  const whole = parseWritten(trimmed)
  if (whole === null) return []
  if (isDocument(whole)) return [trimmed.replaceAll(/\s*[\r\n]+\s*/g, ' ')]
  const csv = csvRows(trimmed, shownPath(url))
  if (csv !== null) return csv.map((row) => JSON.stringify(row))
  const lines = trimmed.split(/\r?\n/).filter((line) => line.trim() !== '')
  if (whole === undefined && isDocument(parseWritten(lines[0]!))) return lines
  throw userError.usage(
    `--log: the service's log is not JSON, nor CSV; it begins with ${JSON.stringify(trimmed.slice(0, 40))}. Correct evidence.log.get in the contract, or give a file.`,
  )
}

/** What a service says instead of rows, with a status that says that all is well; null if it says nothing. */
function refusalIn(document: unknown): string | null {
  if (!isObject(document)) return null
  const { error, success, ok } = document
  const isError = error !== undefined && error !== null && error !== false && error !== ''
  if (!isError && success !== false && ok !== false) return null
  const texts = [isObject(error) ? (error as JsonObject).message : error]
  const said = [...texts, document.message, document.msg, document.detail].find(
    (each) => typeof each === 'string' && each !== '',
  )
  return typeof said === 'string' ? said : 'an error'
}
