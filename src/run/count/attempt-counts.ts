import type { Outcome } from '../../attempt/outcome.ts'

/** The count of each outcome. */
const counts = {
  ok: 'ok',
  http_error: 'httpError',
  broken: 'broken',
  timeout: 'timeout',
  aborted: 'aborted',
  not_sent: 'notSent',
} as const satisfies Record<Outcome, string>

const countNames = ['planned', 'sent', ...Object.values(counts)] as const

/** planned = sent + notSent, sent = ok + httpError + broken + timeout + aborted. */
export type AttemptCounts = Readonly<Record<(typeof countNames)[number], number>>

const countsBy = (of: (name: keyof AttemptCounts) => number) =>
  Object.fromEntries(countNames.map((name) => [name, of(name)])) as AttemptCounts

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
  /** Successes that are not good, and that may be: an objective is not known to be met, or the answer is unchecked; all else is met. */
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
    this[counts[outcome]]++
    if (outcome !== 'not_sent') this.sent++
  }

  /** Counts an error. A service may invent codes endlessly, so codes beyond the first kinds count as one. */
  error(code: string): void {
    const counted = this.errors.get(code)
    const kind = counted === undefined && this.errors.size >= mostErrorKinds ? otherErrors : code
    this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1)
  }
}

export const noCounts = countsBy(() => 0)

export const addCounts = (a: AttemptCounts, b: AttemptCounts) =>
  countsBy((name) => a[name] + b[name])

/** A sentence for each contradiction in the counts; empty if they add up. @param rows null if they cannot be read */
export function countIssues(counts: AttemptCounts, rows: AttemptCounts | null): readonly string[] {
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
  for (const name of countNames) {
    if (rows !== null && counts[name] !== rows[name]) {
      issues.push(`${name}: ${counts[name]} counted while sending, ${rows[name]} rows in the store`)
    }
  }
  return issues
}
