import { parseWritten } from '../../audit/evidence/prices/answer-json.ts'
import { isRowOf } from '../../audit/evidence/prices/log.ts'
import { hasMoreRows, rowsIn } from '../../audit/evidence/prices/log-rows.ts'
import type { LogTerms } from '../../contract/prices.ts'
import type { Store } from '../../store/session/open.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import { UserError } from '../../user/user-error.ts'

const place = '{response.id}'
/** Pages count from 1. */
const pagePlace = '{page}'
/** Requests at once, and in all: a log by id needs one for each answer, a log in pages one for each page. */
const [atOnce, most] = [4, 5_000]
const patienceMs = 30_000

/**
 * The service's own log of some runs, from the place that the contract names: one request for each answer if the place has
 * `{response.id}`, one for each page if it has `{page}`, else one in all. The key is that of ASSAY_API_KEY.
 *
 * @returns one page a line, as the service wrote it: `readPriceLog` reads pages and rows alike
 * @throws UserError if the contract names no place, nothing can be asked, or the service refuses
 */
export async function fetchLog(
  store: Store,
  runIds: readonly string[],
  terms: LogTerms | null,
  baseUrl: string,
): Promise<string> {
  const get = terms?.get
  if (get == null) {
    throw new UserError(
      'usage',
      '--log: the contract does not say where the log is. Add evidence: { log: { get: "/spend/logs?request_id={response.id}" } }, or give a file.',
    )
  }
  const url = baseUrl.replace(/\/$/, '') + get
  if (get.includes(pagePlace)) return (await everyPage(url, terms)).join('\n')
  if (!get.includes(place)) return (await wholePage(url, terms)) ?? ''
  const ids = await responseIds(store, runIds)
  const texts: string[] = []
  for (let from = 0; from < ids.length; from += atOnce) {
    const some = ids.slice(from, from + atOnce)
    const read = (id: string) => page(url.replaceAll(place, encodeURIComponent(id)))
    for (const each of (await Promise.all(some.map(read))).filter((text) => text !== null))
      texts.push(each)
  }
  return texts.join('\n')
}

/** A log in one piece. @throws UserError if it says that it has more rows than it shows: half a log accuses the innocent */
async function wholePage(url: string, terms: LogTerms | null): Promise<string | null> {
  const text = await page(url)
  const document = text === null ? null : parseWritten(text)
  const rows = rowsIn(document, isRowOf(terms)).length
  if (text === null || !hasMoreRows(document, rows)) return text
  throw new UserError(
    'usage',
    `--log: ${shownPath(url)} shows ${rows} rows and says that there are more. Read it page by page: evidence: { log: { get: "…?page={page}" } }, or give a file.`,
  )
}

/** A log that grows while it is read is read so many times. */
const mostTurns = 3

/** The pages of a log. @throws UserError if a row moves from one page to the next each time: read twice, it would be a double charge */
async function everyPage(url: string, terms: LogTerms | null): Promise<readonly string[]> {
  let moved = 0
  for (let turn = 0; turn < mostTurns; turn++) {
    const pages = await pagesOnce(url, terms)
    moved = pages.findIndex(({ rows }, at) => overlaps(rows, pages[at + 1]?.rows ?? []))
    if (moved < 0) return pages.map(({ text }) => text)
  }
  throw new UserError(
    'usage',
    `--log: ${shownPath(url)} grows while it is read: a row of page ${moved + 1} is on page ${moved + 2}, too. Ask for rows up to a time, or export the log to a file.`,
  )
}

/** Whether the rows at the end of a page, each to its last field, begin the next one. */
function overlaps(rows: readonly string[], next: readonly string[]): boolean {
  const [first] = next
  return rows.some(
    (row, at) => row === first && rows.slice(at).every((each, nth) => each === next[nth]),
  )
}

interface LogPage {
  readonly text: string
  readonly rows: readonly string[]
}

/** The pages from 1 to the first without rows, or with those of the page before: some services answer their last page again. */
async function pagesOnce(url: string, terms: LogTerms | null): Promise<readonly LogPage[]> {
  const pages: LogPage[] = []
  for (let number = 1; number <= most; number++) {
    const text = await page(url.replaceAll(pagePlace, String(number)))
    if (text === null) return pages
    const rows = rowsIn(parseWritten(text), isRowOf(terms)).map((row) => JSON.stringify(row))
    const before = pages.at(-1)?.rows
    if (rows.length === 0 || JSON.stringify(rows) === JSON.stringify(before)) return pages
    pages.push({ text, rows })
  }
  throw new UserError(
    'usage',
    `--log: ${shownPath(url)} has more than ${most} pages. Ask for larger ones, or export the log to a file.`,
  )
}

async function responseIds(store: Store, runIds: readonly string[]): Promise<readonly string[]> {
  const rows = await store.rows<{ id: string }>(
    `SELECT DISTINCT response_id AS id FROM attempts
     WHERE list_contains($1::VARCHAR[], run_id) AND response_id IS NOT NULL LIMIT ${most + 1}`,
    [JSON.stringify(runIds)],
  )
  if (rows.length > most) {
    throw new UserError(
      'usage',
      `--log: more than ${most} answers, and the log is read for each. Export it to a file instead.`,
    )
  }
  if (rows.length === 0) {
    throw new UserError(
      'usage',
      '--log: the log is read by the id of each answer, and no answer of these runs has one, so nothing was asked. Give a place without {response.id}, or a file.',
    )
  }
  return rows.map(({ id }) => id)
}

/** A page of the log; null if the service has no row for the id. */
async function page(url: string): Promise<string | null> {
  const key = process.env.ASSAY_API_KEY ?? ''
  if (key !== '') secrets.add(key)
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` }
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(patienceMs) }).catch(
    (error: Error) => {
      throw new UserError(
        'usage',
        `--log: ${new URL(url).origin} cannot be read: ${error.message}.`,
      )
    },
  )
  if (answer.status === 404) return null
  if (!answer.ok) {
    throw new UserError(
      'usage',
      `--log: ${shownPath(url)} answered ${answer.status}. It needs a key that may read the log, in ASSAY_API_KEY.`,
    )
  }
  const text = await answer.text()
  if (text.trim() === '') return null
  if (parseWritten(text) === undefined) {
    const began = JSON.stringify(text.trim().slice(0, 40))
    throw new UserError(
      'usage',
      `--log: the service's log is not JSON; it begins with ${began}. Correct evidence.log.get in the contract, or give a file.`,
    )
  }
  // In JSON, a line ends outside of texts only.
  return text.replaceAll(/\s*[\r\n]+\s*/g, ' ').trim()
}

function shownPath(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
