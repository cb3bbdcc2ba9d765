import type { AttemptRow } from '../../../src/attempt/columns.ts'
import type { Evidence } from '../../../src/audit/rule.ts'
import { defaultContract } from '../../../src/contract/default.ts'
import { appendAttempts } from '../../../src/store/attempts/recorder.ts'
import { startRun } from '../../../src/store/runs/runs.ts'
import { openStore } from '../../store/opened.ts'
import { plainRow } from '../../store/plain-row.ts'

/** A row of a plain chat success by default. `atMs` is when it was sent. */
export function rowOf(slot: number, atMs: number, change: Partial<AttemptRow> = {}): AttemptRow {
  const sentUs = atMs * 1000
  const headersUs = change.headersUs ?? sentUs + 1000
  const status = change.status ?? 200
  const isOk = status < 300
  return plainRow(slot, {
    runId: 'run-1',
    phase: 'phase',
    part: 'steady',
    step: 'chat',
    keyFp: 'key-a',
    endpoint: 'chat',
    model: 'svc-k2',
    expects: 'ok',
    intendedUs: sentUs,
    dispatchedUs: sentUs,
    sentUs,
    headersUs,
    doneUs: headersUs,
    closedUs: headersUs,
    outcome: isOk ? 'ok' : 'http_error',
    status,
    errorShape: isOk ? null : 'chat',
    errorCode: status === 429 ? 'rate_limit_exceeded' : null,
    errorType: status === 429 ? 'rate_limit_error' : null,
    ...change,
  })
}

/** Evidence over an in-memory store that holds these rows as one run. */
export async function evidenceOf(rows: readonly AttemptRow[], timeScale = 1): Promise<Evidence> {
  const store = await openStore(':memory:')
  await startRun(store, {
    runId: 'run-1',
    kind: 'run',
    scenario: 'test',
    scenarioJson: '{}',
    seed: 1,
    baseUrl: 'http://127.0.0.1',
    contract: 'svc',
    startedAtUs: Date.UTC(2026, 0, 1) * 1000,
    timeScale,
    assayVersion: '0.0.0',
    machineJson: '{}',
  })
  await appendAttempts(store, rows)
  return { store, runIds: ['run-1'], contract: defaultContract }
}
