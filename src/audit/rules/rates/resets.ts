import { type Contract, type ResetFormat, windowUs } from '../../../contract/contract.ts'
import { established } from '../../../contract/profile.ts'
import { cellsNamed } from '../../../limits/band.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import { inferResetUnit, type ResetSample, type UnitInference } from '../../../limits/reset-unit.ts'
import { type ServiceClock, serviceClock } from '../../../limits/service-clock.ts'
import type { Known } from './courses.ts'
import type { RateHistory } from './history.ts'

/** All reset values, each with the longest time that it may look ahead. */
export function resetSamples({ byKey }: RateHistory, contract: Contract): readonly ResetSample[] {
  const samples: ResetSample[] = []
  for (const events of byKey.values()) {
    // If refused requests or reads count (gap G-18), each may delay the reset.
    let others = 0
    for (const event of events) {
      if (event.decision !== 'admitted') others++
      const sample = sampleOf(event, contract)
      if (sample === null) continue
      const pushed = event.limit === null ? 0 : others / event.limit
      samples.push({ ...sample, windowUs: sample.windowUs * (1 + pushed) })
    }
  }
  return samples
}

export function sampleOf(request: LimitedRequest, contract: Contract): ResetSample | null {
  const { reset, limit } = request
  if (reset === null) return null
  const [cell] = limit === null ? [] : cellsNamed(contract, limit)
  return { request, value: reset, windowUs: windowUs[cell?.window ?? 'day'] }
}

export interface ResetReading {
  readonly samples: readonly ResetSample[]
  readonly clock: ServiceClock | null
  readonly inference: UnitInference
}

/** The unit that a form of the contract names; a duration or a time is kept as seconds from now. */
const unitOf = (format: ResetFormat | undefined): string | undefined =>
  format === 'duration' || format === 'time' ? 'delta-s' : format

const known = new WeakMap<RateHistory, ResetReading>()

/**
 * What the resets mean. If the values fit several units, the contract decides, or the probe's answer (gap G-21). The result is kept for
 * all rules.
 */
export function readResets(history: RateHistory, evidence: Known): ResetReading {
  const reading = known.get(history) ?? readAll(history, evidence)
  known.set(history, reading)
  return reading
}

function readAll(history: RateHistory, { contract, profile }: Known): ResetReading {
  const samples = resetSamples(history, contract)
  const clock = serviceClock(history.events)
  const inference = inferResetUnit(samples, clock)
  const named = [unitOf(contract.resetFormat), established(profile, 'G-21', 'unit')]
  const meant = inference.units.filter((unit) => named.includes(unit))
  return {
    samples,
    clock,
    inference: meant.length > 0 ? { ...inference, units: meant } : inference,
  }
}
