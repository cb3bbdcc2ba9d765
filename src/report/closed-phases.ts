import { z } from 'zod'
import { jsonOf } from '../user/json.ts'

const shape = z.looseObject({
  phases: z.array(
    z
      .looseObject({
        name: z.string(),
        part: z.string().default('steady'),
        load: z.looseObject({ kind: z.string(), users: z.number().nullish() }),
      })
      .catch({ name: '', part: '', load: { kind: '' } }),
  ),
})

/** Phases of a stored scenario that count in its figures. It is read leniently: another version or an import may have written it. */
function countedPhases(scenarioJson: string) {
  const phases = shape.safeParse(jsonOf(scenarioJson)).data?.phases ?? []
  const steady = phases.filter(({ part }) => part === 'steady')
  return steady.length === 0 ? phases : steady
}

/**
 * Those with a closed load. Its waiting users send nothing, so the response time lacks the waiting that an open load would show
 * (coordinated omission).
 */
export function closedPhases(scenarioJson: string): readonly string[] {
  return countedPhases(scenarioJson)
    .filter(
      ({ load: { kind, users } }) => kind === 'concurrency' || kind === 'saturate' || users != null,
    )
    .map(({ name }) => name)
}

/** What the times and rates of closed phases mean. @param names of the phases, at least one */
export const closedLoadText = (names: string): string =>
  `Closed load (${names}): its users wait for answers, so response time leaves out the waiting that an open load would show (coordinated omission). No arrival rate was planned: rates are those that its users reached.`

/** Whether any of them is no search. */
export const hasOtherPhases = (scenarioJson: string): boolean =>
  countedPhases(scenarioJson).some(({ load }) => load.kind !== 'sweep')
