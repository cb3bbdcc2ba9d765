import { type JsonObject, objectOf } from '../user/json.ts'
import { type Found, foundIf, type Path } from './issues.ts'

/** A pool repeats whole prompts, so a prefix would share nothing more. */
export function prefixIssues(prompt: JsonObject, path: Path): readonly Found[] {
  if (prompt.prefix === undefined) return []
  const { shared, groups } = objectOf(prompt.prefix)
  const isOfPool = prompt.pool !== undefined
  const [isShared, hasGroups] = [shared === 'group', groups !== undefined]
  return foundIf(
    [...path, 'prefix'],
    [isOfPool, 'a pool repeats whole prompts; leave out pool, or prefix.'],
    [
      !isOfPool && isShared && !hasGroups,
      'shared: group needs the number of groups, such as groups: 20.',
    ],
    [!isOfPool && !isShared && hasGroups, 'groups is for shared: group.'],
  )
}
