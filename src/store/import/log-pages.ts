import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { largest } from '../../user/extremes.ts'
import { jsonDocuments } from './formats/documents.ts'
import type { KnownFormat, Page } from './formats/format.ts'
import { isJson, knownFormat } from './recognised-log.ts'
import { decodedFile } from './whole/decoded-file.ts'

/** What to say of pages of a list without the rest of it; null if all are there. */
export function missingPage(
  pages: readonly { readonly file: string; readonly page: Page }[],
): string | null {
  const wants = '. Import all files of it together, or add --partial.'
  const numbered = pages.filter(({ page }) => page.pages !== undefined && page.pages > 1)
  const most = largest(
    numbered.map(({ page }) => page.pages!),
    0,
  )
  const there = new Set(numbered.map(({ page }) => page.number ?? 1))
  for (let number = 1; number <= most; number++) {
    if (there.has(number)) continue
    const { file, page } = numbered[0]!
    return `${file} is page ${page.number ?? 1} of ${most}: page ${number} is missing${wants}`
  }
  const last = pages.filter(({ page }) => page.hasMore === false).length
  for (const [at, { file, page }] of pages.entries()) {
    if (page.hasMore !== true || page.pages !== undefined) continue
    // Files of one list may be given in any order.
    if (pages[at + 1] === undefined && (last !== 1 || pages.length === 1)) {
      return `${file} is page ${at + 1}: its next page is missing. Import both files together, or add --partial.`
    }
  }
  const counted = pages.filter(({ page }) => page.total !== undefined && page.pages === undefined)
  const total = largest(
    counted.map(({ page }) => page.total!),
    0,
  )
  const rows = counted.reduce((sum, { page }) => sum + page.rows, 0)
  return rows < total ? `${counted[0]!.file} has ${rows} of ${total} rows${wants}` : null
}

/**
 * Groups the files of a command whose pages belong to one list: consecutive files of one format, of which one says that
 * another page follows. Other files are groups of their own.
 */
export async function pageGroups(
  files: readonly string[],
): Promise<readonly (readonly string[])[]> {
  if (files.length < 2) return files.map((file) => [file])
  const scratch = mkdtempSync(join(tmpdir(), 'assay-pages-'))
  const copy = join(scratch, 'text')
  const groups: { files: string[]; format: KnownFormat | null; open: boolean }[] = []
  for (const file of files) {
    const { format, open, isPart } = await pagesIn(file, copy)
    const last = groups.at(-1)
    if (last?.open === true && format !== null && last.format === format) {
      last.files.push(file)
      last.open = isPart || open
    } else groups.push({ files: [file], format, open: isPart || open })
  }
  rmSync(scratch, { recursive: true })
  return groups.map((group) => group.files)
}

interface PagesIn {
  readonly format: KnownFormat | null
  /** Whether another page follows. */
  readonly open: boolean
  /** Whether it is one of several numbered pages. */
  readonly isPart: boolean
}

/** @param copy where a compressed file is unpacked */
async function pagesIn(file: string, copy: string): Promise<PagesIn> {
  const none = { format: null, open: false, isPart: false }
  if (!existsSync(file)) return none
  try {
    const { path } = await decodedFile(file, copy)
    const format = isJson(path) ? knownFormat(path) : null
    if (format?.page === undefined) return none
    const pages = [...jsonDocuments(path)].flatMap((document) =>
      'unread' in document ? [] : [format.page!(document)],
    )
    const page = pages.at(-1)
    return {
      format,
      open: page?.hasMore === true,
      isPart: (page?.pages ?? 1) > 1 || (page?.total !== undefined && page.rows < page.total),
    }
  } catch {
    // A damaged file gets its error when it is imported.
    return none
  }
}
