import { isZero, zero } from '../../../money/rational.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import type { Recorded } from './request-charge.ts'

/**
 * Requests that cost nothing although they should, each of which repeats an earlier one and has its answer. The
 * gateway's own cache may have answered them.
 *
 * Empty if one that costs nothing is no such repeat, or if another place shows a cost for it: then a cache explains
 * nothing. It also explains nothing if most repeats after the first free one are charged.
 *
 * @param judged the amounts of all places
 */
export function freeRepeats(
  requests: readonly PricedRequest[],
  judged: readonly Judged[],
): ReadonlySet<PricedRequest> {
  const none = new Set<PricedRequest>()
  const free = new Set(
    judged.flatMap(({ request, is, statement: { value } }) =>
      is === 'wrong' && isZero(value) ? [request] : [],
    ),
  )
  if (free.size === 0) return none
  const repeats = new Set(repeatsOf(requests))
  const isCharged = new Set(
    judged.flatMap(({ request, statement: { value } }) => (isZero(value) ? [] : [request])),
  )
  for (const request of free) if (!repeats.has(request) || isCharged.has(request)) return none
  const seen = new Set<string>()
  let [laterFree, laterCharged] = [0, 0]
  for (const request of repeats) {
    if (free.has(request)) {
      if (seen.has(request.body!)) laterFree++
      seen.add(request.body!)
    } else if (seen.has(request.body!) && isCharged.has(request)) laterCharged++
  }
  return laterCharged > laterFree ? none : free
}

/** Requests with the body and the answer of an earlier one, in their order. */
export function repeatsOf(requests: readonly PricedRequest[]): readonly PricedRequest[] {
  const before = new Map<string, PricedRequest[]>()
  return requests.filter((request) => {
    const { body, outcomes } = request
    if (body === null || !outcomes.includes('success')) return false
    const earlier = before.get(body)
    if (earlier === undefined) before.set(body, [request])
    else if (earlier.some((each) => isRepeatOf(request, each))) return true
    else earlier.push(request)
    return false
  })
}

/** A cache answers with the text and the tokens of an answer that it has whole. */
function isRepeatOf(request: PricedRequest, earlier: PricedRequest): boolean {
  const isTextOther =
    request.answer !== null && earlier.answer !== null && request.answer !== earlier.answer
  return (
    earlier.endMs <= request.endMs &&
    !isTextOther &&
    JSON.stringify(request.usage?.parts) === JSON.stringify(earlier.usage?.parts)
  )
}

/** The requests, in which each of these is one that a cache of the gateway may have answered. */
export function asCached(
  requests: readonly PricedRequest[],
  cached: { readonly has: (request: PricedRequest) => boolean },
): readonly PricedRequest[] {
  return requests.map((request) =>
    cached.has(request)
      ? { ...request, outcomes: ['gateway_cache', 'success'], isFreeRepeat: true }
      : request,
  )
}

/** Why free repeats decide nothing. @param free `3 of 5 requests cost 0, and each repeats` */
export const cacheText = (free: string): string =>
  `${free} an earlier one with its answer: the gateway's own cache may have answered. The contract does not say what that costs; if it is free, write charged: { gateway_cache: none }`

/** Costs of repeats that no place shows: nothing, if a cache answered them. */
export function zeroCosts(requests: readonly PricedRequest[]): Recorded {
  return new Map(
    requests.flatMap((each) => (each.isFreeRepeat ? [[each, { value: zero, unit: zero }]] : [])),
  )
}
