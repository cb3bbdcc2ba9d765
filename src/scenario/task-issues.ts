import { generating } from '../contract/request.ts'
import { type Mapping, mappingOf } from '../user/mapping.ts'
import { type Found, type Path, unknownName } from './issues.ts'
import { items } from './loose.ts'
import { prefixIssues } from './prefix-issues.ts'

/** Requests of one task at most, over all its turns. */
const mostRequests = 10_000

const namesIn = (value: unknown) =>
  (typeof value === 'string' ? [value] : items(value)).filter((name) => typeof name === 'string')

/** Issues of tasks: turns that are not there, circles, and requests that cannot be a turn. */
export function taskIssues(scenario: Mapping): readonly Found[] {
  const found: Found[] = []
  const steps = mappingOf(scenario.steps)
  for (const [name, written] of Object.entries(mappingOf(scenario.tasks))) {
    const turns = items(mappingOf(written).turns).map(mappingOf)
    for (const each of turnIssues(turns, steps, ['tasks', name, 'turns'])) found.push(each)
    for (const each of toolIssues(turns, steps, ['tasks', name, 'turns'])) found.push(each)
    for (const each of prefixIssues(mappingOf(written), ['tasks', name])) found.push(each)
  }
  const tasks = Object.keys(mappingOf(scenario.tasks))
  if (mappingOf(scenario.objectives).task !== undefined) {
    const path = ['objectives', 'task']
    const isSearched = items(scenario.phases).map(mappingOf).some(searchesTasks)
    if (tasks.length === 0) {
      found.push({ path, message: 'this is a time of whole tasks, and the scenario has none.' })
    } else if (!isSearched) {
      found.push({
        path,
        message: `no search would judge it; give a phase of load sweep tasks: [${tasks.join(', ')}], or write the threshold task.p95 < 60s.`,
      })
    }
  }
  for (const [at, written] of items(scenario.phases).entries()) {
    const phase = mappingOf(written)
    const named = namesIn(phase.tasks)
    const path = ['phases', at, 'tasks']
    for (const [nth, name] of named.entries()) {
      if (!tasks.includes(name)) {
        found.push({ path: [...path, nth], message: unknownName(name, tasks, 'task') })
      }
    }
    if (named.length === 0) {
      if (phase.start !== undefined && phase.load !== 'sweep') {
        const message = 'only tasks have a middle to start in; name the tasks of the phase.'
        found.push({ path: ['phases', at, 'start'], message })
      }
      continue
    }
    if (items(phase.steps).length > 0) {
      found.push({ path, message: 'a phase draws steps or tasks; leave out one of them.' })
    }
    if (phase.load === 'replay' || phase.load === 'saturate') {
      found.push({
        path,
        message: `a phase of load ${phase.load} sends requests, not tasks; use an open load, concurrency, or a sweep.`,
      })
    }
  }
  return found
}

const searchesTasks = (phase: Mapping) => phase.load === 'sweep' && namesIn(phase.tasks).length > 0

function turnIssues(turns: readonly Mapping[], steps: Mapping, path: Path): readonly Found[] {
  const found: Found[] = []
  const names = turns.map(({ name }) => String(name))
  const waiting = (name: string) => turns.filter(({ after }) => namesIn(after).includes(name))
  for (const [at, turn] of turns.entries()) {
    const place = [...path, at]
    if (names.indexOf(names[at]!) < at) {
      found.push({
        path: [...place, 'name'],
        message: `another turn has the name ${JSON.stringify(turn.name)}; give each its own.`,
      })
    }
    for (const each of stepIssues(turn.step, steps, [...place, 'step'])) found.push(each)
    if (names.indexOf(names[at]!) < at) continue
    for (const field of ['after', 'takes'] as const) {
      for (const name of namesIn(turn[field])) {
        if (names.includes(name)) continue
        found.push({ path: [...place, field], message: unknownName(name, names, 'turn') })
      }
    }
    const before = ancestors(names[at]!, turns)
    if (before.has(names[at]!)) {
      found.push({
        path: [...place, 'after'],
        message: `turn ${names[at]} waits for itself, through ${[...before].join(', ')}.`,
      })
    }
    for (const name of namesIn(turn.takes)) {
      if (!names.includes(name) || before.has(name)) continue
      found.push({
        path: [...place, 'takes'],
        message: `turn ${names[at]} takes the answer of ${name}, but does not wait for it; name it in after.`,
      })
    }
    if (turn.join === 'first') {
      const shared = namesIn(turn.after).find((name) => waiting(name).length > 1)
      if (shared !== undefined) {
        found.push({
          path: [...place, 'join'],
          message: `join: first aborts ${shared}, for which another turn waits.`,
        })
      }
    }
  }
  const requests = turns.reduce((sum, turn) => sum + mostOf(turn), 0)
  if (requests > mostRequests) {
    found.push({
      path,
      message: `expected at most ${mostRequests} requests in a task; got ${requests}.`,
    })
  }
  return found
}

/** The calls of tools are written as the endpoint wants them, so a conversation stays with one. */
function toolIssues(turns: readonly Mapping[], steps: Mapping, path: Path): readonly Found[] {
  const at = turns.findIndex(({ tools }) => tools === true)
  if (at === -1) return []
  const endpointOf = ({ step }: Mapping) => mappingOf(steps[String(step)]).endpoint
  const other = turns.find((turn) => endpointOf(turn) !== endpointOf(turns[at]!))
  if (other === undefined) return []
  return [
    {
      path: [...path, at, 'tools'],
      message: `a task with tools keeps to one endpoint; turn ${turns[at]!.name} is of ${endpointOf(turns[at]!)}, turn ${other.name} of ${endpointOf(other)}.`,
    },
  ]
}

function mostOf({ repeat, children }: Mapping): number {
  const times = typeof repeat === 'number' ? repeat : Number(mappingOf(repeat).max ?? 1)
  return times * Number(children ?? 1)
}

/** A turn needs an answer with a text, and sends what its task decides. */
function stepIssues(name: unknown, steps: Mapping, path: Path): readonly Found[] {
  if (typeof name !== 'string') return []
  const known = Object.keys(steps)
  if (!known.includes(name)) return [{ path, message: unknownName(name, known, 'step') }]
  const step = mappingOf(steps[name])
  const unfit = (['wrong', 'abort', 'session'] as const).find((field) => step[field] !== undefined)
  if (unfit !== undefined) {
    return [{ path, message: `step ${name} has ${unfit}, which a turn of a task cannot have.` }]
  }
  return (generating as readonly unknown[]).includes(step.endpoint)
    ? []
    : [{ path, message: `a turn is a request of ${generating.join(', ')}; step ${name} is none.` }]
}

/** The turns that must end before a turn. */
function ancestors(name: string, turns: readonly Mapping[]): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (of: string) => {
    for (const before of namesIn(turns.find((turn) => turn.name === of)?.after)) {
      if (found.has(before)) continue
      found.add(before)
      visit(before)
    }
  }
  visit(name)
  return found
}
