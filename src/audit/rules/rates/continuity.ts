import type { LimitedRequest } from '../../../limits/limited-request.ts'

/**
 * Whose counter an answer continues, when attempts of two groups alternate (two keys, or two
 * endpoints of one key): the number used goes on by one from the last answer of its own group, or
 * from the last answer of all.
 *
 *     A: used 3     B: used 1     A: used 4          own counters
 *     A: used 3     B: used 4     A: used 5          one counter
 */
export interface Continuity {
  readonly own: readonly Switch[]
  readonly shared: readonly Switch[]
}

/** An answer right after one of another group. */
export interface Switch {
  readonly before: LimitedRequest
  readonly after: LimitedRequest
  /**
   * How many requests a counter must have forgotten by now for the other reading to hold, as a bucket
   * does that regains tokens. Below 0 that reading cannot hold: no request counts more than once.
   */
  readonly forgotten: number
}

/** So many answers must agree before a counter is believed that is not the one promised. */
export const agreement = 3

/**
 * @param requests by start, with the reads, which may be counted, too; only answers that came wholly one
 *   after the other speak
 * @param limitsMayDiffer whether groups may have different limits (keys of different balance)
 */
export function continuityOf(
  requests: readonly LimitedRequest[],
  groupOf: (request: LimitedRequest) => string,
  limitsMayDiffer: boolean,
): Continuity {
  const own: Switch[] = []
  const shared: Switch[] = []
  const lastOfGroup = new Map<string, LimitedRequest>()
  let last: LimitedRequest | null = null
  let busyUntilUs = -Infinity
  for (const after of requests) {
    if (after.fromUs < busyUntilUs) lastOfGroup.clear()
    const before = after.fromUs >= busyUntilUs ? last : null
    busyUntilUs = Math.max(busyUntilUs, after.closedUs)
    if (usedOf(after) === null || after.decision !== 'admitted') {
      // It may have been counted, so the next one need not go on by one.
      last = null
      lastOfGroup.delete(groupOf(after))
      continue
    }
    const previous = lastOfGroup.get(groupOf(after))
    if (
      before !== null &&
      previous !== undefined &&
      groupOf(before) !== groupOf(after) &&
      previous.limit === after.limit &&
      (limitsMayDiffer || before.limit === after.limit)
    ) {
      const sinceOwn = usedOf(after)! - usedOf(previous)!
      const sinceAll = usedOf(after)! - usedOf(before)!
      if (sinceOwn === 1 && sinceAll !== 1) own.push({ before, after, forgotten: 1 - sinceAll })
      if (sinceAll === 1 && sinceOwn !== 1) shared.push({ before, after, forgotten: 1 - sinceOwn })
    }
    last = after
    lastOfGroup.set(groupOf(after), after)
  }
  return { own, shared }
}

/**
 * The most that one counter forgets between two requests: what a bucket regains, and a log all that
 * came a window before.
 */
export function mostForgotten(
  requests: readonly LimitedRequest[],
  first: LimitedRequest,
  last: LimitedRequest,
  windowUs: number,
): number {
  const regained = ((last.untilUs - first.fromUs) * last.limit!) / windowUs
  const leaving = requests.filter(
    ({ fromUs, untilUs }) =>
      untilUs >= first.fromUs - windowUs && fromUs <= last.untilUs - windowUs,
  )
  return Math.floor(regained) + 1 + leaving.length
}

function usedOf({ limit, remaining }: LimitedRequest): number | null {
  return limit === null || remaining === null ? null : limit - remaining
}
