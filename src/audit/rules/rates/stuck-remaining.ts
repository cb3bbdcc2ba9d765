import { type Contract, lengthUs } from '../../../contract/contract.ts'
import { cellsNamed } from '../../../limits/band.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import { countBelow } from '../../../user/count-below.ts'
import { largest, smallest } from '../../../user/extremes.ts'
import { consecutive } from './consecutive.ts'
import type { RateHistory } from './history.ts'

/** Requests that were served, and did not lower what is shown as remaining. */
export interface Stuck {
  readonly first: LimitedRequest
  readonly last: LimitedRequest
  /** How many of those after the first did not lower it. */
  readonly free: number
  /** The most that any limiter forgets, or regains, meanwhile. */
  readonly most: number
  /** Whether the record shows all that a log may have forgotten meanwhile. */
  readonly isSure: boolean
}

/** Answers of one counter that follow each other, and how often one of them did not lower what remains. */
interface Chain {
  readonly first: LimitedRequest
  readonly free: number
}

/** Values may be rounded, and lag behind by a request. */
const spare = 2

/**
 * Finds values that stay while requests are served. Each answer that shows no less than the one before it needs a request that was
 * forgotten, a token that was regained, or a new window.
 *
 *     limit 60        t   0   1   2   3   4
 *     fixed window        1   0   59  58  57      a new window shows all but what was sent in it
 *     bucket              1   0   0   0   0       one token a second
 *     stuck               1   0   0   0   0       the same within half a second: at most one is regained
 *
 * @returns the first that no limiter explains, or else one that requests before the record may explain; null without one
 */
export function neverUsedUp({ byAccount }: RateHistory, contract: Contract): Stuck | null {
  let doubtful: Stuck | null = null
  for (const requests of byAccount.values()) {
    for (const stuck of stuckIn(requests, contract)) {
      if (stuck.isSure) return stuck
      doubtful ??= stuck
    }
  }
  return doubtful
}

function* stuckIn(
  requests: readonly LimitedRequest[],
  contract: Contract,
): Generator<Stuck, void, undefined> {
  const chains = new Map<LimitedRequest, Chain>()
  const freshKeys = beganUnused(requests)
  const forgotten = forgettingOf(requests)
  const counterOf = ({ key, endpoint }: LimitedRequest) => `${key} ${endpoint}`
  for (const { before, after, fell, between } of consecutive(requests, counterOf)) {
    // What counts a request when its answer ends has not counted it yet.
    if (before.closedUs > after.fromUs) continue
    const limit = after.limit!
    const windowsUs = cellsNamed(contract, limit).map(({ window }) => lengthUs(window))
    // A new window shows all but what was sent in it.
    if (windowsUs.length === 0 || after.remaining! >= limit - between) continue
    const { first, free } = chains.get(before) ?? { first: before, free: 0 }
    const isCounted = after.decision === 'admitted'
    const now = { first, free: free + Math.min(1, (isCounted ? 1 : 0) - fell) }
    const regained = forgotten.regained(first, after, smallest(windowsUs))
    // What came free slowly explains nothing later.
    if (now.free < regained) continue
    chains.set(after, now)
    if (!isCounted || now.free <= regained + spare) continue
    const most = largest(windowsUs.map((us) => forgotten.most(first, after, us)))
    if (now.free <= most + spare) continue
    const sinceUs = first.fromUs - largest(windowsUs)
    const isSure = freshKeys.has(after.key) || sinceUs >= requests[0]!.untilUs
    yield { first, last: after, free: now.free, most, isSure }
  }
}

/** Keys whose first answer shows that nothing was used before it. */
function beganUnused(requests: readonly LimitedRequest[]): ReadonlySet<string> {
  const firsts = new Map<string, LimitedRequest>()
  for (const request of requests) if (!firsts.has(request.key)) firsts.set(request.key, request)
  const unused = [...firsts.values()].filter(
    ({ limit, remaining }) => limit !== null && remaining !== null && limit - remaining <= 1,
  )
  return new Set(unused.map(({ key }) => key))
}

/** What a bucket regains and a log forgets between two requests; as `mostForgotten`, for many pairs. */
function forgettingOf(requests: readonly LimitedRequest[]) {
  const starts = requests.map(({ fromUs }) => fromUs)
  const ends = requests.map(({ untilUs }) => untilUs).sort((a, b) => a - b)
  // A counter that weighs the last window may weigh its rejections, too.
  const others = requests.flatMap(({ decision, fromUs }) =>
    decision === 'admitted' ? [] : [fromUs],
  )
  const regained = (first: LimitedRequest, last: LimitedRequest, windowUs: number) => {
    const counted =
      countBelow(others, last.untilUs + 1) - countBelow(others, first.fromUs - 2 * windowUs)
    return ((last.untilUs - first.fromUs) * (last.limit! + counted)) / windowUs
  }
  return {
    regained,
    most(first: LimitedRequest, last: LimitedRequest, windowUs: number): number {
      const leaving =
        countBelow(starts, last.untilUs - windowUs + 1) - countBelow(ends, first.fromUs - windowUs)
      return Math.floor(regained(first, last, windowUs)) + 1 + Math.max(0, leaving)
    },
  }
}
