import { type AttemptRow, attemptColumns, columnNames } from '../../src/attempt/columns.ts'
import type { RunStart } from '../../src/store/runs/runs.ts'

const blank = Object.fromEntries(
  columnNames.map((name) => {
    const { kind, nullable } = attemptColumns[name]
    return [name, nullable ? null : kind === 'word' ? '' : 0]
  }),
) as unknown as AttemptRow

/** A success of plain chat in the run `r`, with these changes. */
export function attempt(change: Partial<AttemptRow>): AttemptRow {
  return {
    ...blank,
    runId: 'r',
    phase: 'steady',
    part: 'steady',
    step: 'chat',
    endpoint: 'chat',
    model: 'svc-k2',
    expects: 'ok',
    outcome: 'ok',
    status: 200,
    ...change,
  }
}

/** The entry of a run with no further details. */
export function startOf(runId: string): RunStart {
  return {
    runId,
    kind: 'run',
    scenario: 's',
    scenarioJson: '{}',
    seed: 1,
    baseUrl: 'http://x',
    contract: 'svc',
    startedAtUs: 0,
    timeScale: 1,
    assayVersion: '0',
    machineJson: '{}',
  }
}
