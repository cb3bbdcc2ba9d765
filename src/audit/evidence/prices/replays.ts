import type { ChargedOutcome } from '../../../contract/prices.ts'
import { isZero } from '../../../money/rational.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import { isCut, type PricedRequest } from '../../../price/judge/request.ts'
import { smallest } from '../../../user/extremes.ts'

/**
 * Answers that a service gives again: of a cache, or for the key of a repeated request.
 *
 *     id a, whole      id a, whole again      the second one is a replay
 *     id a, cut        id a, whole            one answer, whichever attempt is charged for it
 *     key k, cut       key k, whole           the same, where the first one had not told its id
 */

/** So many letters and digits of an id are not the same by chance. */
const leastOfId = 10
const isLong = (id: string) => id.replace(/^[a-z]+[-_]/i, '').replace(/\W/g, '').length >= leastOfId

const answered: readonly ChargedOutcome[] = ['success', 'empty', 'filtered']
const isAnswered = ({ outcomes: [first] }: PricedRequest) => answered.includes(first!)

/** Marks answers that came before, and attempts that are part of an answer that came whole later. */
export function withReplays(requests: readonly PricedRequest[]): readonly PricedRequest[] {
  const attempts = attemptsOf(requests)
  const first = new Map<string, PricedRequest>()
  return requests.map((request) => {
    const own = attempts.get(request)
    const known =
      own === undefined
        ? request
        : { ...request, askedMs: smallest(own.map(({ startMs }) => startMs)) }
    if (isCut(request))
      // Attempts of one key are told apart where they are judged: the first may be charged for the answer.
      return request.responseId !== null &&
        own?.some((each) => isAnswered(each) && each.responseId === request.responseId)
        ? { ...known, isRepeat: true }
        : known
    if (!isAnswered(request)) return known
    const names = [request.responseId, keyOf(request)].flatMap((name) => name ?? [])
    const before = names.flatMap((name) => first.get(name) ?? []).at(0)
    for (const name of names) if (!first.has(name)) first.set(name, request)
    if (
      before === undefined ||
      (before.responseId !== request.responseId && !isEqual(request, before))
    )
      return known
    return {
      ...known,
      isRepeat: true,
      isSurelyAgain:
        request.responseId !== null &&
        request.responseId === before.responseId &&
        isLong(request.responseId) &&
        isEqual(request, before),
      outcomes: ['gateway_cache', ...request.outcomes],
    }
  })
}

/** A key is that of an account. No id has a line break. */
const keyOf = ({ account, once }: PricedRequest) => (once === null ? null : `${account}\n${once}`)

const isEqual = (a: PricedRequest, b: PricedRequest) =>
  (a.answer === null || b.answer === null || a.answer === b.answer) &&
  JSON.stringify(a.usage?.parts) === JSON.stringify(b.usage?.parts)

/** The attempts of each key, or id, that has more than one. */
function attemptsOf(
  requests: readonly PricedRequest[],
): ReadonlyMap<PricedRequest, readonly PricedRequest[]> {
  const groups = Map.groupBy(requests, (request) => keyOf(request) ?? request.responseId)
  return new Map(
    [...groups].flatMap(([name, all]) =>
      name === null || all.length === 1 ? [] : all.map((each) => [each, all] as const),
    ),
  )
}

/**
 * The requests as they are charged if an attempt that was cut is charged for the answer that came whole later: once by the answer
 * itself, once by the first attempt. Empty if there is no such attempt.
 */
export function chargedOnce(
  requests: readonly PricedRequest[],
): readonly (readonly PricedRequest[])[] {
  const attempts = attemptsOf(requests)
  const laterAnswerTo = (request: PricedRequest) =>
    isCut(request)
      ? attempts.get(request)?.find((each) => isAnswered(each) && each.startMs >= request.startMs)
      : undefined
  const cut = requests.flatMap((request) => {
    const whole = laterAnswerTo(request)
    return whole === undefined ? [] : [[request, whole] as const]
  })
  if (cut.length === 0) return []
  const firstOf = new Map(cut.toReversed().map(([request, whole]) => [whole, request] as const))
  const isPart = new Set(cut.map(([request]) => request))
  return [
    requests.filter((request) => !isPart.has(request)),
    requests.flatMap((request) => {
      if (firstOf.has(request)) return []
      const whole = laterAnswerTo(request)
      if (whole === undefined) return [request]
      const { account, key, startMs, endMs } = request
      return firstOf.get(whole) === request ? [{ ...whole, account, key, startMs, endMs }] : []
    }),
  ]
}

/** Whether nothing says that an answer with the id of an earlier one is that one again, and the contract has another price for it. */
export function mayBeNew(request: PricedRequest, { priceOf }: PriceJudge): boolean {
  const { isRepeat, isSurelyAgain, requestedModel, outcomes } = request
  const charged = priceOf(requestedModel)?.charged
  const [first, other] = outcomes
  return (
    isRepeat &&
    !isSurelyAgain &&
    first === 'gateway_cache' &&
    charged !== undefined &&
    charged.gateway_cache !== 'open' &&
    charged.gateway_cache !== charged[other ?? 'success']
  )
}

/** Those requests as the first answers again. */
export const asSurelyAgain = (
  requests: readonly PricedRequest[],
  judge: PriceJudge,
): readonly PricedRequest[] =>
  requests.map((each) => (mayBeNew(each, judge) ? { ...each, isSurelyAgain: true } : each))

/** Right amounts that are wrong if the answer came again. */
export const chargedAgain = (
  judged: readonly Judged[],
  judge: PriceJudge,
): readonly PricedRequest[] =>
  judged
    .filter(
      ({ request, is, statement }) =>
        is === 'right' && !isZero(statement.value) && mayBeNew(request, judge),
    )
    .map(({ request }) => request)

export const againText = (count: number) =>
  `${count === 1 ? 'an answer has' : `${count} answers have`} the id of an earlier one, or came for its key: by charged.gateway_cache the same answer again has another price than a new one, and nothing says which it is`
