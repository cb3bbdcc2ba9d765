import type { Attempt } from '../client/attempt.ts'
import type { Objectives } from '../scenario/scenario.ts'
import type { Flight } from './flight.ts'
import type { SharedNumbers } from './shared.ts'

/** Enters how a flight ended into the counts of its phase and step. */
export function countEnded(
  flight: Flight,
  attempt: Attempt,
  objectives: Objectives,
  shared: SharedNumbers,
): void {
  const { phase, plan } = flight
  const counters = phase.countersOf(plan.index)
  const { outcome } = attempt
  counters.ended(outcome)
  const expected = plan.step.wrong === null ? 'ok' : 'http_error'
  const leftOnPurpose = outcome === 'aborted'
  // What certainly was not charged is given back; what may have been stays spent.
  if (outcome === 'http_error') shared.release(flight.credits)
  else counters.credits += flight.credits
  if (outcome === expected) shared.succeeded()
  else if (!leftOnPurpose) {
    counters.failures++
    shared.failed()
  }
  if (outcome !== 'ok' && !leftOnPurpose) {
    counters.error(
      Number.isNaN(attempt.status) || outcome !== 'http_error'
        ? (attempt.reason ?? outcome)
        : `${attempt.status} ${attempt.errorCode ?? attempt.errorType ?? ''}`.trim(),
    )
  }
  const endUs = Number.isNaN(attempt.doneUs) ? attempt.closedUs : attempt.doneUs
  const response = endUs - flight.intendedUs
  const service = endUs - (Number.isNaN(attempt.sentUs) ? attempt.dispatchedUs : attempt.sentUs)
  // A timeout is at least its deadline: it stands among the successes, censored.
  if (outcome === 'ok' || outcome === 'timeout') phase.countSuccess(plan.index, service, response)
  else if (!leftOnPurpose) phase.countFailure(plan.index, service, response)
  if (outcome !== 'ok') {
    if (plan.step.wrong === null && !leftOnPurpose) counters.judged++
    return
  }
  if (!Number.isNaN(attempt.completionTokens)) counters.tokens += attempt.completionTokens
  const streamed = flight.request.streamed && !Number.isNaN(attempt.firstContentUs)
  const ttft = attempt.firstContentUs - attempt.sentUs
  if (streamed) phase.countTtft(plan.index, ttft)
  const tpot =
    (attempt.lastContentUs - attempt.firstContentUs) / Math.max(1, attempt.completionTokens - 1)
  counters.judged++
  const misses =
    service > (objectives.serviceUs ?? Infinity) ||
    response > (objectives.responseUs ?? Infinity) ||
    (streamed && ttft > (objectives.ttftUs ?? Infinity)) ||
    (streamed && tpot > (objectives.tpotUs ?? Infinity))
  if (!misses) counters.good++
}
