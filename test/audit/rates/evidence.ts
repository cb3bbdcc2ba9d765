import type { AttemptRow } from '../../../src/attempt/columns.ts'
import type { Evidence } from '../../../src/audit/rule.ts'
import { defaultContract } from '../../../src/contract/default.ts'
import { appendAttempts } from '../../../src/store/attempts/recorder.ts'
import { startRun } from '../../../src/store/runs/runs.ts'
import { openStore } from '../../store/opened.ts'

/** A row of a plain chat success by default. `atMs` is when it was sent. */
export function rowOf(slot: number, atMs: number, change: Partial<AttemptRow> = {}): AttemptRow {
  const sentUs = atMs * 1000
  const headersUs = change.headersUs ?? sentUs + 1000
  const status = change.status ?? 200
  return {
    runId: 'run-1',
    slot,
    retry: 0,
    shard: 0,
    phase: 'phase',
    part: 'steady',
    step: 'chat',
    session: null,
    turn: null,
    template: null,
    keyFp: 'key-a',
    account: null,
    endpoint: 'chat',
    streamed: 0,
    model: 'svc-k2',
    expects: 'ok',
    intendedUs: sentUs,
    dispatchedUs: sentUs,
    sentUs,
    headersUs,
    firstEventUs: null,
    firstContentUs: null,
    lastContentUs: null,
    doneUs: headersUs,
    closedUs: headersUs,
    outcome: status < 300 ? 'ok' : 'http_error',
    reason: null,
    status,
    errorShape: status < 300 ? null : 'chat',
    errorCode: status === 429 ? 'rate_limit_exceeded' : null,
    errorType: status === 429 ? 'rate_limit_error' : null,
    answer: null,
    task: null,
    taskTurn: null,
    errorMessage: null,
    creditsRemaining: null,
    rateLimit: null,
    rateRemaining: null,
    rateReset: null,
    tokenLimit: null,
    tokenRemaining: null,
    tokenReset: null,
    retryAfter: null,
    dateS: null,
    responseId: null,
    responseModel: null,
    finishReason: null,
    choices: null,
    promptTokens: null,
    cachedTokens: null,
    completionTokens: null,
    totalTokens: null,
    cacheReadAudioTokens: null,
    cacheWriteTokens: null,
    cacheWrite1hTokens: null,
    inputAudioTokens: null,
    inputImageTokens: null,
    reasoningTokens: null,
    outputAudioTokens: null,
    outputImageTokens: null,
    citationTokens: null,
    events: 0,
    contentEvents: 0,
    contentReads: 0,
    unknownEvents: 0,
    unknownMember: null,
    doneMarks: 0,
    itlMaxUs: null,
    textUs: null,
    deadlines: null,
    missedDeadlines: null,
    queueUs: null,
    prefillUs: null,
    decodeUs: null,
    bytesIn: 0,
    flags: 0,
    ...change,
  }
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
