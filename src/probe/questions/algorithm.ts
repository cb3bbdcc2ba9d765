import { windows, windowUs } from '../../contract/contract.ts'
import type { GapAnswer } from '../../contract/profile.ts'
import { type LimitedRequest, withUnknownDecision } from '../../limits/limited-request.ts'
import { modelsThatExplain, nameModels } from '../../limits/models/fit.ts'
import type { LimiterTrace, Model } from '../../limits/models/model.ts'
import { serviceClock } from '../../limits/service-clock.ts'
import { tracesOf } from '../../limits/traces.ts'
import { routeOf } from '../limited-request.ts'
import type { Prober } from '../prober.ts'
import { ambiguous, notAskable, ofFacets } from '../question.ts'

/** G-22, from the requests so far. @param began index of the question's first request */
export function algorithmOf(
  prober: Pick<Prober, 'limited' | 'contract'>,
  began: number,
  limit: number,
): GapAnswer {
  const limited = prober.limited.slice(began)
  const rejected = limited.filter(({ decision }) => decision === 'rejected').length
  if (rejected === 0) return withoutRejection(prober, limited, limit)
  const clock = serviceClock(prober.limited)
  const evidence = [`${limited.length} attempts, ${rejected} rejections, limit ${limit}`]
  let names: readonly string[] | null = null
  for (const window of windows) {
    // Longer windows count earlier requests. Whether they count those of other routes is unknown.
    const given =
      window === 'minute'
        ? limited
        : prober.limited.map((each) =>
            routeOf(each) === routeOf(limited[0]!) ? each : withUnknownDecision(each),
          )
    const placed = given.map((each) => ({ ...each, balance: everyBalance }))
    const trace = tracesOf(placed, prober.contract, window, clock).at(-1)
    const own = trace?.requests.filter(({ decision }) => decision === 'rejected').length ?? 0
    if (trace === undefined || own === 0) continue
    const models = modelsThatExplain(window === 'minute' ? sinceRest(trace, given) : trace)
    const fit = nameModels(models, trace.limit)
    evidence.push(`${own} rejections by the ${window}: ${fit.join(', ') || 'no model'}`)
    const found = namesOf(models, trace.limit)
    names = names === null ? found : intersection(names, found)
  }
  const [only, second] = names ?? []
  if (only === undefined)
    return notAskable(`no limiter of the six explains the rejections: ${evidence.join('; ')}`)
  return ofFacets({ algorithm: second === undefined ? only : { oneOf: names! } }, ...evidence)
}

/** A trace of the minute. If it begins with the question, after the rest, nothing was counted before it. */
const sinceRest = (trace: LimiterTrace, own: readonly LimitedRequest[]): LimiterTrace =>
  trace.requests[0]?.slot === own[0]?.slot ? { ...trace, earlierAtMost: 0 } : trace

/** If all was admitted: the limiters that would do so, or no limiter of that limit. */
function withoutRejection(
  prober: Pick<Prober, 'limited' | 'contract'>,
  limited: readonly LimitedRequest[],
  limit: number,
): GapAnswer {
  const refused = limited.find(({ decision }) => decision !== 'admitted')
  if (refused !== undefined)
    return notAskable(`no rejection, but a request that ended with status ${refused.status}`)
  const most = mostWithin(limited, windowUs.minute)
  if (most <= limit)
    return notAskable(
      `answers came too slowly to pass the limit: ${most} of ${limit} in one minute`,
    )
  // The limit in question applies to all, whatever windows the headers show.
  const placed = limited.map((each) => ({ ...each, limit, balance: everyBalance }))
  const clock = serviceClock(prober.limited)
  const traces = tracesOf(placed, prober.contract, 'minute', clock)
  if (traces.length === 0) return notAskable(`${limit} is a limit of more than one window`)
  const models = traces.flatMap((trace) => modelsThatExplain(sinceRest(trace, limited)))
  return ambiguous(
    { algorithm: ['no limit', 'a higher limit', ...namesOf(models, limit)] },
    {},
    `${limited.length} requests and no rejection with a limit of ${limit}, ${most} in the busiest minute`,
  )
}

/** The most requests that began within one window of length `us`. */
function mostWithin(limited: readonly LimitedRequest[], us: number): number {
  let first = 0
  let most = 0
  for (const [at, { fromUs }] of limited.entries()) {
    while (limited[first]!.fromUs <= fromUs - us) first++
    most = Math.max(most, at - first + 1)
  }
  return most
}

const intersection = <Each>(a: readonly Each[], b: readonly Each[]): readonly Each[] =>
  a.filter((name) => b.includes(name))

/** Bounds of an unknown balance. The limit header identifies the band. */
const everyBalance = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }

const namesOf = (models: readonly Model[], limit: number): readonly string[] => [
  ...new Set(models.map((model) => nameOf(model, limit))),
]

function nameOf(model: Model, limit: number): string {
  if (model.algorithm !== 'bucket') return model.algorithm
  if (model.burst === limit) return 'token-bucket'
  return model.burst === 1 ? 'gcra' : 'a bucket of fewer than the limit'
}
