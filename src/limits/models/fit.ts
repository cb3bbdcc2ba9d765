import { largest, smallest } from '../../user/extremes.ts'
import { bucketTrace, explainByBucket } from './bucket.ts'
import { explainByClockWindows } from './clock-windows.ts'
import { explainByAnchoredWindows } from './fixed-anchored.ts'
import { type Contradiction, type LimiterTrace, type Model, stepsOf } from './model.ts'
import { explainBySlidingLog } from './sliding-log.ts'

export interface Fit {
  readonly model: Model
  /** Null if the model explains every admission and rejection of the trace. */
  readonly contradiction: Contradiction | null
}

/** Phases tried in one window; intervals are widened by half a step, so none is missed. */
const phases = 600

/** Depths of a bucket that are tried at most. */
const maxBursts = 512

/**
 * Replays a trace through every model. A model fits if some order of decisions within the intervals,
 * some phase and some choice of counted requests yields every observed decision. The true model always
 * fits; others may fit too.
 */
export function fitModels(trace: LimiterTrace): readonly Fit[] {
  const steps = stepsOf(trace, 0)
  const searched = stepsOf(trace, trace.windowUs / phases / 2)
  const searchedCounting = stepsOf(trace, trace.windowUs / phases / 2, 'yes')
  const searchedPlain = stepsOf(trace, trace.windowUs / phases / 2, 'no')
  return [
    {
      model: { algorithm: 'fixed-aligned' },
      contradiction: overPhases(trace, trace.edge, (phaseUs) =>
        explainByClockWindows('fixed-aligned', trace, searched, phaseUs),
      ),
    },
    { model: { algorithm: 'fixed-anchored' }, contradiction: explainByAnchoredWindows(trace) },
    ...[false, true].map((rejectionsCount) => ({
      model: { algorithm: 'sliding-log' as const, rejectionsCount },
      contradiction: explainBySlidingLog(trace, rejectionsCount),
    })),
    ...[false, true].map((rejectionsCount) => ({
      model: { algorithm: 'sliding-counter' as const, rejectionsCount },
      contradiction: overPhases(trace, trace.edge, (phaseUs) =>
        explainByClockWindows(
          'sliding-counter',
          trace,
          rejectionsCount ? searchedCounting : searchedPlain,
          phaseUs,
        ),
      ),
    })),
    ...[false, true].flatMap((rejectionsCount) => {
      const buckets = bucketTrace(trace, steps, rejectionsCount)
      return burstsOf(trace.limit).map((burst) => ({
        model: { algorithm: 'bucket' as const, burst, rejectionsCount },
        contradiction: explainByBucket(buckets, burst),
      }))
    }),
  ]
}

export function modelsThatExplain(trace: LimiterTrace): readonly Model[] {
  return fitModels(trace)
    .filter(({ contradiction }) => contradiction === null)
    .map(({ model }) => model)
}

/** Names of the models; buckets are one range. */
export function nameModels(models: readonly Model[], limit: number): readonly string[] {
  const names = [false, true].flatMap((counting) => {
    const suffix = counting ? ' (rejections count)' : ''
    const bursts = models.flatMap((model) =>
      model.algorithm === 'bucket' && model.rejectionsCount === counting ? [model.burst] : [],
    )
    const others = models
      .filter(
        (model) =>
          model.algorithm !== 'bucket' &&
          ('rejectionsCount' in model && model.rejectionsCount) === counting,
      )
      .map(({ algorithm }) => `${algorithm}${suffix}`)
    return bursts.length === 0 ? others : [...others, `${nameBuckets(bursts, limit)}${suffix}`]
  })
  return names
}

function nameBuckets(bursts: readonly number[], limit: number): string {
  const [low, high] = [smallest(bursts), largest(bursts)]
  if (low === limit) return 'token bucket'
  return low === high ? `bucket of ${low}` : `bucket of ${low} to ${high}`
}

/** Null if some phase explains the trace; else the contradiction with the latest request. */
function overPhases(
  { windowUs, toleranceUs }: LimiterTrace,
  edge: LimiterTrace['edge'],
  explain: (phaseUs: number) => Contradiction | null,
): Contradiction | null {
  const stepUs = windowUs / phases
  const lowUs = edge === null ? 0 : edge.lowUs - toleranceUs
  const spanUs = edge === null ? windowUs : Math.min(windowUs, edge.highUs + toleranceUs - lowUs)
  let latest: Contradiction | null = null
  for (let phaseUs = lowUs; phaseUs <= lowUs + spanUs + stepUs / 2; phaseUs += stepUs) {
    const contradiction = explain(phaseUs)
    if (contradiction === null) return null
    if (latest === null || contradiction.request.fromUs > latest.request.fromUs) {
      latest = contradiction
    }
  }
  return latest
}

function burstsOf(limit: number): readonly number[] {
  if (limit <= maxBursts) return Array.from({ length: limit }, (_, index) => index + 1)
  return Array.from({ length: maxBursts }, (_, index) =>
    Math.round(limit ** ((index + 1) / maxBursts)),
  )
}
