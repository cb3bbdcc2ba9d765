import { flags } from '../../../attempt/flags.ts'
import type { Contract, ResetFormat } from '../../../contract/contract.ts'
import { established } from '../../../contract/profile.ts'
import { longestNamedUs } from '../../../limits/band.ts'
import { longestWindowUs } from '../../../limits/calendar.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import {
  inferResetUnit,
  limiterClock,
  type ResetSample,
  type ResetUnit,
  type UnitInference,
} from '../../../limits/reset-unit.ts'
import { type ServiceClock, serviceClock } from '../../../limits/service-clock.ts'
import { onceForEach } from '../../../user/once.ts'
import type { RateEvent, RateHistory } from './history.ts'
import type { Known } from './traces.ts'

/** All reset values, each with the longest time that it may look ahead, those of each key together. */
export function resetSamples(history: RateHistory, contract: Contract): Iterable<ResetSample> {
  const samples = { [Symbol.iterator]: () => readSamples(history, contract) }
  return history.isOnDisk ? samples : [...samples]
}

function* readSamples(
  { byKey }: RateHistory,
  contract: Contract,
): Generator<ResetSample, void, undefined> {
  for (const events of byKey.values()) {
    // If refused requests or reads count (gap G-18), each may delay the reset.
    let others = 0
    for (const event of events) {
      if (event.decision !== 'admitted') others++
      const sample = sampleOf(event, contract)
      if (sample === null) continue
      // Of a limit of 0, which some gateways write for none, nobody knows by how much.
      const pushed = event.limit === null || event.limit === 0 ? 0 : others / event.limit
      const stated = isDuration(event) ? { stated: 'delta-s' as const } : {}
      yield { ...sample, ...stated, windowUs: sample.windowUs * (1 + pushed) }
    }
  }
}

/** No Unix time of a service is smaller. */
const leastUnixS = 1e9

/**
 * Whether the reset is in seconds from now because the header said so. What `reset` of a request holds:
 *
 *     header               with a Date                 without a Date
 *     30 or 1800000030     the number                  the number
 *     1m30s or 9.1s        seconds from now            seconds from now
 *     2026-11-20T10:00Z    seconds from that Date      Unix seconds
 *
 * All but a number alone have the flag.
 */
const isDuration = ({ flags: set, reset }: RateEvent) =>
  (set & flags.malformedRateReset) !== 0 && reset !== null && reset < leastUnixS

/** The reset of a response and the window that it lies in; null without a reset, or for a time without a Date to count from. */
export function sampleOf(request: LimitedRequest, contract: Contract): ResetSample | null {
  const { reset, limit, dateS } = request
  const isUnixTime = contract.resetFormat === 'time' && dateS === null
  if (reset === null || isUnixTime) return null
  const named = limit === null ? null : longestNamedUs(contract, limit)
  if (named !== null) return { request, value: reset, windowUs: named }
  // A limit that no window has may be that of a calendar.
  const { rolling, ofCalendar } = longestWindowUs(contract.bands ?? [])
  return { request, value: reset, windowUs: Math.max(rolling, ofCalendar) }
}

export interface ResetReading {
  readonly samples: Iterable<ResetSample>
  readonly clock: ServiceClock | null
  readonly inference: UnitInference
  /** The clock by which every epoch of the unit lies between now and a window ahead; null if none is known. */
  readonly clockOf: (unit: ResetUnit) => ServiceClock | null
}

/** The unit that a form of the contract names; a duration or a time is kept as seconds from now. */
export function unitOf(format: ResetFormat | undefined): ResetUnit | null {
  if (format === undefined || format === 'number') return null
  return format === 'duration' || format === 'time' ? 'delta-s' : format
}

const known = new WeakMap<RateHistory, ResetReading>()

/** What the resets mean; if several units fit, by the contract, else the probe's answer (gap G-21). */
export function readResets(history: RateHistory, evidence: Known): ResetReading {
  const reading = known.get(history) ?? readAll(history, evidence)
  known.set(history, reading)
  return reading
}

function readAll(history: RateHistory, { contract, profile }: Known): ResetReading {
  const samples = resetSamples(history, contract)
  const clock = serviceClock(requestsOf(history))
  const inference = inferResetUnit(samples, clock)
  const named = [unitOf(contract.resetFormat), established(profile, 'G-21', 'unit')]
  const meant = named.flatMap((each) => inference.units.filter((unit) => unit === each)).slice(0, 1)
  return {
    samples,
    clock,
    clockOf: onceForEach((unit) => limiterClock(unit, samples, clock)),
    inference: meant.length > 0 ? { ...inference, units: meant } : inference,
  }
}

function* requestsOf({ byAccount }: RateHistory): Generator<LimitedRequest, void, undefined> {
  for (const events of byAccount.values()) yield* events
}
