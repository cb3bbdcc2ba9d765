import type { Credits } from '../../../contract/contract.ts'
import { type PlainRead, plainReads } from '../../../contract/request.ts'
import { type OwnCharge, ownCharges } from './header-meaning.ts'
import { type BalanceHistory, effects, showsBalance } from './history.ts'
import { rowsWhere } from './operations.ts'

/** Credits for a successful read of the models or the credits; 0 on most services (gap G-17). */
export type ReadPrices = Readonly<Record<PlainRead, Credits>>

export interface InferredReadPrices {
  readonly prices: ReadPrices
  /** Reads whose price is open, because no lone read shows it: 0 or a credit each. */
  readonly open: readonly (keyof ReadPrices)[]
}

/** A success with an open price: a read, a response without a token, or a stream that may have had hidden tokens only. */
export type Mark = PlainRead | 'empty' | 'perhaps-empty'

/** Reads that together show a price. Fewer may be next to a wrong charge. */
export const enoughReads = 3

const free: ReadPrices = { models: 0, credits: 0 }
const priced: readonly ReadPrices[] = [
  { models: 1, credits: 0 },
  { models: 0, credits: 1 },
  { models: 1, credits: 1 },
]

/** The fall of the balance from one quiet value to the next, with only reads and failures in between. */
interface QuietFall {
  readonly lost: Credits
  /** Number of reads whose price makes up the fall, by the meaning of their values. */
  readonly reads: Readonly<Record<OwnCharge, ReadPrices>>
}

/**
 * Infers the price of reads from falls between lone values without successes. They have a price if that explains three
 * quarters of all explainable falls, and more than no price does: one wrong charge among free reads stays wrong. It stays
 * open if no fall shows it, or if two fits disagree.
 */
export function readPricesOf(
  histories: readonly BalanceHistory[],
  markOf: (history: BalanceHistory, row: number) => Mark | undefined,
): InferredReadPrices {
  const falls = histories.flatMap((history) => fallsOf(history, (row) => markOf(history, row)))
  const explainable = new Set<QuietFall>()
  let best: readonly ReadPrices[] = [free]
  let most = 0
  for (const prices of [free, ...priced]) {
    for (const meaning of ownCharges) {
      const explained = falls.filter(({ lost, reads }) => {
        const { models, credits } = reads[meaning]
        return lost === models * prices.models + credits * prices.credits
      })
      for (const fall of explained) explainable.add(fall)
      if (explained.length > most) [best, most] = [[prices], explained.length]
      else if (explained.length === most) best = [...best, prices]
    }
  }
  const marks = histories.map((history) =>
    Map.groupBy(
      rowsWhere(history.size, (row) => history.effect[row] === effects.read),
      (row) => markOf(history, row),
    ),
  )
  // Whichever side of its price a value shows, some fall must contain such a read.
  const isUntold = (read: keyof ReadPrices) =>
    ownCharges.some((meaning) => falls.every(({ reads }) => reads[meaning][read] === 0))
  // If no price fits well enough, reads are free.
  if (most * 4 < explainable.size * 3) best = [free]
  const [first] = best
  const isOpen = (read: keyof ReadPrices) => {
    const counts = marks.flatMap((rows) => rows.get(read)?.length ?? [])
    // The first read of a record shows no price.
    const shown = counts.reduce((sum, count) => sum + count - 1, 0)
    if (counts.length === 0) return false
    if (first !== free) return isUntold(read) || best.some((each) => each[read] !== first![read])
    // Reads of the balance are free unless many contradict it; otherwise no balance would be known.
    return isUntold(read) && (read === 'models' || shown >= enoughReads)
  }
  const open = plainReads.filter(isOpen)
  const settled = Object.fromEntries(open.map((read) => [read, 0]))
  return { prices: { ...first!, ...settled }, open }
}

function fallsOf(history: BalanceHistory, markOf: (row: number) => Mark | undefined): QuietFall[] {
  const { size, callUs, endUs, effect, value } = history
  const falls: QuietFall[] = []
  let first = -Infinity
  let isOpen = false
  let counts = free
  let busyUntilUs = -Infinity
  for (let row = 0; row < size; row++) {
    const mark = effect[row] === effects.read ? markOf(row) : undefined
    const alone = busyUntilUs < callUs[row]! && (row + 1 === size || endUs[row]! < callUs[row + 1]!)
    busyUntilUs = Math.max(busyUntilUs, endUs[row]!)
    const before = counts
    if (mark === 'models' || mark === 'credits') counts = { ...counts, [mark]: counts[mark] + 1 }
    if (!alone || !showsBalance(history, row)) {
      isOpen ||= effect[row] === effects.ambiguous || effect[row] === effects.charge
      continue
    }
    if (first >= 0 && !isOpen && counts.models + counts.credits > 0) {
      const own = markOf(first)
      const earlier =
        own === 'models' || own === 'credits' ? { ...before, [own]: before[own] + 1 } : before
      const lost = value[first]! - value[row]!
      falls.push({ lost, reads: { after: counts, before: earlier } })
    }
    first = row
    isOpen = false
    counts = free
  }
  return falls
}
