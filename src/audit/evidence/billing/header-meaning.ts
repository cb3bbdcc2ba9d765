import type { IncludesOwn } from './bounds.ts'
import { effects, type History } from './history.ts'
import { rowsWhere } from './operations.ts'

/**
 * Whether X-Credits-Remaining shows the balance after its own charge or before it (gap G-12), for
 * plain answers and for streams: inferred, never assumed.
 *
 * A charge between two reads that nobody else disturbed tells: reads 100 and 99 around a charge of
 * 1 that showed 99 mean `after`, and `before` if it showed 100.
 */
export interface HeaderMeaning {
  readonly plain: OwnCharge
  readonly stream: OwnCharge
}

export type OwnCharge = 'after' | 'before'

/** @returns what the evidence allows, the likeliest first; never empty */
export function possibleMeanings(history: History): readonly HeaderMeaning[] {
  const votes = { plain: { after: 0, before: 0 }, stream: { after: 0, before: 0 } }
  const { size, callUs, endUs, effect, costCredits, value, streamed } = history
  const order = rowsWhere(
    size,
    (row) => effect[row] !== effects.ambiguous && !Number.isNaN(value[row]!),
    (a, b) => callUs[a]! - callUs[b]!,
  )
  const free = (row: number) => effect[row] === effects.read || effect[row] === effects.failure
  for (let at = 1; at < order.length; at++) {
    const [first, second] = [order[at - 1]!, order[at]!]
    if (endUs[first]! >= callUs[second]! || free(first) === free(second)) continue
    const [read, charge] = free(first) ? [first, second] : [second, first]
    const cost = costCredits[charge]!
    const votesOf = streamed[charge] === 1 ? votes.stream : votes.plain
    const difference = value[first]! - value[second]!
    // Read then charge falls by the cost, or charge then read does, depending on which shows it.
    const falls = difference === cost
    if (!falls && difference !== 0) continue
    votesOf[falls === (read === first) ? 'after' : 'before']++
  }
  const plains = ranked(votes.plain)
  const streams = ranked(votes.stream)
  return plains.flatMap((plain) => streams.map((stream) => ({ plain, stream })))
}

/** Five clear votes decide; before that both stay possible, `after` first where they are even. */
function ranked({ after, before }: Record<OwnCharge, number>): readonly OwnCharge[] {
  if (after >= 5 && after > 20 * before) return ['after']
  if (before >= 5 && before > 20 * after) return ['before']
  return before > after ? ['before', 'after'] : ['after', 'before']
}

export function includesOwnCharge(history: History, meaning: HeaderMeaning): IncludesOwn {
  return (row) => meaning[history.streamed[row] === 1 ? 'stream' : 'plain'] === 'after'
}
