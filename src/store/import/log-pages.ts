import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { largest } from '../../user/extremes.ts'
import { jsonDocuments } from './formats/documents.ts'
import type { KnownFormat, Page } from './formats/format.ts'
import { isJson, knownFormat } from './recognised-log.ts'
import { decodedFile } from './whole/decoded-file.ts'

/** A page, and the file that has it. */
interface FiledPage {
  readonly file: string
  readonly page: Page
}

/** What to say of pages of a list without the rest of it; null if all are there. */
export function missingPage(pages: readonly FiledPage[]): string | null {
  return missingNumber(pages) ?? missingEnd(pages) ?? missingRows(pages)
}

const remedy = '. Import all files of it together, or add --partial.'

/** Of pages with numbers, each one must be there. */
function missingNumber(pages: readonly FiledPage[]): string | null {
  const numbered = pages.filter(({ page }) => (page.pages ?? 1) > 1)
  const count = largest(
    numbered.map(({ page }) => page.pages!),
    0,
  )
  const numbers = new Set(numbered.map(({ page }) => page.number ?? 1))
  for (let number = 1; number <= count; number++) {
    if (numbers.has(number)) continue
    const { file, page } = numbered[0]!
    return `${file} is page ${page.number ?? 1} of ${count}: page ${number} is missing${remedy}`
  }
  return null
}

/** Of pages that only say whether another follows, the last one must be there. One list may be in any order. */
function missingEnd(pages: readonly FiledPage[]): string | null {
  const last = pages.at(-1)
  if (last === undefined || !isFollowed(last.page) || endsOf(pages) === 1) return null
  return `${last.file} is page ${pages.length}: its next page is missing. Import all files of one list together, its last page last, or add --partial.`
}

const isFollowed = ({ hasMore, pages }: Page) => hasMore === true && pages === undefined

const endsOf = (pages: readonly { readonly page: Page | null }[]) =>
  pages.filter(({ page }) => page?.hasMore === false).length

/** Of pages that say how many rows their list has, all rows must be there. */
function missingRows(pages: readonly FiledPage[]): string | null {
  const counted = pages.filter(({ page }) => page.total !== undefined && page.pages === undefined)
  const total = largest(
    counted.map(({ page }) => page.total!),
    0,
  )
  const rows = counted.reduce((sum, { page }) => sum + page.rows, 0)
  return rows < total ? `${counted[0]!.file} has ${rows} of ${total} rows${remedy}` : null
}

/**
 * Groups the files of a command whose pages belong to one list. They follow each other, and are of one format. A page that
 * says that another follows takes the next file into its group, and so does a page with a number, or with some of its
 * list's rows. Files with one last page are one list in any order. Other files are groups of their own.
 */
export async function pageGroups(
  files: readonly string[],
): Promise<readonly (readonly string[])[]> {
  if (files.length < 2) return files.map((file) => [file])
  const scratch = mkdtempSync(join(tmpdir(), 'assay-pages-'))
  const copy = join(scratch, 'text')
  const neighbours: LogFile[][] = []
  for (const file of files) {
    const read = await readLast(file, copy)
    const before = neighbours.at(-1)
    if (read.format !== null && before?.[0]?.format === read.format) before.push(read)
    else neighbours.push([read])
  }
  rmSync(scratch, { recursive: true })
  return neighbours.flatMap(listsOf).map((list) => list.map(({ file }) => file))
}

/** A log, and the last page in it. */
interface LogFile {
  readonly file: string
  /** Null for a log without pages. */
  readonly format: KnownFormat | null
  readonly page: Page | null
}

/** @param files neighbours of one format */
function listsOf(files: readonly LogFile[]): readonly (readonly LogFile[])[] {
  const lists: LogFile[][] = []
  for (const each of files) {
    const before = lists.at(-1)
    if (before !== undefined && takesNext(before.at(-1)!)) before.push(each)
    else lists.push([each])
  }
  const isCut = files.some(({ page }) => page !== null && isFollowed(page))
  const endsOpen = takesNext(lists.at(-1)!.at(-1)!)
  return isCut && endsOpen && endsOf(files) === 1 ? [files] : lists
}

function takesNext({ page }: LogFile): boolean {
  if (page === null) return false
  const isNumbered = (page.pages ?? 1) > 1
  const hasSome = page.total !== undefined && page.rows < page.total
  return page.hasMore === true || isNumbered || hasSome
}

/** @param copy where a compressed file is unpacked */
async function readLast(file: string, copy: string): Promise<LogFile> {
  const other = { file, format: null, page: null }
  if (!existsSync(file)) return other
  try {
    const { path } = await decodedFile(file, copy)
    const format = isJson(path) ? knownFormat(path) : null
    if (format?.page === undefined) return other
    const pages = [...jsonDocuments(path)].flatMap((document) =>
      'unread' in document ? [] : [format.page!(document)],
    )
    return { file, format, page: pages.at(-1) ?? null }
  } catch {
    // A damaged file gets its error when it is imported.
    return other
  }
}
