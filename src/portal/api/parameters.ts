import { lookup } from '../../user/lookup.ts'
import type { RouteName } from './openapi.ts'
import { Problem } from './problem.ts'
import { parameters } from './shapes.ts'

const lists = new Set(['model', 'key', 'endpoint', 'outcome'])

/** @throws Problem 400 for a parameter that is unknown or wrong, so that a typo never widens a query */
export function parametersOf(name: RouteName, search: URLSearchParams): unknown {
  const shape = parameters[name]
  const given: Record<string, unknown> = lookup()
  for (const key of new Set(search.keys())) {
    if (!Object.hasOwn(shape.shape, key)) {
      throw new Problem(400, 'unknown-parameter', 'A parameter is unknown', {
        hint: `Known: ${Object.keys(shape.shape).join(', ') || 'none'}.`,
      })
    }
    const values = search.getAll(key)
    if (!lists.has(key) && values.length > 1)
      throw new Problem(400, 'bad-parameter', `${key} may stand once`)
    given[key] = lists.has(key) ? values : values[0]
  }
  const parsed = shape.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Problem(400, 'bad-parameter', `${String(issue!.path[0])}: ${issue!.message}`)
}
