import { type JsonObject, objectOf } from '../user/json.ts'
import { type Found, foundIf } from './issues.ts'
import { entries, items } from './loose.ts'

/** Loads that send each request at a time that no answer moves. */
const timed = ['constant', 'poisson', 'gamma', 'replay']

/** Issues of two targets: requests must have one address each, and stay pairs. */
export function targetIssues(scenario: JsonObject): readonly Found[] {
  if (scenario.targets === undefined) return []
  return foundIf(
    [],
    [
      scenario.base_url !== undefined,
      'expected one of base_url and targets; got both. Each target has its own base_url: leave this one out.',
      'base_url',
    ],
    ...entries(scenario.steps).map(
      ([name, { session }]) =>
        [session !== undefined, notPairs('a conversation'), 'steps', name, 'session'] as const,
    ),
    ...entries(scenario.tasks)
      .slice(0, 1)
      .map(([name]) => [true, notPairs('a task'), 'tasks', name] as const),
    ...items(scenario.phases).flatMap((item, at) => {
      const { load, gaps, users } = objectOf(item)
      const isUntimed = load !== undefined && !timed.includes(String(load))
      const waits = load === 'replay' && (gaps !== undefined || users !== undefined)
      return [
        [isUntimed, notPairs(`load: ${String(load)}`), 'phases', at, 'load'] as const,
        [waits, notPairs('a replay with users or gaps'), 'phases', at] as const,
      ]
    }),
  )
}

const notPairs = (what: string) =>
  `targets: expected loads whose requests wait for no answer (${timed.join(', ')}); got ${what}. Its requests would not stay pairs: run each target by itself.`
