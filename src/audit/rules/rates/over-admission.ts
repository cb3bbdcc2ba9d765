import { type Band, type LimitWindow, limitOf, mayBeOfBand } from '../../../contract/contract.ts'
import { type DeploymentProfile, established } from '../../../contract/profile.ts'
import type { Promising } from '../../../contract/promises.ts'
import { type FullestWindow, fullestWindow } from '../../../limits/admission.ts'
import { edgesOfZonesUs } from '../../../limits/calendar.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import type { Model } from '../../../limits/models/model.ts'
import { ticksExplainAdmissions } from '../../../limits/models/ticks.ts'
import { reachOf } from '../../../limits/reach.ts'
import { serviceClock } from '../../../limits/service-clock.ts'
import type { BandTrace } from '../../../limits/traces.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, withNote } from '../../verdict.ts'
import { type RateHistory, witnessOf } from './history.ts'
import { Replays } from './replays.ts'
import {
  type Explanation,
  explain,
  isPressed,
  type Known,
  tracesIn,
  withoutRejections,
} from './traces.ts'
import { windowsIn } from './waiting.ts'

/** Whether more were admitted than any legal limiter allows: more than 2N in one window, or more than any model and phase admits. */
export function judgeAdmissions(
  history: RateHistory,
  known: Known<'bands'>,
  window: LimitWindow,
): Verdict {
  const { contract, profile } = known
  const traces = tracesIn(history, known, window)
  let observations = 0
  for (const trace of traces) if (isPressed(trace)) observations += trace.requests.length
  if (observations === 0) return notObserved(whatItTakes(history, contract, window))
  const windowsOf = windowsIn(history, known)
  const replays = new Replays()
  let fullestCount = 0
  let fullestLimit = 0
  let isEdgeShown = false
  for (const trace of traces) {
    if (!isPressed(trace)) continue
    const { requests, limit, windowUs, toleranceUs } = trace
    const fullest = fullestWindow(requests, windowUs, toleranceUs)
    if (fullest === null || fullest.count <= limit) continue
    const isTwice = fullest.count > 2 * limit
    if (isTwice || knownToSlide(profile))
      return fail(observations, {
        expected: isTwice
          ? `at most ${limit} in one ${window}, or ${2 * limit} over an edge of windows`
          : `at most ${limit} in any ${window}: the profile says that the limiter is a sliding log`,
        observed: `${fullest.count} admitted within one ${window}`,
        witnesses: [
          witnessOf(fullest.first, 'the first of them'),
          witnessOf(fullest.last, `number ${fullest.count}, admitted as well`),
        ],
      })
    const { models, contradiction } = replays.takes(trace)
      ? explain(withoutRejections(trace))
      : nothing
    if (contradiction !== null && !ticksExplainAdmissions(trace))
      return fail(observations, {
        expected: `${limit} in one ${window} by some limiter: windows of any phase, a sliding log or counter, or a bucket`,
        observed: `${fullest.count} within one ${window}, when none of them lets in so many`,
        witnesses: [witnessOf(contradiction.request, 'admitted where every one of them is full')],
      })
    const needsEdge =
      models.length > 0 && models.every(({ algorithm }) => withEdges.includes(algorithm))
    const onceIn = window === 'minute' || !needsEdge ? null : edgeOnceIn(trace, fullest)
    if (onceIn !== null && windowsOf(trace).length <= 1)
      return fail(observations, {
        expected: `at most ${limit} in one ${window}, or up to ${2 * limit} over an edge of windows`,
        observed: `${fullest.count} admitted within one ${window}, and no ${window} of any zone begins where the edge would have to be; by chance, one window in ${onceIn} has it there`,
        witnesses: [
          witnessOf(fullest.first, 'the first of them'),
          witnessOf(fullest.last, `number ${fullest.count}, admitted as well`),
        ],
      })
    if (fullest.count > fullestCount) {
      fullestCount = fullest.count
      fullestLimit = limit
      isEdgeShown = windowsOf(trace).length > 1
    }
  }
  const full = fullByReset(history, known, window)
  if (full !== null) return full
  if (window !== 'minute' && fullestCount > 0 && !isEdgeShown)
    return inconclusive(
      observations,
      `${fullestCount} admitted within one ${window} with a limit of ${fullestLimit}: legal only over an edge of windows, and no reset shows one between them`,
    )
  return withNote(
    pass(
      observations,
      fullestCount > 0
        ? {
            note: `at most ${fullestCount} in any ${window} with a limit of ${fullestLimit}: legal over an edge of windows, not for a sliding one`,
          }
        : {},
    ),
    replays.note('keys above their limit'),
  )
}

/** Limiters whose windows have edges, over which alone they admit more than N. */
const withEdges: readonly Model['algorithm'][] = [
  'fixed-aligned',
  'fixed-anchored',
  'sliding-counter',
]

/** An accusation by chance is as rare as this: one window in so many. */
const rareEdges = 500

/** One window in so many has an edge where the admissions are legal; null if not rare, or if it may be a clock's edge. */
function edgeOnceIn(
  { requests, limit, windowUs, toleranceUs }: BandTrace,
  { count, first, last }: FullestWindow,
): number | null {
  const within = requests.filter(
    ({ decision, fromUs, untilUs }) =>
      decision === 'admitted' && fromUs >= first.fromUs && untilUs <= last.untilUs,
  )
  const [before, after] = [within[count - limit - 1], within[limit]]
  const clock = serviceClock(requests)
  if (before === undefined || after === undefined || clock === null) return null
  const spanUs = after.untilUs - before.fromUs
  const onceIn = Math.floor(windowUs / spanUs)
  const quarterAt = (us: number) => Math.floor(us / edgesOfZonesUs)
  const slackUs = Math.min(toleranceUs, 2e6)
  const mayBegin =
    quarterAt(before.fromUs + clock.lowUs - slackUs) !==
    quarterAt(after.untilUs + clock.highUs + slackUs)
  return mayBegin || onceIn < rareEdges ? null : onceIn
}

/** More admissions than the limit while one reset was shown: no edge of windows lies between them. */
function fullByReset(
  history: RateHistory,
  known: Known<'bands'>,
  window: LimitWindow,
): Verdict | null {
  const windowsOf = windowsIn(history, known)
  for (const trace of tracesIn(history, known, window)) {
    for (const { requests } of windowsOf(trace)) {
      const admitted = requests.filter(({ decision }) => decision === 'admitted')
      if (admitted.length <= trace.limit || hasCountForEachRoute(admitted, trace.limit)) continue
      const last = admitted.at(-1)!
      return fail(trace.requests.length, {
        expected: `at most ${trace.limit} in the window that ends at one reset`,
        observed: `${admitted.length} admitted in it`,
        witnesses: [
          witnessOf(admitted[0]!, `the first of them, reset ${admitted[0]!.reset}`),
          witnessOf(last, `number ${admitted.length}, reset ${last.reset}`),
        ],
      })
    }
  }
  return null
}

/** Whether each route has counts of its own, none of which admitted more than the limit: a reset says nothing about their sum. */
function hasCountForEachRoute(admitted: readonly LimitedRequest[], limit: number): boolean {
  const routes = [...Map.groupBy(admitted, ({ endpoint }) => endpoint).values()]
  return (
    routes.length > 1 &&
    routes.every((requests) => {
      const shown = Map.groupBy(requests, ({ remaining }) => remaining)
      if (shown.has(null)) return false
      const highest = requests.reduce(
        (most, { remaining }) => Math.max(most, remaining!),
        -Infinity,
      )
      const begun = shown.get(highest)!.length
      const isMost = [...shown.values()].every(({ length }) => length <= begun)
      return isMost && requests.length <= begun * limit
    })
  )
}
const nothing: Explanation = { models: [], contradiction: null }

/** A log never admits more than N in a window; other sliding limiters do across an edge. */
const knownToSlide = (profile: DeploymentProfile | undefined): boolean =>
  established(profile, 'G-22', 'algorithm') === 'sliding-log'

/** The traffic that would test a limit, and where the balance makes that impossible. */
export function whatItTakes(
  { byAccount }: RateHistory,
  contract: Promising<'bands'>,
  window: LimitWindow,
): string {
  const seen = new Set<Band>()
  for (const events of byAccount.values()) {
    for (const band of contract.bands) {
      if (!seen.has(band) && events.some(({ balance }) => mayBeOfBand(band, balance)))
        seen.add(band)
    }
  }
  const limited = contract.bands.filter((band) => Number.isFinite(limitOf(band, window)))
  if (limited.length === 0) return `a limit of the ${window} in the contract, which promises none`
  const inSight = limited.filter((band) => seen.has(band))
  return (inSight.length > 0 ? inSight : limited)
    .map((band) => {
      const reach = reachOf(band, window)
      if (!reach.reachable) return `top-ups: ${reach.why}`
      const isQuick = reach.minutes < 1
      const time =
        window === 'minute' || isQuick ? `one ${window}` : `at least ${reach.minutes} minutes`
      return `more than ${limitOf(band, window)} requests of one key in ${time} in band ${band.name}${window === 'minute' ? '' : `, from ${reach.credits} credits`}`
    })
    .join('; ')
}
