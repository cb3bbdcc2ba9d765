import type { Outcome } from '../../attempt/outcome.ts'

/** planned = sent + notSent, sent = ok + httpError + broken + timeout + aborted. */
export interface AttemptCounts {
  readonly planned: number
  readonly sent: number
  readonly notSent: number
  readonly ok: number
  readonly httpError: number
  readonly broken: number
  readonly timeout: number
  readonly aborted: number
}

const mostErrorKinds = 100
const otherErrors = 'others'

/** Counts of one thread, phase and step; plain data, so threads can exchange them. */
export class StepCounters {
  planned = 0
  sent = 0
  notSent = 0
  ok = 0
  httpError = 0
  broken = 0
  timeout = 0
  aborted = 0
  /** Unexpected ends, except own aborts. */
  failures = 0
  /** Successes that met every objective. */
  good = 0
  /** Successes that are not good, and that may be: of an objective it is not known, and they met every other. */
  maybeGood = 0
  /** Requests meant to succeed that ended, except own aborts. */
  judged = 0
  /** Those of them that did. */
  succeeded = 0
  /** Answers that were judged by what they say, and those of them that are correct. */
  examined = 0
  correct = 0
  credits = 0
  /** What requests cost by the contract, in units of 10^-18 of its currency; 0 without prices. */
  costUnits = 0n
  /** Requests whose cost is not known, if the contract has prices. */
  costUnknown = 0
  tokens = 0
  readonly errors = new Map<string, number>()

  ended(outcome: Outcome): void {
    switch (outcome) {
      case 'ok':
        this.ok++
        break
      case 'http_error':
        this.httpError++
        break
      case 'broken':
        this.broken++
        break
      case 'timeout':
        this.timeout++
        break
      case 'aborted':
        this.aborted++
        break
      case 'not_sent':
        this.notSent++
        return
    }
    this.sent++
  }

  /** Counts an error. A service may invent codes endlessly, so codes beyond the first kinds count as one. */
  error(code: string): void {
    const counted = this.errors.get(code)
    const kind = counted === undefined && this.errors.size >= mostErrorKinds ? otherErrors : code
    this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1)
  }
}

export const noCounts: AttemptCounts = {
  planned: 0,
  sent: 0,
  notSent: 0,
  ok: 0,
  httpError: 0,
  broken: 0,
  timeout: 0,
  aborted: 0,
}

export function addCounts(a: AttemptCounts, b: AttemptCounts): AttemptCounts {
  return {
    planned: a.planned + b.planned,
    sent: a.sent + b.sent,
    notSent: a.notSent + b.notSent,
    ok: a.ok + b.ok,
    httpError: a.httpError + b.httpError,
    broken: a.broken + b.broken,
    timeout: a.timeout + b.timeout,
    aborted: a.aborted + b.aborted,
  }
}

/** A sentence for each contradiction in the counts; empty if they add up. */
export function countIssues(counts: AttemptCounts, rows: AttemptCounts): readonly string[] {
  const issues: string[] = []
  const { planned, sent, notSent, ok, httpError, broken, timeout, aborted } = counts
  if (planned !== sent + notSent) {
    issues.push(`planned ${planned} is not sent ${sent} + not sent ${notSent}`)
  }
  if (sent !== ok + httpError + broken + timeout + aborted) {
    issues.push(
      `sent ${sent} is not ok ${ok} + http_error ${httpError} + broken ${broken} + timeout ${timeout} + aborted ${aborted}`,
    )
  }
  for (const name of Object.keys(noCounts) as (keyof AttemptCounts)[]) {
    if (counts[name] !== rows[name]) {
      issues.push(`${name}: ${counts[name]} counted while sending, ${rows[name]} rows in the store`)
    }
  }
  return issues
}
