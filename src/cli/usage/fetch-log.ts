import type { LogTerms } from '../../contract/prices.ts'
import type { Store } from '../../store/session/open.ts'
import { userError } from '../../user/user-error.ts'
import { shownPath } from './log-answer.ts'
import { type LogPage, logPage } from './log-page.ts'

const idPlace = '{response.id}'
const cursorPlace = '{cursor}'
const offsetPlace = '{offset}'
/** `{page}` counts from 1, `{page:0}` from 0. */
const pagePlace = /\{page(?::(\d+))?\}/

/** Requests at once, and in all: a log by id needs one for each answer, a log in pages one for each page. */
const [atOnce, most] = [4, 5_000]
const usualPatienceMs = 30_000

/**
 * The service's own log of some runs, from the place that the contract names: one request for each answer if the place has
 * `{response.id}`, else one for each page. The next page is at the link that a page has, or at the place with `{page}`, `{offset}` or
 * `{cursor}`. The key is that of ASSAY_API_KEY.
 *
 * @param patienceMs how long an answer may take
 * @returns one document a line, as the service wrote it: `readPriceLog` reads pages and rows alike
 * @throws UserError if the contract names no place, nothing can be asked, the service refuses, or a part of the log is missing: half
 *   a log accuses the innocent
 */
export async function fetchLog(
  store: Store,
  runIds: readonly string[],
  terms: LogTerms | null,
  baseUrl: string,
  patienceMs = usualPatienceMs,
): Promise<string> {
  const get = terms?.get
  if (get == null) {
    throw userError.usage(
      '--log: the contract does not say where the log is. Add evidence: { log: { get: "/spend/logs?request_id={response.id}" } }, or give a file.',
    )
  }
  const url = baseUrl.replace(/\/$/, '') + get
  const read = (address: string) => logPage(address, terms, patienceMs)
  const pages = isLogById(terms)
    ? await pagesById(url, await responseIds(store, runIds), read)
    : await everyPage(url, read)
  return pages
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n')
}

/** Whether a log is read by the ids of answers: of an answer without one, nothing is read. */
export const isLogById = (terms: LogTerms | null): boolean => terms?.get?.includes(idPlace) === true

type Read = (url: string) => Promise<LogPage | null>

/** What the log has of each answer; an answer without a row is left out. */
async function pagesById(
  url: string,
  ids: readonly string[],
  read: Read,
): Promise<readonly LogPage[]> {
  const pages: LogPage[] = []
  for (let from = 0; from < ids.length; from += atOnce) {
    const some = ids.slice(from, from + atOnce)
    const found = await Promise.all(
      some.map((id) => read(url.replaceAll(idPlace, encodeURIComponent(id)))),
    )
    for (const page of found) if (page !== null && page.rows.length > 0) pages.push(page)
  }
  if (pages.length > 0) return pages
  throw userError.usage(
    `--log: ${shownPath(url)} has no row for any of ${ids.length} answers. Correct evidence.log.get in the contract, wait until the log is written, or give a file.`,
  )
}

/** A log that grows while it is read is read so many times. */
const mostTurns = 3

/** The pages of a log. @throws UserError if a row moves from one page to the next each time: read twice, it would be a double charge */
async function everyPage(url: string, read: Read): Promise<readonly LogPage[]> {
  let moved = 0
  for (let turn = 0; turn < mostTurns; turn++) {
    const pages = await pagesOnce(url, read)
    moved = pages.findIndex(({ rows }, at) => overlaps(rows, pages[at + 1]?.rows ?? []))
    if (moved < 0) return whole(url, pages)
  }
  throw userError.usage(
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

/** The pages until one without rows, or with those of the page before: some services answer their last page again. */
async function pagesOnce(url: string, read: Read): Promise<readonly LogPage[]> {
  const pages: LogPage[] = []
  const next = addressesOf(url)
  const asked = new Set<string>()
  for (let number = 1; number <= most; number++) {
    const address = next(pages)
    if (address !== null && asked.has(address))
      throw userError.usage(
        `--log: ${shownPath(url)} goes in a circle: page ${number - 1} leads back to one that was read. Export the log to a file.`,
      )
    if (address !== null) asked.add(address)
    const page = address === null ? null : await lastOrNot(address, read)
    if (page === null) {
      if (number > 1) return pages
      throw userError.usage(
        `--log: ${shownPath(url)} answered 404. Correct evidence.log.get in the contract, or give a file.`,
      )
    }
    const { rows, more } = page
    const before = pages.at(-1)
    const isAgain =
      rows.length > 0
        ? JSON.stringify(rows) === JSON.stringify(before?.rows)
        : more.cursor !== null && more.cursor === before?.more.cursor
    const isOver = rows.length === 0 && more.url === null && more.cursor === null && !more.isSaid
    if (isAgain) return pages
    // What leads to a page without rows is followed by none; the rows and pages in all are said beside rows.
    if (isOver && before !== undefined)
      return [...pages, { ...page, text: '', more: { ...before.more, ...nothingMore } }]
    pages.push(page)
    const isLast = more.url === null && more.cursor === null && more.pages === pages.length
    if (isOver || isLast || more.isEnd) return pages
  }
  throw userError.usage(
    `--log: ${shownPath(url)} has more than ${most} pages. Ask for larger ones, or export the log to a file.`,
  )
}

const nothingMore = { url: null, cursor: null, isSaid: false }

/** A page that links to itself is the last one. A cursor that stays may be of rows that go on. */
async function lastOrNot(address: string, read: Read): Promise<LogPage | null> {
  const page = await read(address)
  return page !== null && page.more.url === new URL(address).href
    ? { ...page, more: { ...page.more, url: null } }
    : page
}

/** The address of the next page, by those that were read; null at the end. */
function addressesOf(url: string): (pages: readonly LogPage[]) => string | null {
  const place = pagePlace.exec(url)
  if (place !== null)
    return ({ length }) => url.replaceAll(place[0], String(length + Number(place[1] ?? 1)))
  if (url.includes(offsetPlace)) return (pages) => url.replaceAll(offsetPlace, String(sum(pages)))
  const first = url.includes(cursorPlace) ? withoutCursor(url) : url
  return (pages) => {
    const last = pages.at(-1)
    if (last === undefined) return first
    const { cursor, url: link } = last.more
    if (link !== null || cursor === null || first === url) return link
    return url.replaceAll(cursorPlace, encodeURIComponent(cursor))
  }
}

const sum = (pages: readonly LogPage[]) => pages.reduce((all, { rows }) => all + rows.length, 0)

/** The first page has no cursor: its parameter is left out. */
function withoutCursor(url: string): string {
  const left = url.replace(/[^?&]+=\{cursor\}&?/, '').replaceAll(cursorPlace, '')
  return left.replace(/[?&]$/, '')
}

/** @throws UserError if a part of the log was not shown */
function whole(url: string, pages: readonly LogPage[]): readonly LogPage[] {
  const [rows, last] = [sum(pages), pages.at(-1)!]
  const { total, isSaid, cursor, url: link, pages: count, isEnd } = last.more
  const isOne = !pagePlace.test(url) && !url.includes(offsetPlace)
  const isLeft = isSaid || cursor !== null || link !== null
  const isMore = isLeft || (total ?? 0) > rows || (count ?? 0) > pages.length
  if (isOne && isMore && !isEnd)
    throw userError.usage(
      `--log: ${shownPath(url)} shows ${rows} rows and says that there are more. Read it page by page: evidence: { log: { get: "…?page={page}" } }, or "…?offset={offset}", or "…?after={cursor}"; or give a file.`,
    )
  if (total !== null && total > rows)
    throw userError.usage(
      `--log: ${shownPath(url)} shows ${rows} rows and says that it has ${total}. If its pages count from 0, write {page:0}; else give a file.`,
    )
  const full = isOne && pages.length === 1 && !isToldWhole(last) ? asked(url) : null
  if (full !== null && full.count === rows)
    throw userError.usage(
      `--log: ${shownPath(url)} shows as many rows as it was asked for (${full.name}=${full.count}), so there may be more. Read it page by page: evidence: { log: { get: "…&page={page}" } }, or give a file.`,
    )
  return pages
}

/** Whether a page says that it shows everything. */
const isToldWhole = ({ more, rows }: LogPage) => more.isEnd || more.total === rows.length

/** How many rows an address asks for; null if it does not say. */
function asked(url: string): { readonly name: string; readonly count: number } | null {
  const named = [...new URL(url).searchParams].find(([name]) =>
    /^\$?(?:limit|top|count|size|page_?size|per_?page|max_?results)$/i.test(name),
  )
  const count = Number(named?.[1] ?? '')
  return named !== undefined && Number.isInteger(count) && count > 1
    ? { name: named[0], count }
    : null
}

async function responseIds(store: Store, runIds: readonly string[]): Promise<readonly string[]> {
  const rows = await store.rows<{ id: string }>(
    `SELECT DISTINCT response_id AS id FROM attempts
     WHERE list_contains($1::VARCHAR[], run_id) AND response_id IS NOT NULL LIMIT ${most + 1}`,
    [JSON.stringify(runIds)],
  )
  if (rows.length > most) {
    throw userError.usage(
      `--log: more than ${most} answers, and the log is read for each. Export it to a file instead.`,
    )
  }
  if (rows.length === 0) {
    throw userError.usage(
      '--log: the log is read by the id of each answer, and no answer of these runs has one, so nothing was asked. Give a place without {response.id}, or a file.',
    )
  }
  return rows.map(({ id }) => id)
}
