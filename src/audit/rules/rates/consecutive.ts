import type { LimitedRequest } from '../../../limits/limited-request.ts'
import { countBelow } from '../../../user/count-below.ts'

/** Two answers of one key with the same limit, one completely after the other. */
export interface Pair {
  readonly before: LimitedRequest
  readonly after: LimitedRequest
  readonly fell: number
  /** Attempts that may have been counted after the first and up to the second, which is one of them. */
  readonly between: number
}

/** A service that is busy may count a request this long after its client left. */
const mostLateUs = 2e6

/** When a request has been counted, if it ever is. */
const countedBy = ({ status, untilUs }: LimitedRequest): number =>
  status === null ? untilUs + mostLateUs : untilUs

/**
 * Each response of an account, with the last earlier one of the same counter and limit that does not overlap.
 *
 * @param requests in order of start
 * @param counterOf the counter that a request is of: its key, if left out
 */
export function* consecutive(
  requests: readonly LimitedRequest[],
  counterOf: (request: LimitedRequest) => string = ({ key }) => key,
): Generator<Pair, void, undefined> {
  const shown = requests.filter(({ limit, remaining }) => limit !== null && remaining !== null)
  const ended = [...shown].sort((a, b) => a.untilUs - b.untilUs)
  const starts = requests.map(({ fromUs }) => fromUs)
  const ends = requests.map(countedBy).sort((a, b) => a - b)
  /** By counter and limit: the last response. */
  const last = new Map<string, Map<number | null, LimitedRequest>>()
  let next = 0
  for (const after of shown) {
    while (next < ended.length && ended[next]!.untilUs <= after.fromUs) {
      const over = ended[next++]!
      const counter = counterOf(over)
      const ofCounter = last.get(counter) ?? new Map<number | null, LimitedRequest>()
      if (ofCounter.size === 0) last.set(counter, ofCounter)
      ofCounter.set(over.limit, over)
    }
    const before = last.get(counterOf(after))?.get(after.limit)
    if (before === undefined) continue
    // Counters share one set of headers in turn, so the previous response may be far back.
    const begun = countBelow(starts, after.untilUs + 1)
    const overBefore = countBelow(ends, before.fromUs)
    // One of the others is `before` itself.
    const between = begun - overBefore - 1
    yield { before, after, fell: before.remaining! - after.remaining!, between }
  }
}
