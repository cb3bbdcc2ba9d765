import { type JsonObject, objectOf } from '../user/json.ts'
import { type Found, foundIf, type Path, show, unknownNames } from './issues.ts'
import { entries, items } from './loose.ts'
import { ratePerSOf } from './quantity.ts'

const openLoads = ['constant', 'poisson', 'gamma']

/** Issues of a phase that its fields have together, or with the rest of the scenario. */
export function phaseIssues(scenario: JsonObject): readonly Found[] {
  const weights = new Map(entries(scenario.steps).map(([name, step]) => [name, step.weight]))
  const steps = [...weights.keys()]
  const phases = items(scenario.phases).map(objectOf)
  const names = phases.map(({ name }) => name)
  return phases.flatMap((phase, at) => {
    const path = ['phases', at]
    const { name, load, duration } = phase
    const isOpen = openLoads.includes(String(load))
    const isRepeated = name !== undefined && names.indexOf(name) < at
    return [
      ...unknownNames(phase.steps, steps, 'step', [...path, 'steps']),
      ...(items(phase.tasks).length === 0 ? weightIssues(weights, items(phase.steps), path) : []),
      ...foundIf(
        path,
        [isRepeated, `another phase has the name ${show(name)}; give each its own.`, 'name'],
        [
          (isOpen || load === 'concurrency') && (duration ?? phase.max_requests) === undefined,
          'this phase never ends; give it a duration or max_requests.',
        ],
        [
          isOpen && typeof phase.rate === 'object' && duration === undefined,
          'a ramp needs a duration: the time from one rate to the other.',
        ],
      ),
      ...silentIssues(phase, path),
      ...(load === 'replay' ? replayIssues(scenario, phase, path) : []),
      ...foundIf(path, [
        phase.arrivals === 'gamma' && phase.burstiness === undefined,
        'gamma arrivals need burstiness: 1 is Poisson, less is burstier.',
      ]),
    ]
  })
}

/** A step of weight 0 is drawn only in a phase that names it, and no step with weight. */
function weightIssues(
  weights: ReadonlyMap<string, unknown>,
  named: readonly unknown[],
  path: Path,
): readonly Found[] {
  const weightless = (name: unknown) => weights.get(String(name)) === 0
  if (named.length === 0) {
    return weights.size > 0 && [...weights.keys()].every(weightless)
      ? [{ path, message: 'every step has weight 0; list the steps to send in steps.' }]
      : []
  }
  if (named.every(weightless)) return []
  return named.flatMap((name, at) =>
    foundIf(
      [...path, 'steps', at],
      [
        weightless(name),
        `step ${String(name)} has weight 0, so it is never drawn with other steps; give it a weight, or its own phase.`,
      ],
    ),
  )
}

/** A trace decides the length of each request, which turns of a conversation cannot have. */
function replayIssues(scenario: JsonObject, phase: JsonObject, path: Path): readonly Found[] {
  const named = items(phase.steps)
  const drawn = entries(scenario.steps).filter(([name, { weight }]) =>
    named.length > 0 ? named.includes(name) : weight !== 0,
  )
  return drawn
    .filter(([, { session }]) => session !== undefined)
    .map(([name]) => ({
      path,
      message: `a trace gives the length of each request, but step ${name} has a session. Name others in steps.`,
    }))
}

/** Rates or weights that are all 0 would send nothing. */
function silentIssues(phase: JsonObject, path: Path): readonly Found[] {
  const isZero = (amount: unknown) =>
    amount === 0 || (typeof amount === 'string' && ratePerSOf(amount) === 0)
  const isSilent = (amounts: readonly unknown[]) => amounts.length > 0 && amounts.every(isZero)
  const { load } = phase
  const isSilentRate = [...openLoads, 'day'].includes(String(load)) && isSilent(ratesOf(phase))
  return foundIf(
    path,
    [
      load === 'sweep' && isZero(phase.start),
      'a sweep doubles its start, which must be above 0.',
      'start',
    ],
    [
      load === 'stages' && isSilent(items(phase.stages).flatMap(ratesOf)),
      'stages that are all 0 send nothing.',
      'stages',
    ],
    [isSilentRate, 'a rate of 0 sends nothing; set a higher one.', 'rate'],
    [
      !isSilentRate && load === 'day' && isSilent(items(phase.weights)),
      'weights that are all 0 send nothing.',
      'weights',
    ],
  )
}

/** A rate, or both ends of a ramp, as written. */
function ratesOf(rated: unknown): readonly unknown[] {
  const { rate } = objectOf(rated)
  const { from, to } = objectOf(rate)
  return typeof rate === 'object' ? [from, to] : [rate]
}
