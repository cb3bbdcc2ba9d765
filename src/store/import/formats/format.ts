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

/** A log that needs no mapping. */
export interface KnownFormat {
  readonly name: string
  /** The service that writes it: the default source. */
  readonly source: string
  /** @param has whether a name occurs in the file's beginning: a column of CSV, or a key of JSON */
  recognises(has: (name: string) => boolean, text: string): boolean
  /** The rows of one JSON document, or of one line. */
  rows(document: Fields): Iterable<NormalRow>
  /** For logs whose lines mean something beside others: reads the documents of a file in their order. */
  reader?(notes: string[]): {
    rows(document: Fields): Iterable<NormalRow>
    /** Adds to the notes once all documents are read. */
    end(): void
  }
  /** Which lines of it are no rows: the import says how many it leaves out. */
  readonly leavesOut?: string
  /**
   * For bills: rows are charges, which add up whatever their width. Says which columns are amounts, or change from one
   * export of the same charge to the next.
   */
  readonly isAmount?: AmountColumns
  /** Which of several lines with one id and one version counts; the last if absent. */
  readonly newest?: 'most output'
  /** Reads what a document says about its other pages. */
  page?(document: Fields): Page | null
  /** Dimensions of sums beside model, key and account; absent for events. */
  readonly dimensions?: readonly string[]
  /** For sources that use ids again. */
  readonly ids?: 'repeat'
  readonly withoutIds?: boolean
  /** Whether rows have a `version`. */
  readonly versions?: boolean
  /** Whether rows have a `type`: a ledger. */
  readonly types?: boolean
  /** How rows have their durations: milliseconds, or the times between which they are. */
  readonly durations?: 'ms' | 'times'
  /** The width of its rows, if they do not say it: `--bucket` names another. */
  readonly needsWidth?: boolean
  /** A column whose values overlap: rows of several of them do not add up. */
  readonly overlapping?: string
  /** What a reader must know about every such file. */
  readonly note?: string
  /** Names that a row may have; others are printed as new. */
  readonly fields: readonly string[]
  /** Those of them without which figures are missing; a row that lacks one of them has changed. */
  readonly needed: readonly string[]
  /** The rows in which those names are; `rows` reads each. */
  items(document: Fields): readonly Fields[]
  /** The sum that a document states, to check its rows: `[stated, of the rows]`. */
  stated?(document: Fields): readonly [string, string] | null
}
