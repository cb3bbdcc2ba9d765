import type { Credits } from '../../../../contract/contract.ts'
import { type BalanceHistory, effects } from '../history.ts'
import type { Operations } from '../operations.ts'
import { readTiles, type TileFault } from '../tiles.ts'
import {
  type Charges,
  type Kind,
  kindsOf,
  latenessOf,
  plainPolicies,
  type Timing,
  timingOf,
} from './hypotheses.ts'

/**
 * Whether the credits of stray holes are proven to be charged wrongly: no legal policy explains them.
 *
 * This tries every combination of policies whose charges equal the credits in the holes, except those astray. It is
 * proven if such combinations exist and the tiles contradict each. An attempt that may have been charged under a
 * combination may fill any hole of its time, so no combination is rejected wrongly.
 *
 * Not covered: a service that notices an abort later than twice the shortest exchange, one that charges by chance, and
 * one that charges from a point in the middle of a kind whose sum equals that of another combination.
 *
 * @param uncertain credits in holes that only abandoned attempts can explain
 * @param astray the part of those that the likeliest policy leaves unexplained
 */
export function isChargedWrongly(
  history: BalanceHistory,
  operations: Operations,
  uncertain: Credits,
  astray: Credits,
): boolean {
  const context = contextOf(history)
  const kinds = kindsOf(history, () => true)
  const combinations = kinds
    .reduce<readonly (readonly Bulk[])[]>(
      (some, kind) =>
        some.flatMap((taken) => bulksOf(history, kind, context).map((bulk) => [...taken, bulk])),
      [[]],
    )
    .map((bulks) => ({
      bulks,
      rest: uncertain - sumOf(bulks.map(({ leastCredits }) => leastCredits)),
      spare: uncertain - sumOf(bulks.map(({ mostCredits }) => mostCredits)),
    }))
    .filter(({ rest, spare }) => rest >= 0 && spare <= astray)
  return (
    combinations.length > 0 &&
    combinations.every(
      ({ bulks, rest }) => faultsUnder(history, operations, bulks, rest, context).length > 0,
    )
  )
}

/** The time span in which a row may have been charged. */
type Window = readonly [number, number]

/** The charges of a policy for one kind. */
interface Bulk {
  readonly rows: readonly number[]
  readonly charges: Charges | 'from' | 'delayed'
  /** Rows that are certainly charged. */
  readonly must: ReadonlySet<number>
  readonly leastCredits: Credits
  /** Includes rows that the service may not have seen, or whose charge may be invisible. */
  readonly mostCredits: Credits
}

interface Context extends Timing {
  /** End of the record. */
  readonly lastUs: number
  /** Charges before the first of these, or after the second, leave no hole. */
  readonly seenUs: readonly [number, number]
  readonly lateUs: (row: number) => number
}

function contextOf(history: BalanceHistory): Context {
  const { size, callUs, readUs, endUs, effect, value } = history
  let lastUs = -Infinity
  let [firstSeenUs, lastSeenUs] = [Infinity, -Infinity]
  for (let row = 0; row < size; row++) {
    lastUs = Math.max(lastUs, endUs[row]!)
    if (effect[row] === effects.ambiguous || Number.isNaN(value[row]!)) continue
    firstSeenUs = Math.min(firstSeenUs, readUs[row]!)
    lastSeenUs = Math.max(lastSeenUs, callUs[row]!)
  }
  const seenUs = [firstSeenUs, lastSeenUs] as const
  return { ...timingOf(history), lastUs, seenUs, lateUs: latenessOf(history, () => 0) }
}

function bulksOf(history: BalanceHistory, { rows }: Kind, context: Context): readonly Bulk[] {
  const { callUs, costCredits } = history
  const [firstSeenUs, lastSeenUs] = context.seenUs
  /** Whether its charge would certainly leave a hole. */
  const isSeen = (row: number) => callUs[row]! > firstSeenUs && context.overUs(row) < lastSeenUs
  const costOf = (some: readonly number[]) => sumOf(some.map((row) => costCredits[row]!))
  const bulkOf = (charges: Charges): Bulk => {
    const surely = rows.filter((row) => charges(row) === true && isSeen(row))
    return {
      rows,
      charges,
      must: new Set(surely),
      leastCredits: costOf(surely),
      mostCredits: costOf(rows.filter((row) => charges(row) !== false)),
    }
  }
  const { none, all, ...some } = plainPolicies(history, context)
  const isSome = (charges: Charges) => rows.some(charges) && !rows.every(charges)
  return [
    bulkOf(none),
    bulkOf(all),
    ...Object.values(some).filter(isSome).map(bulkOf),
    { ...bulkOf(none), charges: 'from' },
    { ...bulkOf(none), charges: 'delayed' },
  ]
}

/** Faults of the tiles if the bulks are charged as they say, and of the rest only rows that may be. */
function faultsUnder(
  history: BalanceHistory,
  operations: Operations,
  bulks: readonly Bulk[],
  rest: Credits,
  context: Context,
): readonly TileFault[] {
  const { noticeUs, lastUs, lateUs } = context
  const { callUs, endUs, costCredits, contentEvents } = history
  const tried = {
    ...operations,
    callUs: operations.callUs.slice(),
    untilUs: operations.untilUs.slice(),
    costCredits: operations.costCredits.slice(),
    certain: operations.certain.slice(),
  }
  for (const { rows, charges, must } of bulks) {
    const others = rows.filter((row) => !must.has(row))
    for (const row of must) tried.certain[row] = 1
    const windows = new Map<number, Window>()
    for (const row of others) {
      const longUs = context.longestOfStepUs(row)
      if (context.mayHaveFinished(row, longUs, lateUs(row))) {
        windows.set(row, [endUs[row]! - noticeUs - lateUs(row), endUs[row]! + noticeUs])
      }
      // The service may not have seen immediate aborts, and charges at the ends of the record are invisible.
      if (typeof charges === 'function' && charges(row) !== false) {
        windows.set(row, [callUs[row]!, operations.untilUs[row]!])
      }
    }
    if (charges === 'from') {
      for (const row of furthest(others)) {
        const longUs = context.longestOfStepUs(row)
        const untilUs = Math.max(endUs[row]!, callUs[row]! + longUs) + noticeUs
        windows.set(row, [callUs[row]!, untilUs])
      }
    }
    if (charges === 'delayed') {
      const charged = within(others, rest)
      const nextUs = callUs[others[charged] ?? -1] ?? Infinity
      for (const row of others.slice(0, charged)) {
        const earliestUs = lastUs - (nextUs - callUs[row]!) - noticeUs
        windows.set(row, [earliestUs, operations.untilUs[row]!])
      }
    }
    for (const row of others) {
      const window = windows.get(row)
      if (window === undefined) tried.costCredits[row] = 0
      else {
        tried.callUs[row] = Math.max(callUs[row]!, window[0])
        tried.untilUs[row] = window[1]
      }
    }
  }
  return readTiles(tried).faults

  /** Rows that may be charged from a point on, with those that came about as far. */
  function furthest(rows: readonly number[]): readonly number[] {
    const came = [...rows].sort((a, b) => tookUs(b) - tookUs(a))
    // If most are at one point, as with a deadline, they are charged together or not at all.
    const latestUs = tookUs(came[0] ?? -1)
    const atOnce = came.filter((row) => tookUs(row) >= latestUs - noticeUs)
    if (2 * atOnce.length > came.length) return []
    const read = [...came].sort((a, b) => contentEvents[b]! - contentEvents[a]!)
    return [came, read].flatMap((order) => {
      const charged = within(order, rest)
      const edge = order[charged - 1]
      return order.filter(
        (row, at) =>
          at < charged ||
          (edge !== undefined &&
            tookUs(row) >= tookUs(edge) - noticeUs &&
            (order === came || contentEvents[row] === contentEvents[edge])),
      )
    })
  }

  function tookUs(row: number): number {
    return endUs[row]! - callUs[row]!
  }

  /** How many rows from the front cost at most `most` together. */
  function within(rows: readonly number[], most: Credits): number {
    let credits = 0
    const over = rows.findIndex((row) => {
      credits += costCredits[row]!
      return credits > most
    })
    return over < 0 ? rows.length : over
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
