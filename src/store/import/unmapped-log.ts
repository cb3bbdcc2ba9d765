import { mappedNames } from '../../measure/usage/quantities.ts'
import { commandText } from '../../user/shell-word.ts'
import { type Mapping, parseMapping } from './mapping.ts'
import { namesIn } from './recognised-log.ts'
import { columnsSeen, shownText } from './suggest.ts'

/** More columns than these are counted. */
const mostShown = 12

/** The first columns of a file, each with one value, and how to get a mapping. */
export function columnsText(file: string, path: string): string {
  const columns = columnsSeen(path)
  if (columns.length === 0) return ''
  const shown = columns
    .slice(0, mostShown)
    .map(({ name, value }) => `\n  ${shownText(name)}: ${shownText(value)}`)
  const more = columns.length > mostShown ? `\n  and ${columns.length - mostShown} more` : ''
  return ` It has${shown.join('')}${more}\nA mapping to begin with: ${commandText(['import', file, '--suggest'])} > map.yaml`
}

/** A mapping for a file with the names of our own fields. */
export function ownNames(path: string, format: string | null): Mapping | null {
  if (format === 'parquet') return null
  const names = namesIn(path)
  const fields = plainFields.filter((name) => names.has(name))
  const isOwn = names.has('time') && fields.some((name) => !sharedNames.includes(name))
  return isOwn
    ? parseMapping(
        `fields: { time: time, ${fields.map((name) => `${name}: ${name}`).join(', ')} }`,
        path,
      )
    : null
}

/** What columns of a log without a mapping seem to hold, and nobody reads. */
export function unreadHint(path: string): readonly string[] {
  const names = unreadNames(path)
  if (names.length === 0) return []
  // A note that is too long is cut at its end, where the advice is.
  const shown = names.slice(0, mostShown).map((name) => shownText(name).slice(0, 24))
  const more = names.length > mostShown ? ` and ${names.length - mostShown} more` : ''
  return [`not read: ${shown.join(', ')}${more}; a --map says which fields they are`]
}

/** Names that look like money or tokens, and are no names of ours. */
const unreadNames = (path: string): readonly string[] =>
  [...namesIn(path)].filter((name) => !plainFields.includes(name) && isAmountName(name))

/** Whether a name is of money, or of tokens that are counted: not of a time to a token, or of a token that is a key. */
function isAmountName(name: string): boolean {
  const words = wordsOf(name)
  if (
    /\b(?:\w*(?:cost|price|amount)(?:s|usd|eur|cents?)?|charges?|charged|spend|spent|currency|usd|eur)\b/.test(
      words,
    )
  )
    return true
  return /\btokens?\b/.test(words) && !/\b(time|latency|duration|per|api|access|auth)\b/.test(words)
}

/** The words of a name in snake_case, kebab-case or camelCase, in lower case: `prompt token count`. */
const wordsOf = (name: string): string =>
  name
    .replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|[^\p{L}\d]+/gu, ' ')
    .toLowerCase()

/** Names that records of any kind have: they alone make no log of usage. */
const sharedNames = [
  ...['id', 'end', 'type', 'status', 'account', 'key', 'unit', 'name', 'priority', 'models'],
  'expires',
]

const plainFields = [
  ...['id', 'end', 'type', 'model', 'endpoint', 'key', 'lastFour', 'account', 'credits', 'unit'],
  ...mappedNames,
  ...['status', 'outcome', 'requests', 'refersTo', 'expires', 'name', 'priority', 'models'],
]
