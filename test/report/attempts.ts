import { type AttemptRow, attemptColumns, columnNames } from '../../src/attempt/columns.ts'
import { endRun, startRun } from '../../src/store/runs/runs.ts'
import type { Store } from '../store/opened.ts'

/** 2026-11-01 00:00 UTC, in microseconds. */
export const novemberUs = Date.UTC(2026, 10, 1) * 1000

/** A successful plain chat of 100 ms at `slot` seconds; every field can be changed. */
export function attempt(slot: number, change: Partial<AttemptRow> = {}): AttemptRow {
  const empty = Object.fromEntries(
    columnNames.map((name) => {
      const { kind, nullable } = attemptColumns[name]
      return [name, nullable ? null : kind === 'word' ? '' : 0]
    }),
  ) as unknown as AttemptRow
  const at = slot * 1e6
  return {
    ...empty,
    runId: 'a',
    slot,
    phase: 'main',
    part: 'steady',
    step: 'chat',
    endpoint: 'chat',
    model: 'svc-k2',
    expects: 'ok',
    keyFp: '0123456789ab',
    account: 'main',
    intendedUs: at,
    dispatchedUs: at + 10,
    sentUs: at + 20,
    headersUs: at + 90_000,
    doneUs: at + 100_020,
    closedUs: at + 100_020,
    outcome: 'ok',
    status: 200,
    promptTokens: 10,
    cachedTokens: null,
    completionTokens: 20,
    totalTokens: 30,
    ...change,
  }
}

/** Enters a run that ended, with all rows. */
export async function enterEndedRun(store: Store, runId = 'a', change: object = {}): Promise<void> {
  await enterRun(store, runId, change)
  await endRun(store, runId, {
    endedUs: 0,
    attemptCountsJson: '{}',
    verdict: 'valid',
    verdictJson: '[]',
  })
}

/** Enters the run of the attempts; it has not ended. */
export async function enterRun(store: Store, runId = 'a', change: object = {}): Promise<void> {
  await startRun(store, {
    runId,
    kind: 'run',
    scenario: 'quick',
    scenarioJson: '{}',
    seed: 1,
    baseUrl: 'http://127.0.0.1:1',
    contract: 'svc',
    startedAtUs: novemberUs,
    timeScale: 1,
    assayVersion: '0.1.0',
    machineJson: '{"cores":2}',
    ...change,
  })
}
