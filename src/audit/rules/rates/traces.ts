import type { LimitWindow } from '../../../contract/contract.ts'
import { type DeploymentProfile, established } from '../../../contract/profile.ts'
import type { PromiseName } from '../../../contract/promises.ts'
import { withUnknownDecision } from '../../../limits/limited-request.ts'
import { fitModels } from '../../../limits/models/fit.ts'
import type { Contradiction, Counted, Model } from '../../../limits/models/model.ts'
import { type BandTrace, tracesOf } from '../../../limits/traces.ts'
import type { Evidence } from '../../rule.ts'
import type { RateHistory } from './history.ts'

/** The promises, and the profile for what they leave open. */
export type Known<P extends PromiseName = never> = Pick<Evidence<P>, 'contract' | 'profile'>

/** Which attempts count, as far as a probe found out (gap G-18). */
function countedBy(profile: DeploymentProfile | undefined): BandTrace['counted'] {
  const answer = (facet: string): Counted => {
    const is = established(profile, 'G-18', facet)
    return is === 'counted' ? 'yes' : is === 'not counted' ? 'no' : 'maybe'
  }
  const [models, credits, bad, unknown, noKey] = [
    ...['models', 'credits', '400', 'unknown model', '401'].map(answer),
  ] as [Counted, Counted, Counted, Counted, Counted]
  // An unknown model may be a 400, too (gap G-27).
  const refused = bad === unknown ? bad : 'maybe'
  return ({ decision, endpoint, status }) => {
    if (decision === 'admitted') return 'yes'
    if (decision === 'read')
      return endpoint === 'models' ? models : endpoint === 'credits' ? credits : 'maybe'
    if (decision === 'refused') return status === 400 ? refused : status === 401 ? noKey : 'maybe'
    return 'maybe'
  }
}

const known = new WeakMap<RateHistory, Map<LimitWindow, readonly BandTrace[]>>()

/** The requests of all keys, cut where their limit may have changed. */
export function tracesIn(
  history: RateHistory,
  evidence: Known,
  window: LimitWindow,
): Iterable<BandTrace> {
  if (history.isOnDisk) return { [Symbol.iterator]: () => cutTraces(history, evidence, window) }
  const byWindow = known.get(history) ?? new Map<LimitWindow, readonly BandTrace[]>()
  known.set(history, byWindow)
  const cut = byWindow.get(window)
  if (cut !== undefined) return cut
  const traces = [...cutTraces(history, evidence, window)]
  byWindow.set(window, traces)
  return traces
}

function* cutTraces(
  history: RateHistory,
  { contract, profile }: Known,
  window: LimitWindow,
): Generator<BandTrace, void, undefined> {
  const counted = countedBy(profile)
  for (const requests of history.byKey.values()) {
    // Window edges are free: a limiter may align them to another clock than the one it shows.
    for (const trace of tracesOf(requests, contract, window, null)) yield { ...trace, counted }
  }
}

/** Whether the limiter was tested: more attempts than its limit in one window. */
export function isPressed({ requests, limit, windowUs }: BandTrace): boolean {
  return requests.some(
    (request, index) =>
      index >= limit && request.fromUs - requests[index - limit]!.fromUs <= windowUs,
  )
}

/** The limiter models that fit a trace. */
export interface Explanation {
  readonly models: readonly Model[]
  /** Where the model that came furthest failed; null if a model explains everything. */
  readonly contradiction: Contradiction | null
}

export function explain(trace: BandTrace): Explanation {
  const fits = fitModels(trace)
  const models = fits.flatMap(({ model, contradiction }) => (contradiction === null ? [model] : []))
  const furthest = fits
    .flatMap(({ contradiction }) => contradiction ?? [])
    .sort((a, b) => b.request.fromUs - a.request.fromUs)[0]
  return { models, contradiction: models.length > 0 ? null : (furthest ?? null) }
}

/** The trace for the question whether too many were admitted: rejections count as unknown. */
export function withoutRejections(trace: BandTrace): BandTrace {
  return {
    ...trace,
    requests: trace.requests.map((request) =>
      request.decision === 'rejected' ? withUnknownDecision(request) : request,
    ),
  }
}
