import type { Credits } from '../../../contract/contract.ts'
import { effects, type History, showsBalance } from './history.ts'
import { rowsWhere } from './operations.ts'

/** What a successful read of the models or of the credits costs: 0 on most services (gap G-17). */
export type ReadPrices = Readonly<Record<'models' | 'credits', Credits>>

export interface InferredReadPrices {
  readonly prices: ReadPrices
  /** Reads whose price lone ones leave open: a credit each at most. */
  readonly open: readonly (keyof ReadPrices)[]
}

/**
 * A success that is no plain matter of the contract's prices: a read, an answer without a token, or
 * a stream that showed no text and told no count, which may have had tokens that nobody saw.
 */
export type Mark = 'models' | 'credits' | 'empty' | 'perhaps-empty'

/** Reads that show together that they cost something; fewer may stand where a charge went wrong. */
export const enoughReads = 3

const free: ReadPrices = { models: 0, credits: 0 }
const priced: readonly ReadPrices[] = [
  { models: 1, credits: 0 },
  { models: 0, credits: 1 },
  { models: 1, credits: 1 },
]

/** Whether the value that a read shows has the read's own price in it. */
const meanings = ['after', 'before'] as const

/** What the balance lost from one quiet value to the next, with nothing but reads and failures in between. */
interface Stretch {
  readonly lost: Credits
  /** Reads that this is the price of, by what their values mean. */
  readonly reads: Readonly<Record<(typeof meanings)[number], ReadPrices>>
}

/**
 * Infers the price of reads from stretches between two values that came alone. Reads cost something
 * where that explains three quarters of what can be explained at all, and more than no price does; so
 * one wrong charge among free reads stays a wrong charge. A stretch with successes in it has no say:
 * what they took too much is no price. Reads that no stretch tells of stay open, and so do those that two fits
 * price differently.
 */
export function readPricesOf(
  histories: readonly History[],
  markOf: (history: History, row: number) => Mark | undefined,
): InferredReadPrices {
  const stretches = histories.flatMap((history) =>
    stretchesOf(history, (row) => markOf(history, row)),
  )
  const explainable = new Set<Stretch>()
  let best: readonly ReadPrices[] = [free]
  let most = 0
  for (const prices of [free, ...priced]) {
    for (const meaning of meanings) {
      const explained = stretches.filter(({ lost, reads }) => {
        const { models, credits } = reads[meaning]
        return lost === models * prices.models + credits * prices.credits
      })
      for (const stretch of explained) explainable.add(stretch)
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
  // Whichever side of its price a value shows, some stretch must hold such a read.
  const isUntold = (read: keyof ReadPrices) =>
    meanings.some((meaning) => stretches.every(({ reads }) => reads[meaning][read] === 0))
  // What no price explains as well is free.
  if (most * 4 < explainable.size * 3) best = [free]
  const [first] = best
  const isOpen = (read: keyof ReadPrices) => {
    const counts = marks.flatMap((rows) => rows.get(read)?.length ?? [])
    // What the first read of a record costs shows nowhere.
    const shown = counts.reduce((sum, count) => sum + count - 1, 0)
    if (counts.length === 0) return false
    if (first !== free) return isUntold(read) || best.some((each) => each[read] !== first![read])
    // Reads of the balance are free unless many may say otherwise: else no balance would be known at all.
    return isUntold(read) && (read === 'models' || shown >= enoughReads)
  }
  const open = (['models', 'credits'] as const).filter(isOpen)
  const settled = Object.fromEntries(open.map((read) => [read, 0]))
  return { prices: { ...first!, ...settled }, open }
}

function stretchesOf(history: History, markOf: (row: number) => Mark | undefined): Stretch[] {
  const { size, callUs, endUs, effect, value } = history
  const stretches: Stretch[] = []
  let first = -Infinity
  let isOpen = false
  let counts = free
  let busyUntilUs = -Infinity
  for (let row = 0; row < size; row++) {
    const mark = effect[row] === effects.read ? markOf(row) : undefined
    const alone = busyUntilUs < callUs[row]! && (row + 1 === size || endUs[row]! < callUs[row + 1]!)
    busyUntilUs = Math.max(busyUntilUs, endUs[row]!)
    const before = counts
    if (mark === 'models' || mark === 'credits') {
      counts = { ...counts, [mark]: counts[mark] + 1 }
    }
    if (!alone || !showsBalance(history, row)) {
      isOpen ||= effect[row] === effects.ambiguous || effect[row] === effects.charge
      continue
    }
    if (first >= 0 && !isOpen && counts.models + counts.credits > 0) {
      const own = markOf(first)
      const earlier =
        own === 'models' || own === 'credits' ? { ...before, [own]: before[own] + 1 } : before
      const lost = value[first]! - value[row]!
      stretches.push({ lost, reads: { after: counts, before: earlier } })
    }
    first = row
    isOpen = false
    counts = free
  }
  return stretches
}
