import type { Credits } from '../../../../contract/contract.ts'
import { abandonments, type BalanceHistory, effects } from '../history.ts'
import { rowsWhere } from '../operations.ts'
import type { Timing, Window } from './timing.ts'

/**
 * What a service may legally charge for requests that their clients abandoned (gaps G-14, G-15).
 *
 * A service has one policy for each kind: aborted or timed out, streamed or plain.
 *
 *     none       nothing is charged
 *     all        every attempt of the kind; one abandoned within `noticeUs` of its call may never have been seen
 *     head       those whose client had received the head of the response
 *     content    those whose client had received text
 *     from       those that had come furthest, by time or by events received: `progress.ts`
 *     delayed    each after a delay, perhaps after the record ends: `delays.ts`
 *     held       each price is held, and returned after a delay: `delays.ts`
 *     finished   in addition to each: what the service had finished when it noticed that the client was gone.
 *                Such an attempt lasted as long as the successes of its step. If the client was stalled,
 *                the response of a timed-out request may have waited as long
 *
 * Two checkers judge the same policies: by the gaps of the balance (`by-gaps.ts`), which say when credits went, and by
 * the totals between settled values (`by-totals.ts`), which need no header that is exact.
 */
export interface Policy {
  readonly rows: readonly number[]
  /** Whether a charge of this row must be visible in the values. */
  must(row: number): boolean
  may(row: number): boolean
  window(row: number): Window
}

/** Abandoned attempts that a service treats alike. */
export interface Kind {
  readonly rows: readonly number[]
  readonly abandonment: number
}

export type Charges = (row: number) => boolean | 'perhaps'

/** What a checker knows of the attempts, whatever the policy. */
export interface Sight {
  /** Whether a charge would certainly show. */
  shows(row: number): boolean
  /** When an attempt was charged if the service had finished it; null if it cannot have. */
  finished(row: number): Window | null
}

/** @param window when it charges an attempt; absent: from its call until the service gives up */
export function policyOf(
  { callUs, settlesByUs }: BalanceHistory,
  rows: readonly number[],
  charges: Charges,
  { shows, finished }: Sight,
  window: Policy['window'] = (row) => [callUs[row]!, settlesByUs[row]!],
): Policy {
  return {
    rows,
    must: (row) => charges(row) === true && shows(row),
    may: (row) => charges(row) !== false || finished(row) !== null,
    window: (row) => (charges(row) === false ? finished(row)! : window(row)),
  }
}

/** Policies that decide about each attempt alone. */
export function plainPolicies(history: BalanceHistory, { noticeUs }: Timing) {
  const { callUs, endUs } = history
  return {
    none: () => false,
    all: (row) => (endUs[row]! - callUs[row]! > noticeUs ? true : 'perhaps'),
    head: hasHead(history),
    content: hasContent(history),
  } satisfies Record<string, Charges>
}

export const hasHead =
  ({ readUs }: BalanceHistory) =>
  (row: number) =>
    !Number.isNaN(readUs[row]!)

export const hasContent =
  ({ contentEvents }: BalanceHistory) =>
  (row: number) =>
    contentEvents[row]! > 0

export function kindsOf(
  { size, effect, abandonment, streamed }: BalanceHistory,
  keep: (row: number) => boolean,
): readonly Kind[] {
  const abandoned = rowsWhere(
    size,
    (row) => effect[row] === effects.ambiguous && abandonment[row] !== abandonments.no && keep(row),
  )
  const kinds = Map.groupBy(abandoned, (row) => `${abandonment[row]} ${streamed[row]}`)
  return Array.from(kinds.values(), (rows) => ({ rows, abandonment: abandonment[rows[0]!]! }))
}

/** How many rows from the front cost at most `most` together. */
export function countWithin(
  { costCredits }: BalanceHistory,
  rows: readonly number[],
  most: Credits,
): number {
  let credits = 0
  const over = rows.findIndex((row) => {
    credits += costCredits[row]!
    return credits > most
  })
  return over < 0 ? rows.length : over
}
