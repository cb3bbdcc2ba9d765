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
  /** A read or a failure takes nothing: its value is the balance. */
  const isRead = (row: number) => effect[row] === effects.read || effect[row] === effects.failure
  const placeOf = new Map(Array.from(order, (row, at) => [row, at] as const))
  /** A charge that cost nothing shows no meaning: the balances before and after it are equal. */
  const isFree = (charge: number) => {
    const at = placeOf.get(charge)!
    const [before, after] = [order[at - 1], order[at + 1]]
    if (before === undefined || after === undefined || !isRead(before) || !isRead(after))
      return false
    return value[before] === value[after]
  }
  /** When the last of the requests before the pair ended. */
  let earlierEndUs = Number.NEGATIVE_INFINITY
  for (let at = 1; at < order.length; at++) {
    const [first, second, next] = [order[at - 1]!, order[at]!, order[at + 1]]
    const isLone =
      earlierEndUs < callUs[first]! && (next === undefined || callUs[next]! > endUs[second]!)
    earlierEndUs = Math.max(earlierEndUs, endUs[first]!)
    if (endUs[first]! >= callUs[second]! || isRead(first) === isRead(second)) continue
    const [read, charge] = isRead(first) ? [first, second] : [second, first]
    const cost = costCredits[charge]!
    if (cost === 0) continue
    const kind = streamed[charge] === 1 ? 'stream' : 'plain'
    const difference = value[first]! - value[second]!
    //          read, then charge    charge, then read
    // falls    after                before
    // stays    before               after
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

const leastVotes = 5
/** So many votes outweigh one of the other meaning. */
const votesForOne = 20

/** Enough votes that agree decide. Until then lone pairs rank the two, as neighbours' charges may look like the own one. */
function ranked({ after, before }: Votes, lone: Votes): readonly OwnCharge[] {
  if (after >= leastVotes && after > votesForOne * before) return ['after']
  if (before >= leastVotes && before > votesForOne * after) return ['before']
  return lone.before > lone.after ? ['before', 'after'] : ['after', 'before']
}

export const includesOwnCharge =
  (history: BalanceHistory, meaning: HeaderMeaning): IncludesOwn =>
  (row) =>
    meaning[history.streamed[row] === 1 ? 'stream' : 'plain'] === 'after'
