import type { LimitedRequest } from './limited-request.ts'
import type { LimiterTrace } from './models/model.ts'

/** A moment, with its bounds. */
export interface Instant {
  readonly lowUs: number
  readonly highUs: number
}

/** Requests of one key that show the same reset and were sent after its window began: they were counted in it. */
export interface ResetWindow {
  readonly requests: readonly LimitedRequest[]
  /** Whether it began empty: its first response showed at most one used request. */
  readonly beganEmpty: boolean
}

/** A reset this near, as a share of the window, may be that of the next token of a bucket. */
const nearShare = 0.1

/**
 * The windows of a record that their resets identify, as far as all resets of one agree, within their rounding.
 *
 * An answer may show the window that it was written in, not the one that counted its request. So a request that was sent
 * before its window surely began is left out.
 *
 * The reset of a bucket moves with each request, and that of a log with each entry that it forgets, so none of them holds
 * more than `limit` requests while one reset is shown.
 *
 * @param trace of one key; only requests that show its limit count
 * @param resetOf when the window of a request ends, by the clock of the requests; null if it shows no reset
 * @param nameOf the same by the clock of the limiter, which names the window more exactly
 */
export function windowsByReset(
  { requests, limit, windowUs }: Pick<LimiterTrace, 'requests' | 'limit' | 'windowUs'>,
  resetOf: (request: LimitedRequest) => Instant | null,
  nameOf: (request: LimitedRequest) => Instant | null = resetOf,
): readonly ResetWindow[] {
  const groups: (Instant & { requests: LimitedRequest[]; firstUs: number; lastUs: number })[] = []
  for (const request of requests) {
    if (request.limit !== limit) continue
    const instant = nameOf(request)
    if (instant === null) continue
    const group = groups.at(-1)
    const lowUs = Math.max(group?.lowUs ?? -Infinity, instant.lowUs)
    const highUs = Math.min(group?.highUs ?? Infinity, instant.highUs)
    const firstUs = Math.min(group?.firstUs ?? Infinity, instant.lowUs)
    const lastUs = Math.max(group?.lastUs ?? -Infinity, instant.highUs)
    // Two windows end a window apart: late answers must not be so vague that they fit both.
    if (group !== undefined && lowUs <= highUs && lastUs - firstUs < windowUs) {
      group.requests.push(request)
      Object.assign(group, { lowUs, highUs, firstUs, lastUs })
    } else {
      const { lowUs: first, highUs: last } = instant
      groups.push({ requests: [request], ...instant, firstUs: first, lastUs: last })
    }
  }
  return groups
    .filter(({ requests: [first] }) => {
      const ends = resetOf(first!)
      if (ends === null) return false
      const [leastUs, mostUs] = [ends.lowUs - first!.fromUs, ends.highUs - first!.fromUs]
      return leastUs > nearShare * windowUs && mostUs <= 1.1 * windowUs
    })
    .map(({ requests: shown }) => {
      const endsByUs = shown.reduce(
        (least, request) => Math.min(least, resetOf(request)?.highUs ?? Infinity),
        Infinity,
      )
      const { remaining } = shown[0]!
      return {
        requests: shown.filter(({ fromUs }) => fromUs >= endsByUs - windowUs),
        beganEmpty: remaining !== null && limit - remaining <= 1,
      }
    })
}
