import { z } from 'zod'

const shape = z.looseObject({
  phases: z.array(
    z
      .looseObject({
        name: z.string(),
        part: z.string().default('steady'),
        load: z.looseObject({ kind: z.string() }),
      })
      .catch({ name: '', part: '', load: { kind: '' } }),
  ),
})

/**
 * Phases of a stored scenario that figures are made of and whose load is closed: a user who waits for an answer sends nothing, so
 * response time holds none of the waiting that an open load would show (coordinated omission).
 * Read leniently: a store may have been written by another version, or its run been imported.
 */
export function closedPhases(scenarioJson: string): readonly string[] {
  try {
    const { phases } = shape.parse(JSON.parse(scenarioJson))
    const steady = phases.filter(({ part }) => part === 'steady')
    return (steady.length === 0 ? phases : steady)
      .filter(({ load }) => load.kind === 'concurrency' || load.kind === 'saturate')
      .map(({ name }) => name)
  } catch {
    return []
  }
}
