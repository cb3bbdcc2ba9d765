import { type AttemptRow, attemptColumns, columnNames } from '../../attempt/columns.ts'

/** An attempt as another tool recorded it. */
export type ForeignAttempt = Pick<AttemptRow, 'slot' | 'intendedUs' | 'outcome'> &
  Partial<AttemptRow>

/**
 * Makes a row. Values that the tool did not record are null. Columns that are never null are then 0 or empty, such as `events`
 * and `streamed`, so a tool whose runs have events must give them. Each request counts as one that is to succeed, in the steady part.
 */
export function attemptFrom(runId: string, record: ForeignAttempt): AttemptRow {
  const empty = Object.fromEntries(
    columnNames.map((name) => {
      const { kind, nullable } = attemptColumns[name]
      return [name, nullable ? null : kind === 'word' ? '' : 0]
    }),
  ) as unknown as AttemptRow
  return { ...empty, phase: 'import', part: 'steady', expects: 'ok', ...record, runId }
}

const longestReason = 120

/** The last line of a message, which has the kind of error: the message can hold anything. */
export const lastLine = (message: string | null, otherwise: string) =>
  message?.trim().split('\n').at(-1)?.slice(0, longestReason) || otherwise

/** Records of one run in a file. */
export interface ForeignRun {
  /** Unix microseconds of microsecond 0 of the run. */
  readonly startedAtUs: number
  readonly name: string
  readonly attempts: readonly ForeignAttempt[]
  /** Gaps between content events, microseconds, if the tool kept them. */
  readonly itlUs: readonly number[]
  /** The tool's settings. */
  readonly settings: Readonly<Record<string, unknown>>
  /** What the records lack, in words. */
  readonly lacks: readonly string[]
  readonly rejects: readonly Reject[]
}

export interface Reject {
  readonly line: number
  readonly reason: string
  readonly text: string
}
