import { type JsonObject, objectOf } from '../user/json.ts'
import { scenarioHeaderIssue } from './header-issue.ts'
import { type Found, foundIf, type Path, unknownName } from './issues.ts'
import { items, namesIn } from './loose.ts'
import { prefixIssues } from './prefix-issues.ts'
import { toolIssues, turnIssues } from './turn-issues.ts'

export function taskIssues(scenario: JsonObject): readonly Found[] {
  const steps = objectOf(scenario.steps)
  const ofTasks = Object.entries(objectOf(scenario.tasks)).flatMap(([name, written]) => {
    const { turns: writtenTurns, affinity, context } = objectOf(written)
    const turns = items(writtenTurns).map(objectOf)
    const path = ['tasks', name, 'turns']
    return [
      ...affinityIssues(affinity, ['tasks', name, 'affinity']),
      ...contextIssues(context, ['tasks', name, 'context']),
      ...turnIssues(turns, steps, path),
      ...toolIssues(turns, steps, path),
      ...prefixIssues(objectOf(written), ['tasks', name]),
    ]
  })
  const names = Object.keys(objectOf(scenario.tasks))
  const phases = items(scenario.phases).map(objectOf)
  return [
    ...ofTasks,
    ...objectiveIssues(scenario, names, phases),
    ...phases.flatMap((phase, at) => namedTaskIssues(phase, names, ['phases', at])),
  ]
}

/** Names of headers that cannot carry the affinity: the header is sent with each request, and stored. */
const affinityIssues = (affinity: unknown, path: Path): readonly Found[] =>
  Object.entries(objectOf(affinity)).flatMap(([field, name]) => {
    const message = typeof name === 'string' ? scenarioHeaderIssue(name, '') : null
    return message === null ? [] : [{ path: [...path, field], message }]
  })

/** What takes the place of a conversation is not longer than it. */
function contextIssues(context: unknown, path: Path): readonly Found[] {
  const { limit, at_limit } = objectOf(context)
  const { compact } = objectOf(at_limit)
  const isLonger = typeof limit === 'number' && typeof compact === 'number' && compact > limit
  const message = `expected at most the limit of ${String(limit)}: a longer text takes the place of no conversation.`
  return foundIf([...path, 'at_limit'], [isLonger, message, 'compact'])
}

/** An objective of whole tasks needs a search that judges them. */
function objectiveIssues(
  { objectives }: JsonObject,
  tasks: readonly string[],
  phases: readonly JsonObject[],
): readonly Found[] {
  if (objectOf(objectives).task === undefined) return []
  const isSearched = phases.some(
    (phase) => phase.load === 'sweep' && namesIn(phase.tasks).length > 0,
  )
  if (tasks.length > 0 && isSearched) return []
  const message =
    tasks.length === 0
      ? 'this is a time of whole tasks, and the scenario has none.'
      : `no search would judge it; give a phase of load sweep tasks: [${tasks.join(', ')}], or write the threshold task.p95 < 60s.`
  return [{ path: ['objectives', 'task'], message }]
}

/** Tasks that a phase names, and fields that do not go with them. */
function namedTaskIssues(
  phase: JsonObject,
  tasks: readonly string[],
  path: Path,
): readonly Found[] {
  const named = namesIn(phase.tasks)
  if (named.length === 0) {
    // The start of a search is its first rate.
    const hasMiddle = phase.start !== undefined && phase.load !== 'sweep'
    const message = 'only tasks have a middle to start in; name the tasks of the phase.'
    return foundIf(path, [hasMiddle, message, 'start'])
  }
  return foundIf(
    [...path, 'tasks'],
    ...named.map(
      (name, nth) => [!tasks.includes(name), unknownName(name, tasks, 'task'), nth] as const,
    ),
    [items(phase.steps).length > 0, 'a phase draws steps or tasks; leave out one of them.'],
    [
      phase.load === 'replay' || phase.load === 'saturate',
      `a phase of load ${phase.load} sends requests, not tasks; use an open load, concurrency, or a sweep.`,
    ],
  )
}
