import type { IncludesOwn } from './bounds.ts'
import { type BalanceHistory, effects } from './history.ts'
import { rowsWhere } from './operations.ts'

/**
 * Whether X-Credits-Remaining shows the balance after or before its own charge (gap G-12), for plain responses and streams. It
 * is inferred: with reads of 100 and 99 around a charge of 1, a header of 99 means `after`, and one of 100 `before`.
 */
export interface HeaderMeaning {
  readonly plain: OwnCharge
  readonly stream: OwnCharge
}

export const ownCharges = ['after', 'before'] as const
export type OwnCharge = (typeof ownCharges)[number]

export const everyMeaning: readonly HeaderMeaning[] = ownCharges.flatMap((plain) =>
  ownCharges.map((stream) => ({ plain, stream })),
)

type Votes = Record<OwnCharge, number>

/** @returns the meanings that the evidence allows, likeliest first; never empty */
export function possibleMeanings(history: BalanceHistory): readonly HeaderMeaning[] {
  const none = (): Votes => ({ after: 0, before: 0 })
  const votes = { plain: none(), stream: none() }
  const lone = { plain: none(), stream: none() }
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
  /** Until when the requests before the pair last. */
  let beforeUs = Number.NEGATIVE_INFINITY
  for (let at = 1; at < order.length; at++) {
    const [first, second, next] = [order[at - 1]!, order[at]!, order[at + 1]]
    const isLone =
      beforeUs < callUs[first]! && (next === undefined || callUs[next]! > endUs[second]!)
    beforeUs = Math.max(beforeUs, endUs[first]!)
    if (endUs[first]! >= callUs[second]! || free(first) === free(second)) continue
    const [read, charge] = free(first) ? [first, second] : [second, first]
    const cost = costCredits[charge]!
    const kind = streamed[charge] === 1 ? 'stream' : 'plain'
    const difference = value[first]! - value[second]!
    // The balance falls by the cost between read and charge, or between charge and read, depending on the meaning.
    const falls = difference === cost
    if (!falls && (difference !== 0 || isFree(charge))) continue
    const own = falls === (read === first) ? 'after' : 'before'
    votes[kind][own]++
    if (isLone) lone[kind][own]++
  }
  const plains = ranked(votes.plain, lone.plain)
  const streams = ranked(votes.stream, lone.stream)
  return plains.flatMap((plain) => streams.map((stream) => ({ plain, stream })))
}

/** Five votes that agree decide. Until then lone pairs rank the two, as neighbours' charges may look like the own one. */
function ranked({ after, before }: Votes, lone: Votes): readonly OwnCharge[] {
  if (after >= 5 && after > 20 * before) return ['after']
  if (before >= 5 && before > 20 * after) return ['before']
  return lone.before > lone.after ? ['before', 'after'] : ['after', 'before']
}

export const includesOwnCharge =
  (history: BalanceHistory, meaning: HeaderMeaning): IncludesOwn =>
  (row) =>
    meaning[history.streamed[row] === 1 ? 'stream' : 'plain'] === 'after'
