import { isObject } from '../user/json.ts'
import { onceForObject } from '../user/once.ts'
import type { Dialect } from './dialect.ts'
import { freshOf, outputOf, type Parts, promptOf, type UsageFlag } from './usage.ts'

/**
 * Counts of a usage that stand beside those that its dialect reads, such as Mistral's `connector_tokens`. What they cost is not
 * known, so neither is the cost of the answer. Details of a count that is read are no such counts: a part without a price of its
 * own costs what its whole does.
 */
export interface UnreadCount {
  readonly place: string
  readonly count: number
}

/** Names of amounts that are paid for. A total is the sum of others. */
const isAmountName = (name: string) =>
  (!/^total/i.test(name) &&
    /(?:tokens?|token_?count|units|characters|images|queries|searches|pages|classifications)$/i.test(
      name,
    )) ||
  /(?:^|audio_)seconds$/i.test(name)

/** @param usage a usage object, in JSON */
export function unreadCounts(
  usage: Readonly<Record<string, unknown>>,
  dialect: Dialect,
  parts: Parts,
): readonly UnreadCount[] {
  const { places, inner } = placesOf(dialect)
  // A cached count is part of an input that has all.
  const isRead = (place: string) =>
    places.has(place) ||
    (dialect.input === 'all' && /cache/i.test(place) && !inner.has(place.split('.')[0]!))
  const named = Object.entries(usage).flatMap(([name, value]): (readonly [string, unknown])[] =>
    inner.has(name) && isObject(value)
      ? Object.entries(value).map(([own, count]) => [`${name}.${own}`, count] as const)
      : [[name, value]],
  )
  const found = named.flatMap(([place, value]) => {
    const isCount = typeof value === 'number' && Number.isFinite(value) && value > 0
    return isCount && isAmountName(place) && !isRead(place) ? [{ place, count: value }] : []
  })
  if (found.length === 0) return []
  const repeats = repeatedCounts(usage, places, parts)
  // A field within another is no repetition of it.
  return found.filter(({ place, count }) => place.includes('.') || !repeats.has(count))
}

interface Places {
  readonly places: ReadonlySet<string>
  /** Fields whose own fields are places, but for details. */
  readonly inner: ReadonlySet<string>
}

/** The places of a dialect, listed once. */
const placesOf = onceForObject(({ counts, calls = {} }: Dialect): Places => {
  const places = [...Object.values(counts).flat(), ...Object.values(calls).flat()]
  const inner = places
    .filter((place) => place.includes('.'))
    .map((place) => place.split('.', 1)[0]!)
    .filter((name) => !/details$/i.test(name))
  return { places: new Set(places), inner: new Set(inner) }
})

/** Counts that say again what is read: under another name, or as a sum. */
function repeatedCounts(
  usage: Readonly<Record<string, unknown>>,
  places: ReadonlySet<string>,
  parts: Parts,
): ReadonlySet<number | null> {
  const [prompt, output] = [promptOf(parts), outputOf(parts)]
  return new Set([
    ...[...places].flatMap((place) => {
      const value = usage[place]
      return typeof value === 'number' ? [value] : []
    }),
    ...Object.values(parts),
    ...[prompt, output, freshOf(parts)],
    prompt === null || output === null ? null : prompt + output,
  ])
}

/**
 * What is still wrong with a usage in itself: a total may contain counts that are not read, and writes may have a life that is not
 * read.
 *
 * @param missing what the total has beyond what is read; null if that is not known
 */
export function flagsBeside(
  flags: readonly UsageFlag[],
  unread: readonly UnreadCount[],
  missing: number | null,
): readonly UsageFlag[] {
  if (unread.length === 0) return flags
  const sum = unread.reduce((all, { count }) => all + count, 0)
  const isInTotal =
    missing !== null && (missing === sum || unread.some(({ count }) => count === missing))
  const isLife = unread.some(({ place }) => /cache/i.test(place))
  return flags.filter(
    (flag) => !(flag === 'total' && isInTotal) && !(flag === 'write-split' && isLife),
  )
}
