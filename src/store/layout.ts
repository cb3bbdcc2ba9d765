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
 *     askings (asking, run_id, step, model, ...)   endings (ending, outcome, status, ...)
 *                     ▲                                        ▲
 *                     └──── attempt_rows (asking, ending, slot, sent_us, ...)
 *                           narrow_rows, plain_rows: the same, smaller
 *
 * The view `attempts` puts them together again: readers know nothing else.
 */
export const shared = {
  askings: [
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

const isShared: ReadonlySet<string> = new Set(Object.values(shared).flat())

/** The columns that a row has to itself: those of `attempt_rows` after `asking` and `ending`. */
export const rowColumns: readonly ColumnName[] = columnNames.filter((name) => !isShared.has(name))

/** How a cell of a row lies in its table. Those that are not as in the row type need a value to fit. */
export type Encoding =
  /** As the row type has it. */
  | 'same'
  /** A whole number of 32 bits, INTEGER. */
  | 'whole'
  /** Microseconds since `intended_us`, in 32 bits, INTEGER. */
  | 'since-intended'
  /** Nowhere: it is null in every row, or 0 where it cannot be null. */
  | 'absent'

/**
 * A table of rows. A cell of 32 bits costs half of what a cell of 64 does, and one that is not there
 * nothing; a field of a STRUCT is not sampled for DuckDB's planner, which is a fifth of the rest.
 */
export interface Form {
  readonly table: 'plain_rows' | 'narrow_rows' | 'attempt_rows'
  readonly encodings: Readonly<Record<ColumnName, Encoding>>
  /** All but the text lies in one STRUCT named `own`, the text before it. */
  readonly struct: boolean
}

const encodingsOf = (encoding: (name: ColumnName) => Encoding) =>
  Object.fromEntries(rowColumns.map((name) => [name, encoding(name)])) as Form['encodings']

function narrow(name: ColumnName): Encoding {
  const { kind } = attemptColumns[name]
  // Its base, and a gap between two clock readings, which has fractions.
  if (name === 'intendedUs' || name === 'itlMaxUs') return 'same'
  if (kind === 'micros') return 'since-intended'
  return kind === 'index' || kind === 'number' ? 'whole' : 'same'
}

/** What only streams and conversations have. */
const absent: ReadonlySet<ColumnName> = new Set([
  'session',
  'turn',
  'firstEventUs',
  'firstContentUs',
  'lastContentUs',
  'events',
  'contentEvents',
  'contentReads',
  'itlMaxUs',
])

/** The tables that hold rows, the smallest first; the last one holds any row. */
export const forms: readonly Form[] = [
  {
    table: 'plain_rows',
    encodings: encodingsOf((name) => (absent.has(name) ? 'absent' : narrow(name))),
    struct: true,
  },
  { table: 'narrow_rows', encodings: encodingsOf(narrow), struct: true },
  { table: 'attempt_rows', encodings: encodingsOf(() => 'same'), struct: false },
]

/** The columns that a form has, and their types in DuckDB, in the order of its table. */
export function columnsOf(form: Form): readonly (readonly [name: string, type: string])[] {
  const numbers = [
    ['asking', 'INTEGER'],
    ['ending', 'INTEGER'],
  ] as const
  const own = rowColumns.filter((name) => form.encodings[name] !== 'absent')
  const typed = own.map((name) => [sqlName(name), typeOf(form, name)] as const)
  if (!form.struct) return [...numbers, ...typed]
  const isText = ([, type]: readonly [string, string]) => type === 'VARCHAR'
  const fields = [...numbers, ...typed.filter((column) => !isText(column))]
  const struct = `STRUCT(${fields.map(([name, type]) => `"${name}" ${type}`).join(', ')})`
  return [...typed.filter(isText), ['own', struct]]
}

function typeOf(form: Form, name: ColumnName): string {
  return form.encodings[name] === 'same' ? sqlTypes[attemptColumns[name].kind] : 'INTEGER'
}
