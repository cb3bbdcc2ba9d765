import type { Exchange } from '../../evidence/exchange.ts'
import { factors } from './factor-levels.ts'
import { calledUs, isRight, isWrong, type Single } from './singles.ts'

/** So many like requests, right before a time and wrong after it, are no work of a factor. */
const manyAlike = 6

export interface SingleExchange {
  readonly single: Single
  readonly exchange: Exchange
}

/**
 * A time in each run before which every request costs its price, and from which none does, though some are like requests before; null
 * without one. If only a few are, and a level of a factor is missing after the time, the factor may be the cause.
 *
 *     time          ──────────────┬──────────────
 *     costs         1  1  1  1  1 │ 2  2  2  2  2
 *     a new price   p  s  p  s  p │ s  p  s  p  s     both levels, p and s, on both sides
 *     a factor      p  p  p  p  p │ s  s  s  s  s     one level on each side: may be the level's price
 */
export function changeInTime(singles: readonly SingleExchange[]) {
  let before: readonly SingleExchange[] = []
  let after: readonly SingleExchange[] = []
  for (const ofRun of Map.groupBy(singles, (each) => each.single.reading.history.runId).values()) {
    const inTime = ofRun.toSorted((a, b) => calledUs(a.single) - calledUs(b.single))
    const at = inTime.findIndex(({ single }) => isWrong(single))
    before = before.concat(at < 0 ? inTime : inTime.slice(0, at))
    if (at >= 0) after = after.concat(inTime.slice(at))
  }
  if (before.length < 3 || after.some(({ single }) => isRight(single))) return null
  const levels = Object.values(factors)
  const isMissing = (levelOf: (exchange: Exchange) => string) => {
    const later = new Set(after.map(({ exchange }) => levelOf(exchange)))
    return before.some(({ exchange }) => !later.has(levelOf(exchange)))
  }
  const kindOf = ({ exchange }: SingleExchange) =>
    JSON.stringify([exchange.row.model, ...levels.map((levelOf) => levelOf(exchange))])
  const known = new Set(before.map(kindOf))
  const alike = after.filter((each) => known.has(kindOf(each)))
  return alike.length < (levels.some(isMissing) ? manyAlike : 3)
    ? null
    : { before: before.length, after: after.length, first: after[0]!.single }
}
