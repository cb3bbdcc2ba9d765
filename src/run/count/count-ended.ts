import { flags } from '../../attempt/flags.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import { generates } from '../../contract/request.ts'
import { type Limit, limitUsOf } from '../../measure/limit.ts'
import type { Objectives } from '../../scenario/scenario.ts'
import type { SharedNumbers } from '../crew/shared.ts'
import type { Flight } from '../send/flight.ts'

/**
 * Counts the end of a flight in its phase and step: its outcome and credits, then its times, then, of a success, whether it is good. `measure/standings.ts` defines the counts;
 * test/run/count-ended.test.ts compares these with its SQL.
 */
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
  const meantToSucceed = plan.step.wrong === null
  const aborted = outcome === 'aborted'

  // Credits return only if they were certainly not charged.
  if (outcome === 'http_error') shared.release(flight.credits)
  else counters.credits += flight.credits
  if (outcome === (meantToSucceed ? 'ok' : 'http_error')) shared.succeeded()
  else if (!aborted) {
    counters.failures++
    shared.failed()
  }
  if (outcome !== 'ok' && !aborted) {
    const why =
      outcome === 'http_error'
        ? (attempt.errorCode ?? attempt.errorType ?? '')
        : (attempt.reason ?? outcome)
    counters.error(Number.isNaN(attempt.status) ? why : `${attempt.status} ${why}`.trim())
  }
  if (aborted) return

  const endUs = Number.isNaN(attempt.doneUs) ? attempt.closedUs : attempt.doneUs
  const beganUs = Number.isNaN(attempt.sentUs) ? attempt.dispatchedUs : attempt.sentUs
  const serviceUs = endUs - beganUs
  const responseUs = endUs - flight.intendedUs
  if (outcome === 'http_error' || outcome === 'broken') {
    phase.countFailure(plan.index, serviceUs, responseUs)
  }
  if (!meantToSucceed) return

  counters.judged++
  if (outcome !== 'ok' && outcome !== 'timeout') return
  phase.countSuccess(plan.index, serviceUs, responseUs)
  const { streamed, endpoint } = flight.request
  const withText = !Number.isNaN(attempt.firstContentUs)
  const asStream = streamed && (outcome === 'timeout' || attempt.events > 0 || withText)
  const ttftUs = (withText ? attempt.firstContentUs : endUs) - beganUs
  if (asStream) phase.countTtft(plan.index, ttftUs)
  if (outcome !== 'ok') return

  counters.succeeded++
  if (streamed) phase.countItl(plan.index, flight.itl)
  const { completionTokens } = attempt
  if (!Number.isNaN(completionTokens)) counters.tokens += completionTokens
  const holdsNothing = !withText && (attempt.events > 0 || completionTokens === 0)
  if (generates(endpoint) && holdsNothing) return
  const tpotUs = streamed ? tpotOf(attempt, endpoint) : null
  const met = [
    isWithin(serviceUs, objectives.serviceUs, attempt),
    isWithin(responseUs, objectives.responseUs, attempt),
    isWithin(asStream ? ttftUs : null, objectives.ttftUs, attempt),
    isWithin(tpotUs, objectives.tpotUs, attempt),
  ]
  if (met.includes(false)) return
  if (met.includes(null)) counters.maybeGood++
  else counters.good++
}

/**
 * Whether a time meets an objective; null if that is not known.
 *
 * @param us null for a request that cannot have the time, NaN if it is not known
 */
function isWithin(us: number | null, limit: Limit | null, attempt: Attempt): boolean | null {
  if (limit === null || us === null) return true
  const limitUs = limitUsOf(limit, attempt)
  return Number.isNaN(us) || Number.isNaN(limitUs) ? null : us <= limitUs
}

/** TPOT of a stream in microseconds: null if it has none, NaN if it has one that is not known. */
function tpotOf(attempt: Attempt, endpoint: string): number | null {
  const { choices, firstContentUs, lastContentUs } = attempt
  // False if there is no text.
  if (!(lastContentUs > firstContentUs)) return null
  const streams = endpoint === 'chat' && choices > 1 ? choices : 1
  const textUs = streams > 1 ? attempt.textUs : lastContentUs - firstContentUs
  const further = streamedTokens(attempt) - streams
  return further <= 0 ? null : textUs / further
}

/** Completion tokens that the text of a stream is made of; NaN if it is not known how many. */
function streamedTokens(attempt: Attempt): number {
  const { completionTokens, reasoningTokens, outputImageTokens, contentEvents } = attempt
  if ((attempt.flags & flags.textInPart) !== 0) return Number.NaN
  const images = outputImageTokens > 0 ? outputImageTokens : 0
  if (!(reasoningTokens > 0) || (attempt.flags & flags.reasoning) !== 0) {
    return completionTokens - images
  }
  return contentEvents > 0 ? completionTokens - reasoningTokens - images : Number.NaN
}
