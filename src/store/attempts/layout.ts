import {
  attemptColumns,
  type ColumnName,
  columnNames,
  sqlName,
  sqlTypes,
} from '../../attempt/columns.ts'
import { words } from '../../user/words.ts'

/**
 * The layout of attempts in the store. Values that many attempts share are stored once: the request's fields and how
 * it ended. A row holds a number for each, and its own values.
 *
 *     request_kinds (request_kind, run_id, step, model, ...)   endings (ending, outcome, status, ...)
 *                     ▲                                        ▲
 *                     └──── attempt_rows (request_kind, ending, slot, sent_us, ...)
 *                           narrow_rows: the same, smaller
 *
 * `attempt-tables.ts` makes the tables from this, and the view `attempts` that joins them: readers know only the view.
 * Columns that are not listed here are a row's own.
 */
export const shared = {
  request_kinds: [
    ...words(
      'runId retry shard phase part step keyFp account endpoint streamed model expects task',
    ),
    ...words('taskTurn'),
  ],
  endings: [
    'outcome',
    'reason',
    'status',
    'errorShape',
    'errorCode',
    'errorType',
    'errorMessage',
    'responseModel',
    'finishReason',
    'choices',
    'doneMarks',
    'unknownMember',
    'unknownEvents',
    // Parts of a usage that few services report, which are null or alike in most rows.
    'cacheReadAudioTokens',
    'cacheWriteTokens',
    'cacheWrite1hTokens',
    'inputAudioTokens',
    'inputImageTokens',
    'outputAudioTokens',
    'outputImageTokens',
    'citationTokens',
    'flags',
    'answer',
  ],
} as const satisfies Record<string, readonly ColumnName[]>

export type SharedTable = keyof typeof shared
export const sharedTables = Object.keys(shared) as readonly SharedTable[]

/** The column with the number of a shared row. */
export const numberOf: Readonly<Record<SharedTable, string>> = {
  request_kinds: 'request_kind',
  endings: 'ending',
}

const isShared: ReadonlySet<string> = new Set(Object.values(shared).flat())

/** A row's own columns: those of `attempt_rows` after `request_kind` and `ending`. */
export const rowColumns: readonly ColumnName[] = columnNames.filter((name) => !isShared.has(name))

/** How a table stores a cell. Encodings other than `same` cannot hold every value. */
export type Encoding =
  /** As in the row type. */
  | 'same'
  /** A whole number of 32 bits, INTEGER. */
  | 'whole'
  /** Microseconds since `intended_us`, in 32 bits, INTEGER. */
  | 'since-intended'

/**
 * A table of rows. A 32-bit cell costs half as much as a 64-bit one. DuckDB's planner does not sample the fields of a
 * STRUCT, which saves a fifth of the rest.
 */
export interface Form {
  readonly table: 'narrow_rows' | 'attempt_rows'
  encodingOf(name: ColumnName): Encoding
  /** Whether all columns but text are in one STRUCT named `own`, after the text. */
  readonly struct: boolean
}

function narrow(name: ColumnName): Encoding {
  const { kind } = attemptColumns[name]
  // `intendedUs` is the base of the others. `itlMaxUs` is a difference of two clock readings, with fractions.
  if (name === 'intendedUs' || name === 'itlMaxUs') return 'same'
  if (kind === 'micros') return 'since-intended'
  return kind === 'index' || kind === 'number' ? 'whole' : 'same'
}

/** The tables that hold rows, smallest first. The last one holds any row. */
export const forms: readonly Form[] = [
  { table: 'narrow_rows', encodingOf: narrow, struct: true },
  { table: 'attempt_rows', encodingOf: () => 'same', struct: false },
]

export interface TableColumn {
  readonly name: string
  /** DuckDB type. */
  readonly type: string
  readonly nullable: boolean
}

export function sharedColumnsOf(table: SharedTable): readonly TableColumn[] {
  return [numberColumn(table), ...shared[table].map((name) => columnAs(name, 'same'))]
}

/** Columns of a form's table, in order. */
export function columnsOf(form: Form): readonly TableColumn[] {
  const numbers = sharedTables.map(numberColumn)
  const own = rowColumns.map((name) => columnAs(name, form.encodingOf(name)))
  if (!form.struct) return [...numbers, ...own]
  const isText = ({ type }: TableColumn) => type === 'VARCHAR'
  const fields = [...numbers, ...own.filter((column) => !isText(column))]
  const struct = `STRUCT(${fields.map(({ name, type }) => `"${name}" ${type}`).join(', ')})`
  return [...own.filter(isText), { name: 'own', type: struct, nullable: true }]
}

const numberColumn = (table: SharedTable): TableColumn => ({
  name: numberOf[table],
  type: 'INTEGER',
  nullable: false,
})

function columnAs(name: ColumnName, encoding: Encoding): TableColumn {
  const { kind, nullable } = attemptColumns[name]
  const type = encoding === 'same' ? sqlTypes[kind] : 'INTEGER'
  return { name: sqlName(name), type, nullable }
}
