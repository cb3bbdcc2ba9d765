import type { DuckDBAppender } from '@duckdb/node-api'
import type { NumberedRows } from './journal.ts'
import { type Form, forms } from './layout.ts'
import { RowChunk } from './row-chunk.ts'

/** Rows that DuckDB takes at once, without its log, and compresses together. */
export const rowGroupRows = 122_880

export type RowAppenders = Readonly<Record<Form['table'], DuckDBAppender>>

/**
 * Hands rows to DuckDB by the row group, each into the smallest table that holds them. Rows that do not fit end the
 * group and go to the next table, and so do all later rows. Tables are filled one after the other, so DuckDB always
 * has a prefix of the rows, and mixed rows do not end each group early.
 */
export class RowAppender {
  /** Rows handed to DuckDB. */
  flushed = 0
  /** Rows waiting for their row group. */
  waiting = 0
  private readonly appenders: RowAppenders
  private readonly chunks: readonly RowChunk[]
  private form = 0

  constructor(appenders: RowAppenders) {
    this.appenders = appenders
    this.chunks = forms.map((form) => {
      const { columnCount } = appenders[form.table]
      const types = Array.from({ length: columnCount }, (_, at) =>
        appenders[form.table].columnType(at),
      )
      return new RowChunk(form, types)
    })
  }

  /** Appends rows from index `from` on, and hands each full row group to DuckDB. */
  append(numbered: NumberedRows, from: number): void {
    for (let at = from; at < numbered.rows; ) {
      const rows = Math.min(numbered.rows - at, rowGroupRows - this.waiting)
      const chunk = this.chunks[this.form]!.fill(numbered, at, rows)
      if (chunk === null) {
        this.flush()
        this.form++
        continue
      }
      this.appender.appendDataChunk(chunk)
      at += rows
      this.waiting += rows
      if (this.waiting === rowGroupRows) this.flush()
    }
  }

  /** Hands the waiting rows to DuckDB. */
  flush(): void {
    this.appender.flushSync()
    this.flushed += this.waiting
    this.waiting = 0
  }

  /** Flushes and closes the appenders. */
  close(): void {
    this.flush()
    for (const { table } of forms) this.appenders[table].closeSync()
  }

  private get appender(): DuckDBAppender {
    return this.appenders[forms[this.form]!.table]
  }
}
