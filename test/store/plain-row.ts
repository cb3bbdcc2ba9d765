import { type AttemptRow, attemptColumns, columnNames } from '../../src/attempt/columns.ts'

/** The emptiest row that the row type allows, with changes. */
export function plainRow(slot: number, change: Partial<AttemptRow> = {}): AttemptRow {
  const empty = Object.fromEntries(
    columnNames.map((name) => {
      const { kind, nullable } = attemptColumns[name]
      return [name, nullable ? null : kind === 'word' ? '' : 0]
    }),
  ) as unknown as AttemptRow
  return { ...empty, runId: 'a-run', slot, outcome: 'ok', ...change }
}
