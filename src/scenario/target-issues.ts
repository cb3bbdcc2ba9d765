import { type Mapping, mappingOf } from '../user/mapping.ts'
import type { Found } from './issues.ts'
import { entries, items } from './loose.ts'

/** Loads that send each request at a time that no answer moves. */
const timed = ['constant', 'poisson', 'gamma', 'replay']

/** Issues of two targets: requests must have one address each, and stay pairs. */
export function targetIssues(scenario: Mapping): readonly Found[] {
  if (scenario.targets === undefined) return []
  const found: Found[] = []
  if (scenario.base_url !== undefined) {
    found.push({
      path: ['base_url'],
      message:
        'expected one of base_url and targets; got both. Each target has its own base_url: leave this one out.',
    })
  }
  for (const [name, step] of entries(scenario.steps)) {
    if (step.session === undefined) continue
    found.push({ path: ['steps', name, 'session'], message: notPairs('a conversation') })
  }
  const [task] = entries(scenario.tasks)
  if (task !== undefined) found.push({ path: ['tasks', task[0]], message: notPairs('a task') })
  for (const [at, item] of items(scenario.phases).entries()) {
    const { load, gaps, users } = mappingOf(item)
    if (load === undefined) continue
    if (!timed.includes(String(load)))
      found.push({ path: ['phases', at, 'load'], message: notPairs(`load: ${String(load)}`) })
    else if (load === 'replay' && (gaps !== undefined || users !== undefined))
      found.push({ path: ['phases', at], message: notPairs('a replay with users or gaps') })
  }
  return found
}

const notPairs = (what: string) =>
  `targets: expected loads whose requests wait for no answer (${timed.join(', ')}); got ${what}. Its requests would not stay pairs: run each target by itself.`
