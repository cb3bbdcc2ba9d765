import type { DuckDBAppender } from '@duckdb/node-api'
import type { NumberedRows } from './journal.ts'
import { type Form, forms } from './layout.ts'
import { RowChunk } from './row-chunk.ts'

/** Rows that DuckDB takes at once, past its log: what it compresses together. */
export const rowGroupRows = 122_880

export type RowAppenders = Readonly<Record<Form['table'], DuckDBAppender>>

/**
 * Gives DuckDB rows by the row group, each into the smallest table that holds them. Rows that do not
 * fit end the group and take the next table, and so do all after them: tables are filled one after
 * the other, so DuckDB always has a first part of the rows, and a mixture does not end group after
 * group before it is full.
 */
export class RowAppender {
  /** Rows that DuckDB has. */
  flushed = 0
  /** Rows that wait for their row group. */
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

  /** Appends rows from `from` on, and hands each full row group to DuckDB. */
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

  /** Gives DuckDB what waits. */
  flush(): void {
    this.appender.flushSync()
    this.flushed += this.waiting
    this.waiting = 0
  }

  /** The same, and lets go of the tables. */
  close(): void {
    this.flush()
    for (const { table } of forms) this.appenders[table].closeSync()
  }

  private get appender(): DuckDBAppender {
    return this.appenders[forms[this.form]!.table]
  }
}
