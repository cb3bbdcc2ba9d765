import { amountOf, WrittenNumber } from '../../audit/evidence/prices/answer-json.ts'
import type { IsRow } from '../../audit/evidence/prices/log-rows.ts'
import { isObject, type JsonObject } from '../../user/json.ts'
import { userError } from '../../user/user-error.ts'
import { shownPath } from './log-answer.ts'

/** What a page of a log says of the rows that it does not show. */
export interface More {
  /** The address of the next page. */
  readonly url: string | null
  /** What to ask the next page by. */
  readonly cursor: string | null
  /** Rows and pages in all, as the page says; null if it does not. */
  readonly total: number | null
  readonly pages: number | null
  /** Whether it says in a word that there are more. */
  readonly isSaid: boolean
  /** Whether it says that there are no more. */
  readonly isEnd: boolean
}

type Kind = 'total' | 'pages' | 'more' | 'next' | 'cursor' | 'last'

/** Names that services use, in small letters without `_`. */
const names: Readonly<Record<Kind, readonly string[]>> = {
  total: ['total', 'totalcount', 'totalrows', 'totalitems', 'totalresults', 'count'],
  pages: ['totalpages', 'numpages', 'pagecount', 'pages', 'lastpage'],
  more: ['hasmore', 'hasnext', 'hasnextpage', 'more', 'truncated', 'istruncated'],
  next: ['next', 'nexturl', 'nextlink', 'nextpageurl', '@odata.nextlink', 'nextpage'],
  cursor: ['nextcursor', 'nextpagetoken', 'nexttoken', 'continuationtoken', 'nextpage', 'next'],
  last: ['endcursor', 'lastid'],
}

/** @param link the header `Link` of the answer */
export function moreOf(
  url: string,
  documents: readonly unknown[],
  isRow: IsRow,
  link: string,
): More {
  const fields = fieldsOf(documents, isRow)
  const of = (kind: Kind) =>
    names[kind].flatMap((name) => fields.filter((field) => field.name === name))
  const next = [linkIn(link), ...of('next').map(({ value }) => addressIn(value))].find(
    (each) => each !== null,
  )
  const words = of('more').map(({ value }) => value)
  const isSaid = words.includes(true)
  const isNone = words.includes(false) && !isSaid
  const cursor = [...of('cursor'), ...(isSaid ? of('last') : [])]
    .map(({ value }) => cursorIn(value))
    .find((each) => each !== null)
  const firstCount = (kind: 'total' | 'pages') =>
    of(kind)
      .map(({ value }) => countIn(value))
      .find((each) => each !== null) ?? null
  const pages = firstCount('pages')
  const [page] = fields
    .filter(({ name }) => ['page', 'currentpage', 'pagenumber'].includes(name))
    .map(({ value }) => countIn(value))
  return {
    url: next == null ? null : within(url, next),
    cursor: isNone ? null : (cursor ?? null),
    total: firstCount('total'),
    pages,
    isSaid,
    isEnd: isNone || (page != null && pages !== null && page >= pages),
  }
}

interface Field {
  readonly name: string
  readonly value: unknown
}

/** Fields of a page and of the objects in it, two deep. A row has its own fields, which say nothing of the page. */
function fieldsOf(documents: readonly unknown[], isRow: IsRow): readonly Field[] {
  const around = (each: unknown): each is JsonObject =>
    isObject(each) && !(each instanceof WrittenNumber) && !isRow(each)
  const top = documents.filter(around)
  const inner = top.flatMap((each) => Object.values(each)).filter(around)
  const deep = inner.flatMap((each) => Object.values(each)).filter(around)
  return [...top, ...inner, ...deep].flatMap((each) =>
    Object.entries(each).map(([name, value]) => ({
      name: name.replaceAll('_', '').toLowerCase(),
      value,
    })),
  )
}

/** `</log?p=2>; rel="next"`. */
function linkIn(header: string): string | null {
  const links = [...header.matchAll(/<([^>]*)>([^<]*)/g)]
  return links.find(([, , of]) => /\brel="?[^",;]*\bnext\b/i.test(of!))?.[1] ?? null
}

function addressIn(value: unknown): string | null {
  const text = isObject(value) ? value.href : value
  return typeof text === 'string' && /^(?:https?:\/\/|[/?])./.test(text) ? text : null
}

function cursorIn(value: unknown): string | null {
  if (value instanceof WrittenNumber) return value.text
  return typeof value === 'string' && value !== '' && addressIn(value) === null ? value : null
}

/** A whole number; a sum of money has decimals. */
function countIn(value: unknown): number | null {
  const amount = amountOf(value)
  return amount === null || !/^\d{1,15}$/.test(amount.text) ? null : Number(amount.text)
}

/** @throws UserError if the next page is at another service: the key is for this one */
function within(url: string, next: string): string {
  const to = new URL(next, url)
  if (to.origin === new URL(url).origin) return to.href
  throw userError.usage(
    `--log: ${shownPath(url)} continues at another address, ${to.origin}, and the key is not sent there. Give a file.`,
  )
}
