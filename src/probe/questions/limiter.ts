import { lengthUs, windows, windowUs } from '../../contract/contract.ts'
import type { GapAnswer } from '../../contract/profile.ts'
import { cellsNamed } from '../../limits/band.ts'
import { type LimitedRequest, withUnknownDecision } from '../../limits/limited-request.ts'
import { modelsThatExplain, nameModels } from '../../limits/models/fit.ts'
import type { LimiterTrace, Model } from '../../limits/models/model.ts'
import {
  inferResetUnit,
  type ResetSample,
  type ResetUnit,
  resetUnits,
} from '../../limits/reset-unit.ts'
import { type ServiceClock, serviceClock } from '../../limits/service-clock.ts'
import { tracesOf } from '../../limits/traces.ts'
import { largest } from '../../user/extremes.ts'
import { routeOf } from '../limited-request.ts'
import { pricesOf } from '../prices.ts'
import type { ProbeResponse } from '../probe-response.ts'
import type { Prober } from '../prober.ts'
import { ambiguous, answered, notAskable, ofFacets, type Question } from '../question.ts'
import { askWhenFull } from './when-full.ts'

/** Requests sent well before the others. */
const earlyOnes = 3

/** A limit up to this is used up a second time. */
const refillUpTo = 60

/** Polls after the burst, per request that a bucket regains. */
const pollsPerToken = 2

/**
 * G-22; while the limit is used up also G-32 and the 429 part of G-18 and G-26.
 *
 *     rest 2 W ─▶ three ─▶ rest W/6 ─▶ in a row until rejected ─▶ rest 4 W/N ─▶ one ─▶ polls
 *
 * The three come back first only in a log. A limit that is one too low stays full after the rest, but a bucket regains
 * some. Polls end after several admissions. If windows may begin with the first request or with the clock, a second
 * window decides.
 */
export const limiter: Question = {
  gaps: ['G-22', 'G-32'],
  price: ({ contract, minuteLimit }) =>
    (2 * (minuteLimit ?? largest(contract.bands.map((band) => band.requests.minute))) +
      20 +
      (minuteLimit !== null && minuteLimit <= refillUpTo ? minuteLimit : 0)) *
    pricesOf(contract).least,
  obstacle: ({ contract }) =>
    contract.bands.length === 0 ? 'the contract names no rate limits' : null,
  async ask(prober) {
    const limit = await prober.minuteLimit()
    if (limit === null) {
      const why = 'neither a header nor the balance shows the limit'
      return { 'G-22': notAskable(why), 'G-32': notAskable(why) }
    }
    const gapUs = windowUs.minute / limit
    await prober.rest(2 * windowUs.minute + 1e6)
    const began = prober.limited.length
    const once = { patient: false, expects: 'any', step: 'limiter' } as const
    for (let nth = 0; nth < earlyOnes; nth++) await prober.chat({ maxTokens: 1 }, once)
    await prober.rest(windowUs.minute / 6)
    // A bucket regains some while it is emptied, so it admits more than N.
    let rejected = 0
    let last: ProbeResponse | null = null
    for (let nth = 0; nth < 1.4 * limit + 4 && rejected < 2; nth++) {
      last = await prober.chat({ maxTokens: 1 }, once)
      if (last.status === 429) rejected++
    }
    if (last?.status === 429)
      prober.whenFull = await askWhenFull(prober, last, gapUs / prober.options.timeScale)
    await prober.rest(4 * gapUs)
    await prober.chat({ maxTokens: 1 }, once)
    let admitted = 0
    const polls = Math.ceil(1.2 * limit * pollsPerToken)
    for (let nth = 0; nth < polls && admitted < Math.min(limit, 12); nth++) {
      await prober.rest(gapUs / pollsPerToken)
      const response = await prober.chat({ maxTokens: 1 }, once)
      if (response.status === 200) admitted++
    }
    let algorithm = algorithmOf(prober, began, limit)
    if (limit <= refillUpTo && prober.options.budget.left >= limit + 5) {
      const ask = async () => (await prober.chat({ maxTokens: 1 }, once)).status
      const useUp = async () => {
        for (let nth = 0; nth < limit + 2 && (await ask()) !== 429; nth++);
      }
      if (algorithm.status === 'ambiguous' && algorithm.between.algorithm?.every(isFixed)) {
        // The first request's window reopened together with the clock's. Beginning half a window later separates them.
        const firstUs = prober.limited[began]!.fromUs
        const nowUs = prober.now() * prober.options.timeScale
        const intoUs = (nowUs - firstUs) % windowUs.minute
        await prober.rest(((1.5 * windowUs.minute - intoUs) % windowUs.minute) + windowUs.minute)
        await useUp()
        const mostPolls = 1.2 * limit * pollsPerToken
        for (let nth = 0; nth < mostPolls && (await ask()) === 429; nth++)
          await prober.rest(gapUs / pollsPerToken)
        algorithm = algorithmOf(prober, began, limit)
      } else {
        // Only for the auditor: uses up the limit, and sends one request after its reset.
        await useUp()
        await prober.rest(windowUs.minute + 2 * gapUs + 1e6)
        await ask()
      }
    }
    return { 'G-22': algorithm, 'G-32': retryAfterOf(prober) }
  },
}

const isFixed = (algorithm: string): boolean => algorithm.startsWith('fixed-')

/** @param began index of the question's first request */
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

/** G-32: the Retry-After of the rejections so far. */
function retryAfterOf(prober: Prober): GapAnswer {
  const rejections = prober.responses.filter(({ status }) => status === 429)
  if (rejections.length === 0) return notAskable('nothing was rejected')
  const values = rejections.map(({ headers }) => headers.get('retry-after') ?? null)
  const form = (value: string | null) =>
    value === null
      ? 'none'
      : /^\d+$/.test(value)
        ? 'seconds'
        : Number.isNaN(Date.parse(value))
          ? 'other'
          : 'date'
  const forms = [...new Set(values.map(form))]
  return answered(
    { form: forms.length === 1 ? forms[0]! : forms },
    `${rejections.length} rejections, such as ${values[0] ?? 'none'}`,
  )
}

/** Paid requests whose resets are compared. */
const slopeSamples = 8

/** G-21, from all resets so far. */
export const resetUnit: Question = {
  gaps: ['G-21'],
  price: ({ contract }) => slopeSamples * pricesOf(contract).least,
  obstacle: ({ contract: { headers } }) =>
    headers.rateReset === undefined ? 'the contract names no reset header' : null,
  async ask(prober) {
    // Values over some seconds, which reveal their slope.
    for (let nth = 0; nth < slopeSamples; nth++) {
      await prober.chat({ maxTokens: 1 }, { step: 'slope' })
      await prober.rest(1.5e6)
    }
    return { 'G-21': unitOf(prober) }
  },
}

/** Values that a route needs to decide the unit, if those of the route with most values fit several. */
const enoughValues = 4

/** The unit that fits the resets of the route with most of them, and of other routes if they agree. */
export function unitOf({ limited, contract }: Pick<Prober, 'limited' | 'contract'>): GapAnswer {
  const samples = limited.flatMap((each) => {
    if (each.reset === null) return []
    const [cell] = each.limit === null ? [] : cellsNamed(contract, each.limit)
    return [{ request: each, value: each.reset, windowUs: lengthUs(cell?.window ?? 'day') }]
  })
  if (samples.length === 0) return notAskable('no answer carries a reset')
  const clock = serviceClock(limited)
  const routes = [...Map.groupBy(samples, ({ request }) => routeOf(request)).values()]
    .map((values) => ({ values, units: unitsOfMost(values, clock) }))
    .sort((a, b) => b.values.length - a.values.length)
  let fit = routes[0]!.units
  const odd: string[] = []
  for (const { values, units } of routes) {
    const both = intersection(fit, units)
    if (both.length === 0) odd.push(`${values[0]!.value} on ${values[0]!.request.endpoint}`)
    else if (values.length >= enoughValues) fit = both
  }
  const evidence = [
    `${samples.length} values, such as ${samples[0]!.value} and ${samples.at(-1)!.value}`,
    ...(fit.length > 0 && odd.length > 0 ? [`other units on some routes: ${odd.join(', ')}`] : []),
  ]
  const [only, second] = fit
  if (only === undefined) return notAskable(`no unit fits all values: ${evidence}`)
  return ofFacets({ unit: second === undefined ? only : { oneOf: fit } }, ...evidence)
}

/** Among this many values, one may come from another limiter in front of the service. */
const valuesForAStray = 8

/** The units that fit all values, or all but a few. */
function unitsOfMost(
  values: readonly ResetSample[],
  clock: ServiceClock | null,
): readonly ResetUnit[] {
  const byKey = [...Map.groupBy(values, ({ request }) => request.key).values()].flat()
  const { units } = inferResetUnit(byKey, clock)
  if (units.length > 0) return units
  const most = resetUnits
    .map((unit) => byKey.filter((each) => inferResetUnit([each], clock).units.includes(unit)))
    .reduce((a, b) => (b.length > a.length ? b : a))
  const strays = values.length - most.length
  return strays * valuesForAStray <= values.length ? inferResetUnit(most, clock).units : []
}
