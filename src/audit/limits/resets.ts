import { type Contract, windowUs } from '../../contract/contract.ts'
import { cellsNamed } from '../../limits/band.ts'
import { inferResetUnit, type ResetSample, type UnitInference } from '../../limits/reset-unit.ts'
import { type ServiceClock, serviceClock } from '../../limits/service-clock.ts'
import type { History, Sighting } from './history.ts'

/** Every reset value on record, with the longest that it may look ahead. */
export function resetSamples({ byKey }: History, contract: Contract): readonly ResetSample[] {
  return [...byKey.values()].flatMap((sightings) => {
    // Where rejections count, each may push the reset further.
    let rejections = 0
    return sightings.flatMap((sighting) => {
      if (sighting.decision === 'rejected') rejections++
      const sample = sampleOf(sighting, contract)
      if (sample === null) return []
      const pushed = sighting.limit === null ? 0 : rejections / sighting.limit
      return [{ ...sample, windowUs: sample.windowUs * (1 + pushed) }]
    })
  })
}

export function sampleOf(arrival: Sighting, contract: Contract): ResetSample | null {
  const { reset, limit } = arrival
  if (reset === null) return null
  const [cell] = limit === null ? [] : cellsNamed(contract, limit)
  return { arrival, value: reset, windowUs: windowUs[cell?.window ?? 'day'] }
}

export interface ResetReading {
  readonly samples: readonly ResetSample[]
  readonly clock: ServiceClock | null
  readonly inference: UnitInference
}

export function readResets(history: History, contract: Contract): ResetReading {
  const samples = resetSamples(history, contract)
  const clock = serviceClock(history.sightings)
  return { samples, clock, inference: inferResetUnit(samples, clock) }
}
