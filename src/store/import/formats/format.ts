import type { AmountColumns } from '../lines/identity.ts'
import type { Fields, NormalRow } from './row.ts'

/** One page of a list that the service splits. */
export interface Page {
  /** Rows of the list on this page. */
  readonly rows: number
  /** Rows of all pages, if the page says so. */
  readonly total?: number | undefined
  /** Its number from 1, and the number of pages, if it says so. */
  readonly number?: number | undefined
  readonly pages?: number | undefined
  /** Whether another page follows, if it says so. */
  readonly hasMore?: boolean | undefined
}

/** Reads the documents of a file in their order. */
export interface FormatReader {
  rows(document: Fields): Iterable<NormalRow>
  /** Adds to the notes once all documents are read. */
  end(): void
}

/** A log that needs no mapping. */
export interface KnownFormat {
  readonly name: string
  /** The service that writes it: the default source. */
  readonly source: string
  /** @param has whether a name occurs in the file's beginning: a column of CSV, or a key of JSON */
  recognises(has: (name: string) => boolean, text: string): boolean
  /** The items of a JSON document, such as the lines of a page; absent: the document is one. */
  items?(document: Fields): readonly Fields[]
  /** The rows of one item. */
  rows(item: Fields): Iterable<NormalRow>
  /** For logs whose lines mean something beside others, or whose items are no rows by themselves. */
  reader?(notes: string[]): FormatReader
  /** Which lines of it are no rows: the import says how many it leaves out. */
  readonly leavesOut?: string
  /**
   * For bills: rows are charges, which add up whatever their width. Says which columns are amounts, or change from one
   * export of the same charge to the next.
   */
  readonly amountColumns?: AmountColumns
  /** Which of several lines with one id and one version counts; the last if absent. */
  readonly newest?: 'most output'
  /** Reads what a document says about its other pages. */
  page?(document: Fields): Page | null
  /** Dimensions of sums beside model, key and account; absent for events. */
  readonly dimensions?: readonly string[]
  /** Whether the source gives an id to several requests: a line is then told by its id and its time. */
  readonly repeatsIds?: boolean
  /** Whether lines have no ids: they are told by their content. */
  readonly withoutIds?: boolean
  /** Whether rows have a `version`. */
  readonly hasVersions?: boolean
  /** Whether rows have a `type`: a ledger. */
  readonly hasTypes?: boolean
  /** How rows have their durations: milliseconds, or the times between which they are. */
  readonly durations?: 'ms' | 'times'
  /** The width of its rows, if they do not say it: `--bucket` names another. */
  readonly needsWidth?: boolean
  /** A column whose values each count all requests in their own way: rows of several of them do not add up. */
  readonly overlappingColumn?: string
  /** What a reader must know about every such file. */
  readonly note?: string
  /** Names that an item may have, divided by spaces: others are printed as new. Absent: they are not listed. */
  readonly fields?: string
  /** Those of them without which figures are missing; an item that lacks one of them has changed. */
  readonly needed?: readonly string[]
  /** The sum that a document states, to check its rows: `[stated, of the rows]`. */
  stated?(document: Fields): readonly [string, string] | null
}

export const itemsOf = (format: KnownFormat, document: Fields): readonly Fields[] =>
  format.items?.(document) ?? [document]
