import { z } from 'zod'

const shape = z.looseObject({
  phases: z.array(
    z.looseObject({ name: z.string(), load: z.looseObject({ kind: z.string() }) }).catch({
      name: '',
      load: { kind: '' },
    }),
  ),
})

/**
 * Phases of a stored scenario whose load is closed: a user who waits for an answer sends nothing, so
 * response time holds none of the waiting that an open load would show (coordinated omission).
 * Read leniently: a store may have been written by another version, or its run been imported.
 */
export function closedPhases(scenarioJson: string): readonly string[] {
  try {
    return shape
      .parse(JSON.parse(scenarioJson))
      .phases.filter(({ load }) => load.kind === 'concurrency' || load.kind === 'saturate')
      .map(({ name }) => name)
  } catch {
    return []
  }
}
