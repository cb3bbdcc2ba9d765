import type { LimitedRequest } from './limited-request.ts'

/** Where the service's epoch lies on the clock of the requests: `epoch = request clock + offset`. */
export interface ServiceClock {
  readonly lowUs: number
  readonly highUs: number
}

/**
 * The offset of the service's clock, from its `Date` headers.
 *
 * `Date` is whole seconds: the service's time at the answer lay in `[Date, Date + 1 s)`, and the
 * answer lay in the request's interval, so each answer allows an interval of offsets and all of
 * them their intersection. It gets narrower than a second once a tick was seen.
 *
 * @returns null without a `Date`, and where no offset fits all: clocks that disagree, or a `Date`
 *   that does not run at the speed of the service's own time
 */
export function serviceClock(requests: readonly LimitedRequest[]): ServiceClock | null {
  let lowUs = -Infinity
  let highUs = Infinity
  for (const { dateS, fromUs, untilUs } of requests) {
    if (dateS === null) continue
    lowUs = Math.max(lowUs, dateS * 1e6 - untilUs - slackUs)
    highUs = Math.min(highUs, (dateS + 1) * 1e6 - fromUs + slackUs)
  }
  return lowUs <= highUs && Number.isFinite(lowUs) ? { lowUs, highUs } : null
}

/** Servers keep the text of `Date` for a second and renew it by a timer, which may be late. */
const slackUs = 50_000
