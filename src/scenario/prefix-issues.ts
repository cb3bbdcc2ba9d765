import { type Mapping, mappingOf } from '../user/mapping.ts'
import type { Found, Path } from './issues.ts'

/** A pool repeats whole prompts, so a prefix would share nothing more. */
export function prefixIssues(prompt: Mapping, path: Path): readonly Found[] {
  if (prompt.prefix === undefined) return []
  const { shared, groups } = mappingOf(prompt.prefix)
  if (prompt.pool !== undefined) {
    return [
      {
        path: [...path, 'prefix'],
        message: 'a pool repeats whole prompts; leave out pool, or prefix.',
      },
    ]
  }
  if ((shared === 'group') === (groups !== undefined)) return []
  const message =
    shared === 'group'
      ? 'shared: group needs the number of groups, such as groups: 20.'
      : 'groups is for shared: group.'
  return [{ path: [...path, 'prefix'], message }]
}
