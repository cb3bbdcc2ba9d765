import {
  attemptColumns,
  type ColumnName,
  columnNames,
  sqlName,
  sqlTypes,
} from '../attempt/columns.ts'

/**
 * How attempts lie in the store. What many of them share is kept once: how they were asked, and how
 * they ended. A row holds two numbers for it, and what is its own.
 *
 *     request_kinds (request_kind, run_id, step, model, ...)   endings (ending, outcome, status, ...)
 *                     ▲                                        ▲
 *                     └──── attempt_rows (request_kind, ending, slot, sent_us, ...)
 *                           narrow_rows: the same, smaller
 *
 * `attempt-tables.ts` makes the tables from this, and the view `attempts` that puts them together
 * again: readers know nothing else. A column that is not listed here is a row's own.
 */
export const shared = {
  request_kinds: [
    'runId',
    'retry',
    'shard',
    'phase',
    'part',
    'step',
    'keyFp',
    'account',
    'endpoint',
    'streamed',
    'model',
    'expects',
  ],
  endings: [
    'outcome',
    'reason',
    'status',
    'errorShape',
    'errorCode',
    'errorType',
    'responseModel',
    'finishReason',
    'choices',
    'doneMarks',
    'flags',
  ],
} as const satisfies Record<string, readonly ColumnName[]>

export type SharedTable = keyof typeof shared
export const sharedTables = Object.keys(shared) as readonly SharedTable[]

/** The column by which a row names its row of a shared table. */
export const numberOf: Readonly<Record<SharedTable, string>> = {
  request_kinds: 'request_kind',
  endings: 'ending',
}

const isShared: ReadonlySet<string> = new Set(Object.values(shared).flat())

/** The columns that a row has to itself: those of `attempt_rows` after `request_kind` and `ending`. */
export const rowColumns: readonly ColumnName[] = columnNames.filter((name) => !isShared.has(name))

/** How a cell of a row lies in its table. Those that are not as in the row type need a value to fit. */
export type Encoding =
  /** As the row type has it. */
  | 'same'
  /** A whole number of 32 bits, INTEGER. */
  | 'whole'
  /** Microseconds since `intended_us`, in 32 bits, INTEGER. */
  | 'since-intended'

/**
 * A table of rows. A cell of 32 bits costs half of what a cell of 64 does; a field of a STRUCT is not
 * sampled for DuckDB's planner, which is a fifth of the rest.
 */
export interface Form {
  readonly table: 'narrow_rows' | 'attempt_rows'
  encodingOf(name: ColumnName): Encoding
  /** All but the text lies in one STRUCT named `own`, the text before it. */
  readonly struct: boolean
}

function narrow(name: ColumnName): Encoding {
  const { kind } = attemptColumns[name]
  // Its base, and a gap between two clock readings, which has fractions.
  if (name === 'intendedUs' || name === 'itlMaxUs') return 'same'
  if (kind === 'micros') return 'since-intended'
  return kind === 'index' || kind === 'number' ? 'whole' : 'same'
}

/** The tables that hold rows, the smaller first; the last one holds any row. */
export const forms: readonly Form[] = [
  { table: 'narrow_rows', encodingOf: narrow, struct: true },
  { table: 'attempt_rows', encodingOf: () => 'same', struct: false },
]

export interface TableColumn {
  readonly name: string
  /** In DuckDB. */
  readonly type: string
  readonly nullable: boolean
}

/** The columns of a shared table, in order. */
export function sharedColumnsOf(table: SharedTable): readonly TableColumn[] {
  return [numberColumn(table), ...shared[table].map((name) => columnAs(name, 'same'))]
}

/** The columns of a form's table, in order. */
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
