import { type DuckDBAppender, DuckDBDataChunk, type DuckDBValue } from '@duckdb/node-api'
import { Batch, type BatchMessage, batchRows, nullCount, nullWord } from '../../attempt/batch.ts'
import { attemptColumns, type ColumnName } from '../../attempt/columns.ts'
import { userError } from '../../user/user-error.ts'
import type { Session } from '../session/session.ts'
import { Journal, type NumberedRows } from './journal.ts'
import {
  columnsOf,
  type Form,
  forms,
  rowColumns,
  type SharedTable,
  shared,
  sharedColumnsOf,
  sharedTables,
  type TableColumn,
} from './layout.ts'
import { RowAppender } from './row-appender.ts'
import { SharedValues } from './shared-values.ts'

/** State of one sending thread: its words, and the numbers of its shared values. */
interface Sender {
  readonly words: string[]
  readonly shared: Readonly<Record<SharedTable, SharedValues>>
}

/**
 * Moves batches into DuckDB with one memcpy per column, without DuckDB's own conversions.
 *
 * Shared values get their numbers here; the other columns go through a `RowAppender`. DuckDB receives rows by the row
 * group, and at the end. Until then a journal, if requested, keeps them safe.
 */
export class BatchAppender {
  private readonly rows: RowAppender
  private readonly sharedAppenders: Readonly<Record<SharedTable, DuckDBAppender>>
  private readonly nextNumbers: Record<SharedTable, number>
  private readonly openJournal: (() => Journal) | null
  private journal: Journal | null = null
  private readonly senders = new Map<number, Sender>()
  private readonly numbers: Readonly<Record<SharedTable, Int32Array>> = {
    request_kinds: new Int32Array(batchRows),
    endings: new Int32Array(batchRows),
  }

  private constructor(
    path: string,
    appenders: Readonly<Record<SharedTable | Form['table'], DuckDBAppender>>,
    nextNumbers: Record<SharedTable, number>,
    journalPath: string | null,
  ) {
    this.sharedAppenders = appenders
    this.nextNumbers = nextNumbers
    const firstRequestKind = nextNumbers.request_kinds
    this.openJournal =
      journalPath === null ? null : () => new Journal(journalPath, firstRequestKind)
    for (const table of sharedTables) {
      expectTypes(path, table, appenders[table], sharedColumnsOf(table))
    }
    for (const form of forms) expectTypes(path, form.table, appenders[form.table], columnsOf(form))
    this.rows = new RowAppender(appenders)
    this.holdJournal()
  }

  /** Opens the journal before connections can take every descriptor. The first row says it if that fails again. */
  private holdJournal(): void {
    try {
      this.journal = this.openJournal?.() ?? null
    } catch {
      this.journal = null
    }
  }

  /**
   * @param journalPath where rows are kept until DuckDB has them; null for rows that need not survive a kill
   * @throws UserError when the tables do not match the row type
   */
  static async open(session: Session, journalPath: string | null): Promise<BatchAppender> {
    return new BatchAppender(
      session.path,
      {
        request_kinds: await session.createAppender('request_kinds'),
        endings: await session.createAppender('endings'),
        narrow_rows: await session.createAppender('narrow_rows'),
        attempt_rows: await session.createAppender('attempt_rows'),
      },
      await nextNumbersOf(session),
      journalPath,
    )
  }

  /**
   * Appends the rows of a batch; word codes refer to the list of `sender`.
   * @returns the number of rows
   */
  append(sender: number, message: BatchMessage): number {
    const known = this.senderOf(sender)
    for (const word of message.newWords) known.words.push(word)
    const { rows } = message
    if (rows === 0) return 0
    const batch = new Batch(message.buffer)
    for (const table of sharedTables) {
      const fresh = known.shared[table].number(batch.columns, rows, this.numbers[table])
      if (fresh.length > 0) this.appendShared(table, fresh, batch, known.words)
    }
    const numbered = { batch, rows, ...this.numbers, arenaUsed: arenaUsedOf(batch, rows) }
    const place = this.rows.flushed + this.rows.waiting
    // Rows that the journal cannot take still go to DuckDB.
    let unsafe: unknown = null
    try {
      this.journal ??= this.openJournal?.() ?? null
      this.journal?.write(numbered, place)
    } catch (error) {
      unsafe = error
    }
    const before = this.rows.flushed
    this.rows.append(numbered, 0)
    if (this.rows.flushed > before) {
      // DuckDB has the row group, so the journal restarts with the overflow rows.
      this.journal?.restart()
      if (this.rows.waiting > 0) this.journal?.write(numbered, place)
    }
    if (unsafe !== null) throw unsafe
    return rows
  }

  /** Appends numbered rows from index `from` on, without the journal. */
  appendNumbered(numbered: NumberedRows, from: number): void {
    this.rows.append(numbered, from)
  }

  /** Makes the appended rows safe: in the journal, or in DuckDB without one. */
  flush(): void {
    if (this.journal === null) this.rows.flush()
    else this.journal.sync()
  }

  /** Hands all rows to DuckDB and removes the journal. */
  close(): void {
    this.rows.close()
    for (const table of sharedTables) this.sharedAppenders[table].closeSync()
    this.journal?.remove()
  }

  private senderOf(sender: number): Sender {
    let known = this.senders.get(sender)
    if (known === undefined) {
      const valuesOf = (table: SharedTable) =>
        new SharedValues(shared[table], () => this.nextNumbers[table]++)
      known = {
        words: [],
        shared: { request_kinds: valuesOf('request_kinds'), endings: valuesOf('endings') },
      }
      this.senders.set(sender, known)
    }
    return known
  }

  /** Commits shared values before the rows that refer to them. */
  private appendShared(
    table: SharedTable,
    fresh: readonly number[],
    batch: Batch,
    words: readonly string[],
  ): void {
    const appender = this.sharedAppenders[table]
    const names = shared[table]
    const types = Array.from({ length: names.length + 1 }, (_, at) => appender.columnType(at))
    const chunk = DuckDBDataChunk.create(types, fresh.length)
    chunk.setRows(
      fresh.map((row) => [
        this.numbers[table][row]!,
        ...names.map((name) => cellOf(name, batch.columns[name][row]!, words)),
      ]),
    )
    appender.appendDataChunk(chunk)
    appender.flushSync()
  }
}

const nextNumbers = new WeakMap<Session, Record<SharedTable, number>>()

/** All appenders to a store share one count. */
async function nextNumbersOf(session: Session): Promise<Record<SharedTable, number>> {
  const [found] = await session.rows<Record<SharedTable, number>>(
    `SELECT (SELECT coalesce(max(request_kind) + 1, 0) FROM request_kinds)::INTEGER AS request_kinds,
            (SELECT coalesce(max(ending) + 1, 0) FROM endings)::INTEGER AS endings`,
  )
  const next = nextNumbers.get(session) ?? { request_kinds: 0, endings: 0 }
  for (const table of sharedTables) next[table] = Math.max(next[table], found![table])
  nextNumbers.set(session, next)
  return next
}

function arenaUsedOf(batch: Batch, rows: number): number {
  let used = 0
  for (const name of rowColumns) {
    if (attemptColumns[name].kind !== 'text') continue
    const cells = batch.columns[name]
    for (let row = 0; row < rows; row++) {
      used = Math.max(used, cells[row * 2]! + cells[row * 2 + 1]!)
    }
  }
  return used
}

function cellOf(name: ColumnName, cell: number, words: readonly string[]): DuckDBValue {
  const { kind } = attemptColumns[name]
  if (kind === 'word') return cell === nullWord ? null : words[cell]!
  return kind === 'count' && cell === nullCount ? null : cell
}

function expectTypes(
  path: string,
  table: string,
  appender: DuckDBAppender,
  columns: readonly TableColumn[],
): void {
  const { columnCount } = appender
  const found = Array.from({ length: columnCount }, (_, at) => String(appender.columnType(at)))
  const expected = columns.map(({ type }) => type)
  if (found.join() === expected.join()) return
  throw userError.store(
    `${path}: the table \`${table}\` has the columns ${found.join(', ')}; this Assay writes ${expected.join(', ')}. Use another --db.`,
  )
}
