import type { LimitWindow } from '../../../contract/contract.ts'
import { bandsWithin } from '../../../limits/band.ts'
import { flightsOf, limitsInFlight } from '../../../limits/in-flight.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import { nameModels } from '../../../limits/models/fit.ts'
import type { BandTrace } from '../../../limits/traces.ts'
import { countBelow } from '../../../user/count-below.ts'
import { smallest } from '../../../user/extremes.ts'
import { fail, inconclusive, notObserved, pass, type Verdict } from '../../verdict.ts'
import { type RateHistory, witnessOf } from './history.ts'
import { unlessPooled } from './rate-14.ts'
import { rateRule } from './rate-rule.ts'
import { explain, type Known, tracesIn } from './traces.ts'

export const rate05 = rateRule({
  id: 'RATE-05',
  title: 'Nothing is rejected before the limit is used up',
  needs: ['passive', 'quiescence'],
  promised: ['bands'],
  explain: `A rejection is correct if N requests in the trailing minute may have been counted. Every
attempt of the key may count, also rejections and errors (gap G-18; reads, 400s and 401s do not if the
deployment profile says so), and so may requests before the record began, as its first response shows.
A limiter that paces requests (a bucket of fewer than N) rejects earlier and still keeps "N per minute":
the whole record is replayed through the models, and a rejection fails only if no pacing explains it.
Attempts of other keys of the account may count, too (gap G-36). Other traffic with the same key looks
like a fault. A rejection that may belong to another window, or to the promised number in flight, decides
nothing; one with fewer in flight than promised, where no window is promised, is inconclusive. If a number in flight that nothing promises explains every decision as well as a pacing does, the
rule is inconclusive. So it is if counts of the key go on from another key (RATE-14), and if no rejection came after as many
admitted requests as the limit allows, because rejected or earlier requests may have counted.`,
  decide(history, evidence) {
    const judged = judgeRejections(history, evidence, 'minute')
    const early = judged.verdict === 'not-observed' ? earlyInFlight(history, evidence) : null
    return early ?? unlessPooled(history, judged)
  },
})

/** A rejection with fewer in flight than a band promises, where the band promises nothing else that could have caused it. */
function earlyInFlight({ byKey }: RateHistory, { contract }: Known<'bands'>): Verdict | null {
  for (const events of byKey.values()) {
    const flights = flightsOf(events)
    for (const event of events) {
      if (event.decision !== 'rejected') continue
      const bands = bandsWithin(contract, event.balance)
      const least = smallest(bands.map(({ inFlight }) => inFlight ?? Infinity))
      const isAlone = bands.every(
        ({ requests, calendar }) => !calendar && !Object.values(requests).some(Number.isFinite),
      )
      const others = flights.atMost(event)
      if (!isAlone || !Number.isFinite(least) || others >= least) continue
      return inconclusive(
        events.length,
        `one was rejected beside ${others} in flight or fewer, with a limit of ${least} in flight: only a limit that the contract does not name explains it`,
        [witnessOf(event, `rejected beside ${others} of ${least} in flight`)],
      )
    }
  }
  return null
}

interface Doubt {
  readonly request: LimitedRequest
  readonly why: string
}

/** Whether a rejection came before its window was full. */
export function judgeRejections(history: RateHistory, known: Known, window: LimitWindow): Verdict {
  const traces = tracesIn(history, known, window)
  let observations = 0
  let isReached = false
  let below: (MostAdmitted & { readonly limit: number }) | null = null
  let doubtful: Doubt | null = null
  let undecided: Doubt | null = null
  const notes = new Set<string>()
  for (const trace of traces) {
    // A window without a limit promises nothing.
    if (!Number.isFinite(trace.limit)) continue
    const rejections = trace.requests.filter(({ decision }) => decision === 'rejected')
    observations += rejections.length
    const most = mostAdmittedBefore(trace, rejections)
    if (most !== null && most.count >= trace.limit) isReached = true
    else if (most !== null) below ??= { ...most, limit: trace.limit }
    const early = earliestPremature(trace, rejections, () => siblingsOf(history, trace.key))
    if (early === null) continue
    const { models, contradiction } = explain(trace)
    if (contradiction !== null)
      return fail(observations, {
        expected: `${trace.limit} requests in the ${window} before a rejection`,
        observed: `a rejection after ${early.before} that can have been counted, which no pacing explains`,
        witnesses: [witnessOf(early.request, `rejected after ${early.before} of ${trace.limit}`)],
      })
    const names = nameModels(models, trace.limit).join(' or ')
    const inFlight = limitsInFlight(trace.requests)
    if (inFlight !== null) {
      const { least, most } = inFlight
      const number = least === most ? `${most}` : `${least} to ${most}`
      const why = `a limit of ${number} in flight, which the contract does not promise, explains every decision of this key, and so does ${names}: a request that is sent alone after a rejection tells them apart`
      undecided ??= { request: early.request, why }
      continue
    }
    const admittedSoonAfter = trace.requests.some(
      ({ decision, fromUs }) =>
        decision === 'admitted' &&
        fromUs > early.request.untilUs &&
        fromUs < early.request.fromUs + trace.windowUs / 2,
    )
    if (admittedSoonAfter) notes.add(`smoothed: ${names}`)
    else
      doubtful = {
        request: early.request,
        why: `only ${names} explains it, and the record ends before a paced request shows it`,
      }
  }
  const doubt = doubtful ?? undecided
  if (doubt !== null)
    return inconclusive(observations, `a rejection before the limit; ${doubt.why}`, [
      witnessOf(doubt.request, 'rejected early'),
    ])
  if (observations === 0) return notObserved(`a rejection (429) by the ${window}'s limit`)
  if (!isReached && notes.size === 0 && below !== null)
    return inconclusive(
      observations,
      `each rejection came after ${below.count} admitted requests or fewer in its ${window}, with a limit of ${below.limit}: rejected requests, or those before the record, may have counted; a rest of two windows before a burst tells`,
      [witnessOf(below.request, `rejected after ${below.count} admitted of ${below.limit}`)],
    )
  return pass(observations, notes.size > 0 ? { note: [...notes].join('; ') } : {})
}

interface MostAdmitted {
  readonly request: LimitedRequest
  readonly count: number
}

/** The rejection with the most admitted requests in its window; null without rejections. */
function mostAdmittedBefore(
  { requests, windowUs, toleranceUs, earlierAtMost }: BandTrace,
  rejections: readonly LimitedRequest[],
): MostAdmitted | null {
  const admitted = requests.filter(({ decision }) => decision === 'admitted')
  const starts = admitted.map(({ fromUs }) => fromUs)
  const ends = admitted.map(({ untilUs }) => untilUs).sort((a, b) => a - b)
  const openedUs = requests[0]?.untilUs ?? 0
  let most: MostAdmitted | null = null
  for (const request of rejections) {
    const horizonUs = request.fromUs - windowUs - toleranceUs
    const earlier = horizonUs < openedUs && Number.isFinite(earlierAtMost) ? earlierAtMost : 0
    const count = countBelow(starts, request.untilUs + 1) - countBelow(ends, horizonUs) + earlier
    if (most === null || count > most.count) most = { request, count }
  }
  return most
}

/** The first rejection with too few requests before it for any limiter without pacing. */
function earliestPremature(
  { requests: all, limit, windowUs, toleranceUs, earlierAtMost, counted }: BandTrace,
  rejections: readonly LimitedRequest[],
  siblings: () => readonly LimitedRequest[],
): { readonly request: LimitedRequest; readonly before: number } | null {
  const requests = all.filter((each) => each.decision === 'rejected' || counted(each) !== 'no')
  const starts = requests.map(({ fromUs }) => fromUs)
  const ends = requests.map(({ untilUs }) => untilUs).sort((a, b) => a - b)
  const openedUs = all[0]!.untilUs
  for (const request of rejections) {
    // Two windows, because a sliding counter still weighs the previous one.
    const horizonUs = request.fromUs - 2 * windowUs - toleranceUs
    const earlier = horizonUs < openedUs ? earlierAtMost : 0
    const before =
      countBelow(starts, request.untilUs + 1) - countBelow(ends, horizonUs) - 1 + earlier
    if (before >= limit) continue
    const bySiblings = siblings().filter(
      ({ fromUs, untilUs }) => fromUs <= request.untilUs && untilUs >= horizonUs,
    ).length
    if (before + bySiblings < limit) return { request, before }
  }
  return null
}

/** Requests of other keys of the same account: by gap G-36 a new key may inherit the account's counts. */
function siblingsOf({ byKey, byAccount }: RateHistory, key: string): readonly LimitedRequest[] {
  const account = byKey.get(key)![0]!.account
  return byAccount.get(account)!.filter((request) => request.key !== key)
}
