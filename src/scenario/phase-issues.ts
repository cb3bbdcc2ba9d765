import { type Mapping, mappingOf } from '../user/mapping.ts'
import { type Found, type Path, unknownNames } from './issues.ts'
import { entries, items } from './loose.ts'
import { ratePerSOf } from './quantity.ts'

const openLoads = ['constant', 'poisson', 'gamma']

/** Issues of a phase that its fields have together, or with the rest of the scenario. */
export function phaseIssues(scenario: Mapping): readonly Found[] {
  const found: Found[] = []
  const weights = new Map(entries(scenario.steps).map(([name, step]) => [name, step.weight]))
  const steps = [...weights.keys()]
  const names = new Set<unknown>()
  for (const [at, item] of items(scenario.phases).entries()) {
    const phase = mappingOf(item)
    const path = ['phases', at]
    for (const each of unknownNames(phase.steps, steps, 'step', [...path, 'steps']))
      found.push(each)
    if (items(phase.tasks).length === 0) {
      for (const each of weightIssues(weights, items(phase.steps), path)) found.push(each)
    }
    if (names.has(phase.name)) {
      found.push({
        path: [...path, 'name'],
        message: `another phase has the name ${JSON.stringify(phase.name)}; give each its own.`,
      })
    }
    if (phase.name !== undefined) names.add(phase.name)
    const ramps = typeof phase.rate === 'object'
    const endless = phase.duration === undefined && phase.max_requests === undefined
    if ((openLoads.includes(String(phase.load)) || phase.load === 'concurrency') && endless) {
      found.push({ path, message: 'this phase never ends; give it a duration or max_requests.' })
    }
    if (openLoads.includes(String(phase.load)) && ramps && phase.duration === undefined) {
      found.push({ path, message: 'a ramp needs a duration: the time from one rate to the other.' })
    }
    for (const each of silentIssues(phase, path)) found.push(each)
    if (phase.load === 'replay')
      for (const each of replayIssues(scenario, phase, path)) found.push(each)
    if (phase.arrivals === 'gamma' && phase.burstiness === undefined) {
      found.push({
        path,
        message: 'gamma arrivals need burstiness: 1 is Poisson, less is burstier.',
      })
    }
  }
  return found
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
    weightless(name)
      ? [
          {
            path: [...path, 'steps', at],
            message: `step ${String(name)} has weight 0, so it is never drawn with other steps; give it a weight, or its own phase.`,
          },
        ]
      : [],
  )
}

/** A trace decides the length of each request, which turns of a conversation cannot have. */
function replayIssues(scenario: Mapping, phase: Mapping, path: Path): readonly Found[] {
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
function silentIssues(phase: Mapping, path: Path): readonly Found[] {
  const isZero = (amount: unknown) =>
    amount === 0 || (typeof amount === 'string' && ratePerSOf(amount) === 0)
  const isSilent = (amounts: readonly unknown[]) => amounts.length > 0 && amounts.every(isZero)
  const silent = (field: string, message: string) => [{ path: [...path, field], message }]
  if (phase.load === 'sweep') {
    return isZero(phase.start)
      ? silent('start', 'a sweep doubles its start, which must be above 0.')
      : []
  }
  if (phase.load === 'stages') {
    return isSilent(items(phase.stages).flatMap(ratesOf))
      ? silent('stages', 'stages that are all 0 send nothing.')
      : []
  }
  if ([...openLoads, 'day'].includes(String(phase.load)) && isSilent(ratesOf(phase))) {
    return silent('rate', 'a rate of 0 sends nothing; set a higher one.')
  }
  return phase.load === 'day' && isSilent(items(phase.weights))
    ? silent('weights', 'weights that are all 0 send nothing.')
    : []
}

/** A rate, or both ends of a ramp, as written. */
function ratesOf(rated: unknown): readonly unknown[] {
  const { rate } = mappingOf(rated)
  const { from, to } = mappingOf(rate)
  return typeof rate === 'object' ? [from, to] : [rate]
}
