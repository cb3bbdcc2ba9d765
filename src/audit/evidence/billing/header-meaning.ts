import type { IncludesOwn } from './bounds.ts'
import { effects, type History } from './history.ts'
import { rowsWhere } from './operations.ts'

/**
 * Whether X-Credits-Remaining shows the balance after or before its own charge (gap G-12), for plain responses and for
 * streams. It is inferred, never assumed.
 *
 * A charge next to an undisturbed read reveals it: with reads of 100 and 99 around a charge of 1, a header of 99 means
 * `after`, and one of 100 `before`.
 */
export interface HeaderMeaning {
  readonly plain: OwnCharge
  readonly stream: OwnCharge
}

export type OwnCharge = 'after' | 'before'

/** @returns the meanings that the evidence allows, likeliest first; never empty */
export function possibleMeanings(history: History): readonly HeaderMeaning[] {
  const votes = { plain: { after: 0, before: 0 }, stream: { after: 0, before: 0 } }
  const { size, callUs, endUs, effect, costCredits, value, streamed } = history
  const order = rowsWhere(
    size,
    (row) => effect[row] !== effects.ambiguous && !Number.isNaN(value[row]!),
    (a, b) => callUs[a]! - callUs[b]!,
  )
  const free = (row: number) => effect[row] === effects.read || effect[row] === effects.failure
  const placeOf = new Map(Array.from(order, (row, at) => [row, at] as const))
  /** Whether the balance was the same before and after it, so it cost nothing, and no meaning shows. */
  const isFree = (charge: number) => {
    const at = placeOf.get(charge)!
    const [before, after] = [order[at - 1], order[at + 1]]
    if (before === undefined || after === undefined || !free(before) || !free(after)) return false
    return value[before] === value[after]
  }
  for (let at = 1; at < order.length; at++) {
    const [first, second] = [order[at - 1]!, order[at]!]
    if (endUs[first]! >= callUs[second]! || free(first) === free(second)) continue
    const [read, charge] = free(first) ? [first, second] : [second, first]
    const cost = costCredits[charge]!
    const votesOf = streamed[charge] === 1 ? votes.stream : votes.plain
    const difference = value[first]! - value[second]!
    // The balance falls by the cost between read and charge, or between charge and read, depending on the meaning.
    const falls = difference === cost
    if (!falls && (difference !== 0 || isFree(charge))) continue
    votesOf[falls === (read === first) ? 'after' : 'before']++
  }
  const plains = ranked(votes.plain)
  const streams = ranked(votes.stream)
  return plains.flatMap((plain) => streams.map((stream) => ({ plain, stream })))
}

/** Five clear votes decide. Until then both are possible, with `after` first if they are even. */
function ranked({ after, before }: Record<OwnCharge, number>): readonly OwnCharge[] {
  if (after >= 5 && after > 20 * before) return ['after']
  if (before >= 5 && before > 20 * after) return ['before']
  return before > after ? ['before', 'after'] : ['after', 'before']
}

export function includesOwnCharge(history: History, meaning: HeaderMeaning): IncludesOwn {
  return (row) => meaning[history.streamed[row] === 1 ? 'stream' : 'plain'] === 'after'
}
