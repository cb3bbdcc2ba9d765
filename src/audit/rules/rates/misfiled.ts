import { type Contract, windowUs } from '../../../contract/contract.ts'
import type { Arrival } from '../../../limits/arrival.ts'
import { cellsNamed } from '../../../limits/band.ts'

/** Two answers of one key in a row, whose count went on by the requests of another key alone. */
export interface Misfiled {
  readonly before: Arrival
  readonly after: Arrival
  /** Requests of the other key in between, by which the count rose. */
  readonly others: number
}

/**
 * So many answers must agree, with none that contradicts them in between: counts that rise by the other's
 * requests, and counts that stay under an own one.
 */
const agreement = 3
/** All pairs are looked at, so that of many keys of one limit the first few are. */
const mostKeys = 8

/**
 * Answers of keys that show the count of another key of their limit. In turns such as A B B A B B the
 * count that A shows rises by two for each of its own requests, and the one of B stays for each second.
 * Traffic of others with a key makes its count rise as well, but no count stays under an own request.
 */
export function misfiledIn(
  arrivals: readonly Arrival[],
  contract: Contract,
): readonly Misfiled[] | null {
  const byLimit = Map.groupBy(arrivals, ({ limit }) => limit)
  for (const [limit, shown] of byLimit) {
    const [cell] = limit === null ? [] : cellsNamed(contract, limit)
    if (cell === undefined) continue
    const keys = [...new Set(shown.map(({ key }) => key))].slice(0, mostKeys)
    for (const [nth, one] of keys.entries()) {
      for (const other of keys.slice(nth + 1)) {
        const both = arrivals.filter(({ key }) => key === one || key === other)
        const misfiled = swapped(both, limit!, windowUs[cell.window])
        if (misfiled !== null) return misfiled
      }
    }
  }
  return null
}

/** @param arrivals of two keys */
function swapped(
  arrivals: readonly Arrival[],
  limit: number,
  windowUs: number,
): readonly Misfiled[] | null {
  let rising: Misfiled[] = []
  let staying = 0
  const last = new Map<string, { readonly arrival: Arrival; others: number }>()
  let busyUntilUs = -Infinity
  for (const arrival of arrivals) {
    const alone = arrival.fromUs >= busyUntilUs
    busyUntilUs = Math.max(busyUntilUs, arrival.closedUs)
    if (!alone || arrival.decision !== 'admitted' || usedOf(arrival, limit) === null) {
      last.clear()
      continue
    }
    const before = last.get(arrival.key)
    if (before !== undefined && before.others !== 1) {
      const rose = usedOf(arrival, limit)! - usedOf(before.arrival, limit)!
      // A bucket regains a request in that time, and a log may lose one.
      const isQuick = arrival.untilUs - before.arrival.fromUs < windowUs / limit / 2
      if (rose === before.others && rose > 1) {
        rising.push({ before: before.arrival, after: arrival, others: before.others })
      } else if (rose === 0 && before.others === 0 && isQuick) staying++
      else if (rose >= 0) {
        rising = []
        staying = 0
      }
      if (rising.length >= agreement && staying >= agreement) return rising
    }
    for (const [key, each] of last) if (key !== arrival.key) each.others++
    last.set(arrival.key, { arrival, others: 0 })
  }
  return null
}

function usedOf({ limit, remaining }: Arrival, shown: number): number | null {
  return limit !== shown || remaining === null ? null : limit - remaining
}
