import { type ColumnName, columnNames } from '../attempt/columns.ts'

/**
 * How attempts lie in the store. What many of them share is kept once: how they were asked, and how
 * they ended. A row holds two numbers for it, and what is its own.
 *
 *     askings (asking, run_id, step, model, ...)   endings (ending, outcome, status, ...)
 *                     ▲                                        ▲
 *                     └──── attempt_rows (asking, ending, slot, sent_us, ...)
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

/** The columns of `attempt_rows` after `asking` and `ending`. */
export const rowColumns: readonly ColumnName[] = columnNames.filter((name) => !isShared.has(name))
