import type { LimitedRequest } from './limited-request.ts'

/** Bounds of the offset between Unix time and the clock of the requests: `epoch = request clock + offset`. */
export interface ServiceClock {
  readonly lowUs: number
  readonly highUs: number
}

/**
 * The offset of the service's clock, from its `Date` headers.
 *
 * `Date` is in whole seconds: the service's time at the response was in `[Date, Date + 1 s)`, and the
 * response was in the request's interval. Each response allows an interval of offsets; the result is
 * their intersection. It is narrower than a second once `Date` ticks between responses.
 *
 * @returns null without a `Date`, and if no offset fits all responses: clocks disagree, or `Date` does
 *   not run at the speed of the service's own time
 */
export function serviceClock(requests: Iterable<LimitedRequest>): ServiceClock | null {
  let lowUs = -Infinity
  let highUs = Infinity
  for (const { dateS, fromUs, untilUs } of requests) {
    if (dateS === null) continue
    lowUs = Math.max(lowUs, dateS * 1e6 - untilUs - slackUs)
    highUs = Math.min(highUs, (dateS + 1) * 1e6 - fromUs + slackUs)
  }
  return lowUs <= highUs && Number.isFinite(lowUs) ? { lowUs, highUs } : null
}

/** Servers cache the text of `Date` for a second; the timer that renews it may be late. */
const slackUs = 50_000
