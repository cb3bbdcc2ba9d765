import type { Contract } from '../../../contract/contract.ts'
import { longestNamedUs } from '../../../limits/band.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import { inOrder } from './event-order.ts'
import type { RateHistory } from './history.ts'

/** Two successive responses of one key whose count rose by the requests of another key only. */
export interface Misfiled {
  readonly before: LimitedRequest
  readonly after: LimitedRequest
  /** Requests of the other key in between, which is the rise of the count. */
  readonly others: number
}

/** Responses that must agree: counts rise by the other key's requests, and do not with an own one. */
const agreement = 3
/** All pairs are compared, so only the first few of many keys with one limit are examined. */
const mostKeys = 8

/**
 * Responses of keys that show another key's count with the same limit. With turns such as A B B A B B, the count shown to A
 * rises by two for each of its requests, and B's stays for every second: other traffic never makes it stay.
 */
export function misfiledIn(
  { events, byKey }: Pick<RateHistory, 'events' | 'byKey'>,
  contract: Contract,
): readonly Misfiled[] | null {
  for (const [limit, first] of firstKeys(events)) {
    const windowUs = limit === null ? null : longestNamedUs(contract, limit)
    if (windowUs === null) continue
    const keys = [...first]
    for (const [nth, one] of keys.entries()) {
      for (const other of keys.slice(nth + 1)) {
        const both = [...byKey.get(one), ...byKey.get(other)].sort(inOrder)
        const misfiled = swapped(both, limit!, windowUs)
        if (misfiled !== null) return misfiled
      }
    }
  }
  return null
}

function firstKeys(events: Iterable<LimitedRequest>): ReadonlyMap<number | null, Set<string>> {
  const keys = new Map<number | null, Set<string>>()
  for (const { limit, key } of events) {
    const ofLimit = keys.get(limit)
    if (ofLimit === undefined) keys.set(limit, new Set([key]))
    else if (ofLimit.size < mostKeys) ofLimit.add(key)
  }
  return keys
}

/** @param requests of two keys */
function swapped(
  requests: readonly LimitedRequest[],
  limit: number,
  windowUs: number,
): readonly Misfiled[] | null {
  let rising: Misfiled[] = []
  let staying = 0
  const last = new Map<string, { readonly request: LimitedRequest; others: number }>()
  let busyUntilUs = -Infinity
  for (const request of requests) {
    const alone = request.fromUs >= busyUntilUs
    busyUntilUs = Math.max(busyUntilUs, request.closedUs)
    if (!alone || request.decision !== 'admitted' || usedOf(request, limit) === null) {
      last.clear()
      continue
    }
    const before = last.get(request.key)
    if (before !== undefined && before.others !== 1) {
      const rose = usedOf(request, limit)! - usedOf(before.request, limit)!
      // A bucket regains a request in that time, and a log may drop one.
      const isQuick = request.untilUs - before.request.fromUs < windowUs / limit / 2
      if (rose === before.others && rose > 1) {
        rising.push({ before: before.request, after: request, others: before.others })
      } else if (rose === 0 && before.others === 0 && isQuick) staying++
      else if (rose >= 0) {
        rising = []
        staying = 0
      }
      if (rising.length >= agreement && staying >= agreement) return rising
    }
    for (const [key, each] of last) if (key !== request.key) each.others++
    last.set(request.key, { request, others: 0 })
  }
  return null
}

const usedOf = ({ limit, remaining }: LimitedRequest, shown: number): number | null =>
  limit !== shown || remaining === null ? null : limit - remaining
