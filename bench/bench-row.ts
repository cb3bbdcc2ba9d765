import { type AttemptRow, attemptColumns, columnNames } from '../src/attempt/columns.ts'

const empty = Object.fromEntries(
  columnNames.map((name) => [name, attemptColumns[name].nullable ? null : 0]),
) as unknown as AttemptRow

/** A draw of 0 to `below - 1` that is the same for the same row and salt. */
function drawn(at: number, salt: number, below: number): number {
  const mixed = Math.imul((at + 1) ^ Math.imul(salt, 0x85ebca6b), 0x9e3779b1)
  return ((mixed ^ (mixed >>> 15)) >>> 0) % below
}

/**
 * Row `at` of a run of 50,000 requests a second on four accounts: three in ten stream, one in fifty
 * is refused. Times are in microseconds.
 */
export function benchRow(at: number): AttemptRow {
  const streamed = drawn(at, 1, 10) < 3
  const refused = drawn(at, 2, 50) === 0
  const account = drawn(at, 3, 4)
  const intendedUs = 1e6 + at * 20
  const sentUs = intendedUs + drawn(at, 4, 900)
  const doneUs = sentUs + 4000 + drawn(at, 5, 60_000)
  const dateS = 1_790_000_000 + Math.floor(doneUs / 1e6)
  const asked = {
    ...empty,
    runId: '20261120-121304-ab12',
    slot: at,
    phase: 'steady',
    part: 'steady',
    step: streamed ? 'chat-stream' : 'chat',
    template: streamed ? 1 : 0,
    keyFp: `0123456789a${account}`,
    account: `account ${account}`,
    endpoint: 'chat',
    streamed: streamed ? 1 : 0,
    model: 'svc-k2',
    expects: 'ok',
    intendedUs,
    dispatchedUs: sentUs - 20,
    sentUs,
    rateLimit: 500,
    rateRemaining: drawn(at, 6, 500),
    rateReset: Math.ceil(dateS / 60) * 60,
    dateS,
  }
  if (refused) {
    return {
      ...asked,
      headersUs: sentUs + 900,
      doneUs: sentUs + 950,
      closedUs: sentUs + 960,
      outcome: 'http_error',
      status: 429,
      errorShape: 'chat',
      errorCode: 'rate_limit_exceeded',
      errorType: 'rate_limit_error',
      retryAfter: drawn(at, 7, 60),
      bytesIn: 130,
      flags: 0b1000_0001,
    }
  }
  return {
    ...asked,
    headersUs: sentUs + 3000,
    firstEventUs: streamed ? sentUs + 3100 : null,
    firstContentUs: streamed ? sentUs + 3200 : doneUs,
    lastContentUs: streamed ? doneUs - 100 : doneUs,
    doneUs,
    closedUs: doneUs + 5,
    outcome: 'ok',
    status: 200,
    creditsRemaining: 1_000_000 - Math.floor(at / 4),
    responseId: `chatcmpl-${drawn(at, 8, 2 ** 31).toString(36)}${drawn(at, 9, 2 ** 31).toString(36)}${at.toString(36)}`,
    responseModel: 'svc-k2',
    finishReason: 'stop',
    choices: 1,
    promptTokens: 40 + drawn(at, 10, 200),
    completionTokens: 20,
    totalTokens: 60 + drawn(at, 10, 200),
    events: streamed ? 22 : 0,
    contentEvents: streamed ? 20 : 0,
    contentReads: streamed ? 20 : 0,
    doneMarks: streamed ? 1 : 0,
    itlMaxUs: streamed ? 900 + drawn(at, 11, 4000) : null,
    bytesIn: 400 + drawn(at, 12, 300),
    flags: streamed ? 0b1_0000_0001 : 0b1000_0001,
  }
}
