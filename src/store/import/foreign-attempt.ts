import { type AttemptRow, attemptColumns, columnNames } from '../../attempt/columns.ts'

/** What a record of another tool tells of one attempt; all else of the row stays empty. */
export type ForeignAttempt = Pick<AttemptRow, 'slot' | 'intendedUs' | 'outcome'> &
  Partial<AttemptRow>

/** A row of ours from what another tool recorded: what it did not record is null, never made up. */
export function attemptFrom(runId: string, record: ForeignAttempt): AttemptRow {
  const empty = Object.fromEntries(
    columnNames.map((name) => {
      const { kind, nullable } = attemptColumns[name]
      return [name, nullable ? null : kind === 'word' ? '' : 0]
    }),
  ) as unknown as AttemptRow
  return { ...empty, phase: 'import', part: 'steady', expects: 'ok', ...record, runId }
}

/** The records of a file, as runs of ours hold them. */
export interface ForeignRun {
  /** Unix microseconds of the run's microsecond 0. */
  readonly startedAtUs: number
  readonly name: string
  readonly attempts: readonly ForeignAttempt[]
  /** Gaps between content events, microseconds, where the tool kept them. */
  readonly gapsUs: readonly number[]
  /** What the tool was asked to do. */
  readonly settings: Readonly<Record<string, unknown>>
  /** What its records do not hold, in words. */
  readonly lacks: readonly string[]
  readonly rejects: readonly Reject[]
}

export interface Reject {
  readonly line: number
  readonly reason: string
  readonly text: string
}
