import type { LimitedRequest } from '../../../limits/limited-request.ts'

/**
 * Which counter a response continues, when attempts of two groups alternate (two keys, or two endpoints of one key).
 * The used number rises by one from the last response of its own group, or from the last response of all.
 *
 *     A: used 3     B: used 1     A: used 4          own counters
 *     A: used 3     B: used 4     A: used 5          one counter
 */
export interface Continuity {
  readonly own: readonly Switch[]
  readonly shared: readonly Switch[]
}

/** A response right after one of another group. */
export interface Switch {
  readonly before: LimitedRequest
  readonly after: LimitedRequest
  /** Requests that a counter must have forgotten for the other reading to hold, as a bucket does; negative if it is impossible. */
  readonly forgotten: number
}

/** Responses that must agree before a counter other than the promised one is believed. */
export const agreement = 3

/**
 * @param requests by start, including reads, which may be counted; only responses that do not overlap count
 * @param limitsMayDiffer whether groups may have different limits (keys of different balance)
 */
export function continuityOf(
  requests: Iterable<LimitedRequest>,
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
      // It may have been counted, so the next one need not rise by one.
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

/** The most that a counter forgets between two requests: what a bucket regains, or a log's requests one window back. */
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

const usedOf = ({ limit, remaining }: LimitedRequest): number | null =>
  limit === null || remaining === null ? null : limit - remaining
