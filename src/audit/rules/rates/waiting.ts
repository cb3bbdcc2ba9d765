import { windows, windowsOf } from '../../../contract/contract.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import type { Model } from '../../../limits/models/model.ts'
import { epochOf, isEpoch, resetInstant } from '../../../limits/reset-unit.ts'
import { type Instant, type ResetWindow, windowsByReset } from '../../../limits/reset-windows.ts'
import type { BandTrace } from '../../../limits/traces.ts'
import { countWhile } from '../../../user/count-below.ts'
import { once, onceForObject } from '../../../user/once.ts'
import { mostForgotten } from './continuity.ts'
import type { RateEvent, RateHistory } from './history.ts'
import { Replays } from './replays.ts'
import { readResets, sampleOf } from './resets.ts'
import { explain, type Known, tracesIn } from './traces.ts'

/** The reset of a rejection; null if it shows none. */
export type ResetOf = (rejection: LimitedRequest) => Instant | null

/** The readings of resets, one for each unit that fits the deployment (RATE-12). */
export function readingsOf(history: RateHistory, known: Known): readonly ResetOf[] {
  const { inference, clockOf } = readResets(history, known)
  return inference.units.map((unit) => {
    const limiters = clockOf(unit)
    return (rejection) => {
      const sample = sampleOf(rejection, known.contract)
      return sample === null ? null : resetInstant(unit, sample, limiters)
    }
  })
}

/** Returns the windows of a trace that its resets identify; none if the resets have no sure unit. */
export function windowsIn(
  history: RateHistory,
  known: Known,
): (trace: BandTrace) => readonly ResetWindow[] {
  const [unit, ...others] = readResets(history, known).inference.units
  const [resetOf] = readingsOf(history, known)
  if (unit === undefined || resetOf === undefined || others.length > 0) return () => []
  // Values of one clock are compared with each other; what that clock shows now is known less well.
  const nameOf = isEpoch(unit)
    ? ({ reset }: LimitedRequest) => (reset === null ? null : epochOf(unit, reset))
    : resetOf
  return (trace) => windowsByReset(trace, resetOf, nameOf)
}

/** Traces with rejections: those that are replayed, and a note on those that are not. */
export interface Rejected {
  readonly waits: readonly RejectionsOfKey[]
  /** Null if all are replayed. */
  readonly note: string | null
}

/** Traces with rejections, of the minute and of windows that only a contract names, such as `10s`. */
export function rejectionsOfKeys(history: RateHistory, known: Known): Rejected {
  const own = new Set((known.contract.bands ?? []).flatMap(windowsOf))
  const lengths = [...own].filter((length) => !windows.some((each) => each === length))
  const waits: RejectionsOfKey[] = []
  const replays = new Replays()
  for (const window of ['minute' as const, ...lengths])
    for (const trace of tracesIn(history, known, window)) {
      // A window without a limit rejects nothing: another one, such as a month, did.
      if (!Number.isFinite(trace.limit)) continue
      if (!trace.requests.some(({ decision }) => decision === 'rejected')) continue
      if (replays.takes(trace)) waits.push(new RejectionsOfKey(history, trace))
    }
  return { waits, note: replays.note('keys with rejections') }
}

/** The requests of a key after its rejections, and how long its limiter may make it wait. */
export class RejectionsOfKey {
  readonly trace: BandTrace
  private readonly history: RateHistory
  private models: readonly Model[] | null = null
  private readonly rejections = once(
    () => this.trace.requests.filter(({ decision }) => decision === 'rejected').length,
  )

  constructor(history: RateHistory, trace: BandTrace) {
    this.history = history
    this.trace = trace
  }

  /** Finds the models that explain the trace, on demand, because it takes long. */
  private explaining(): readonly Model[] {
    this.models ??= explain(this.trace).models
    return this.models
  }

  /** Whether only windows of a fixed length explain the trace. */
  hasFixedWindows(): boolean {
    const models = this.explaining()
    return models.length > 0 && models.every(({ algorithm }) => algorithm.startsWith('fixed'))
  }

  mayCountRejections(): boolean {
    return this.explaining().some((model) => 'rejectionsCount' in model && model.rejectionsCount)
  }

  /** How late or early a limiter may be by its own granularity. */
  get grainUs(): number {
    const { windowUs, limit } = this.trace
    return windowUs / limit + windowUs * 0.01
  }

  /** How late a limiter may be after what it promised on this rejection. */
  spareUs(index: number): number {
    // A read after the rejection may count, as a rejection may (gap G-18).
    const mayHaveMoved =
      this.mayCountRejections() || this.trace.requests[index + 1]?.decision === 'read'
    return this.grainUs + (mayHaveMoved ? movedByRejections(this.trace, index) : 0)
  }

  /** Whether the attempt was alone on its account since two windows before the rejection: other keys may share the counter. */
  isAlone(index: number, next: LimitedRequest): boolean {
    const { requests, windowUs, key } = this.trace
    const { byKey, byAccount } = this.history
    const fromUs = requests[index]!.fromUs - 2 * windowUs
    const events = byAccount.get(byKey.get(key)[0]!.account)
    const latestUs = latestEnds(events)
    // From the last that began early enough back to where all had ended.
    for (let at = begunBy(events, next.untilUs) - 1; at >= 0 && latestUs[at]! >= fromUs; at--) {
      if (events[at]!.key !== key && events[at]!.untilUs >= fromUs) return false
    }
    return true
  }

  nextAdmitted(index: number): LimitedRequest | null {
    const { requests } = this.trace
    const rejectedBy = requests[index]!.untilUs
    for (let at = index + 1; at < requests.length; at++) {
      const request = requests[at]!
      if (request.decision === 'admitted' && request.fromUs > rejectedBy) return request
    }
    return null
  }

  /**
   * Whether so many came free at once that a new window must have begun. A bucket and a counter regain one by one, and a log at most what
   * came a window before; each rejection that counts moves that by a part of the limit.
   */
  beganAnew(index: number, admitted: LimitedRequest): boolean {
    const { requests, windowUs, limit } = this.trace
    const rejection = requests[index]!
    if (rejection.remaining === null || admitted.remaining === null) return false
    if (admitted.limit !== limit || rejection.limit !== limit) return false
    const freed = admitted.remaining + 1 - rejection.remaining
    if (freed * 2 <= limit) return false
    const most = mostForgotten(requests, rejection, admitted, windowUs)
    return freed > most * (1 + this.rejections() / limit)
  }
}

/** For each request, when the last of those up to it ended. */
const latestEnds = onceForObject((events: readonly RateEvent[]): Float64Array => {
  let latestUs = Number.NEGATIVE_INFINITY
  return Float64Array.from(events, ({ untilUs }) => (latestUs = Math.max(latestUs, untilUs)))
})

/** How many requests began by then. They are in order of start. */
const begunBy = (events: readonly RateEvent[], untilUs: number): number =>
  countWhile(events.length, (at) => events[at]!.fromUs <= untilUs)

/** How late a limiter that counts rejections may be: a counter weighs the last window's too, and a log must drop one more entry. */
function movedByRejections({ requests, limit, windowUs }: BandTrace, index: number): number {
  const sinceUs = requests[index]!.fromUs - windowUs
  let first = index
  while (first > 0 && requests[first - 1]!.fromUs >= sinceUs) first--
  const trailing = requests.slice(first, index + 1)
  const rejections = trailing.filter(({ decision }) => decision !== 'admitted').length
  const longestGap = trailing.reduce(
    (longest, { fromUs }, at) => Math.max(longest, fromUs - (trailing[at - 1]?.fromUs ?? fromUs)),
    0,
  )
  return Math.max(longestGap, (windowUs * rejections) / (limit + rejections))
}
