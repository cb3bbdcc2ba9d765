import { tagNameProblem } from '../../contract/tag-name.ts'

export { mostTags, tagNameProblem } from '../../contract/tag-name.ts'

/**
 * Own dimensions of a service, such as a team or a feature: what a log or a run says of a request beside its model, key, endpoint and
 * account. A row has one text with all of them, a JSON object sorted by name; null is none. So names and values are data wherever they go.
 */

const head = 'tag:'

/** What usage is split by, for a tag: `tag:team`. */
export type TagDimension = `${typeof head}${string}`
export const tagDimension = (name: string): TagDimension => `${head}${name}`

/** The name of the tag that a dimension names; null for another dimension, and for a name that is none. */
export function tagOf(dimension: string): string | null {
  if (!dimension.startsWith(head)) return null
  const name = dimension.slice(head.length)
  return tagNameProblem(name) === null ? name : null
}

export const isTagDimension = (dimension: string): dimension is TagDimension =>
  tagOf(dimension) !== null

/** Where the text has the value of a tag: a JSON pointer. */
export const tagPointer = (name: string): string =>
  `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The name and the value of a filter `team:search`; null for a text that is none. */
export function tagFilter(text: string): { readonly name: string; readonly value: string } | null {
  const at = text.indexOf(':')
  if (at < 0) return null
  const name = text.slice(0, at)
  return tagNameProblem(name) === null ? { name, value: text.slice(at + 1) } : null
}
