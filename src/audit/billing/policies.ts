import type { Credits } from '../../contract/contract.ts'
import { effects, type History, lefts } from './history.ts'
import { latenessOf } from './lateness.ts'
import type { Operations } from './operations.ts'
import { readTiles, type TileFault } from './tiles.ts'

/**
 * Whether the credits of stray holes are proven to have been taken wrongly: no legal policy of charging
 * what clients left explains them.
 *
 * Alone, each of hundreds of such attempts may explain any hole, and one wrong charge would hide among
 * them for ever. But gaps G-14 and G-15 leave a service one policy for each kind of leaving (an abort
 * or a timeout, of a stream or of a plain answer):
 *
 *     none       nothing is charged
 *     all        every attempt of the kind, but perhaps those that left within L; at the latest L after
 *                the longest success would have ended
 *     content    those whose client had seen text
 *     from       those that had come furthest, longest under way or most events seen, until they ended
 *                or would have
 *     delayed    each so much later that the record ends before the charges of the last
 *     finished   on top of each: what the service had finished when it learned that the client was
 *                gone. Its end fell within L of the leaving, and its duration among those that its
 *                step's successes show; one that waited far longer hangs, and is of its kind's policy.
 *                Where the client stood still, the answer of a timeout may have waited as long
 *
 * L is twice the shortest exchange on record: there and back lie within it. Policies of all kinds are
 * combined in every way that charges as much as the holes hold, but for the credits astray; it is proven
 * when there are such combinations, and the tiles contradict each. Who may have been charged under one
 * may fill any hole of its time, so a combination is never dropped wrongly.
 *
 * Outside of this: a cancel that is lost for far longer than L, charges by chance, and a service that
 * charges from a point in the middle of a kind and whose sum happens to be that of another combination.
 *
 * @param uncertain credits in holes that only attempts which were left can explain
 * @param astray of those, what the likeliest policy leaves
 */
export function isChargedWrongly(
  history: History,
  operations: Operations,
  uncertain: Credits,
  astray: Credits,
): boolean {
  const context = contextOf(history)
  const kinds = kindsOf(history)
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

/** Attempts of one kind of leaving. */
type Kind = readonly number[]

/** When a row may have been charged: from and until. */
type Window = readonly [number, number]

/** What a policy surely charges of one kind. */
interface Bulk {
  readonly kind: Kind
  readonly policy: 'none' | 'all' | 'content' | 'from' | 'delayed'
  readonly must: ReadonlySet<number>
  readonly leastCredits: Credits
  /** With those that may have gone unheard, or whose charge may not show. */
  readonly mostCredits: Credits
}

interface Context {
  readonly noticeUs: number
  /** When the record ends. */
  readonly lastUs: number
  /** Charges before the first of these and after the second leave no hole. */
  readonly seenUs: readonly [number, number]
  /** The longest success. */
  readonly longestUs: number
  /** Shortest and longest success of each step. */
  readonly durations: ReadonlyMap<number, { readonly shortUs: number; readonly longUs: number }>
  /** How late the client may have been to see an answer that it then took for a timeout. */
  readonly lateUs: (row: number) => number
}

function contextOf(history: History): Context {
  const { size, callUs, readUs, endUs, effect, value, step } = history
  let [shortestUs, longestUs, lastUs] = [Infinity, 0, -Infinity]
  let [firstSeenUs, lastSeenUs] = [Infinity, -Infinity]
  const durations = new Map<number, { shortUs: number; longUs: number }>()
  for (let row = 0; row < size; row++) {
    lastUs = Math.max(lastUs, endUs[row]!)
    if (effect[row] === effects.ambiguous) continue
    if (!Number.isNaN(value[row]!)) {
      firstSeenUs = Math.min(firstSeenUs, readUs[row]!)
      lastSeenUs = Math.max(lastSeenUs, callUs[row]!)
    }
    const tookUs = endUs[row]! - callUs[row]!
    shortestUs = Math.min(shortestUs, tookUs)
    if (effect[row] !== effects.charge) continue
    longestUs = Math.max(longestUs, tookUs)
    const known = durations.get(step[row]!)
    if (known === undefined) durations.set(step[row]!, { shortUs: tookUs, longUs: tookUs })
    else {
      known.shortUs = Math.min(known.shortUs, tookUs)
      known.longUs = Math.max(known.longUs, tookUs)
    }
  }
  return {
    noticeUs: 2 * shortestUs,
    lastUs,
    seenUs: [firstSeenUs, lastSeenUs],
    longestUs,
    durations,
    lateUs: latenessOf(history, () => 0),
  }
}

function kindsOf({ size, effect, left, streamed }: History): readonly Kind[] {
  const kinds = new Map<number, number[]>()
  for (let row = 0; row < size; row++) {
    if (effect[row] !== effects.ambiguous || left[row] === lefts.no) continue
    const name = left[row]! * 2 + streamed[row]!
    const kind = kinds.get(name)
    if (kind === undefined) kinds.set(name, [row])
    else kind.push(row)
  }
  return [...kinds.values()]
}

function bulksOf(
  { callUs, endUs, costCredits, contentEvents }: History,
  kind: Kind,
  { noticeUs, seenUs, longestUs }: Context,
): readonly Bulk[] {
  /** Whether a charge of it would surely leave a hole. */
  const isSeen = (row: number) =>
    callUs[row]! > seenUs[0] &&
    Math.max(endUs[row]!, callUs[row]! + longestUs) + noticeUs < seenUs[1]

  const costOf = (rows: readonly number[]) => sumOf(rows.map((row) => costCredits[row]!))
  const bulkOf = (policy: Bulk['policy'], rows: readonly number[], surely: readonly number[]) => ({
    kind,
    policy,
    must: new Set(surely),
    leastCredits: costOf(surely),
    mostCredits: costOf(rows),
  })
  const lasting = kind.filter((row) => endUs[row]! - callUs[row]! > noticeUs)
  const content = kind.filter((row) => contentEvents[row]! > 0)
  return [
    bulkOf('none', [], []),
    bulkOf('all', kind, lasting.filter(isSeen)),
    ...(content.length > 0 && content.length < kind.length
      ? [bulkOf('content', content, content.filter(isSeen))]
      : []),
    bulkOf('from', [], []),
    bulkOf('delayed', [], []),
  ]
}

/** What the tiles find wrong when the bulks are charged, and of the rest only who may be. */
function faultsUnder(
  history: History,
  operations: Operations,
  bulks: readonly Bulk[],
  rest: Credits,
  { noticeUs, durations, lastUs, lateUs }: Context,
): readonly TileFault[] {
  const { callUs, endUs, costCredits, contentEvents, step } = history
  const tried = {
    ...operations,
    callUs: operations.callUs.slice(),
    untilUs: operations.untilUs.slice(),
    costCredits: operations.costCredits.slice(),
    certain: operations.certain.slice(),
  }
  for (const { kind, policy, must } of bulks) {
    const others = kind.filter((row) => !must.has(row))
    for (const row of must) tried.certain[row] = 1
    const windows = new Map<number, Window>()
    for (const row of others) {
      const { shortUs = 0, longUs = Infinity } = durations.get(step[row]!) ?? {}
      const finished =
        tookUs(row) >= shortUs - noticeUs && tookUs(row) <= longUs + noticeUs + lateUs(row)
      if (finished) {
        windows.set(row, [endUs[row]! - noticeUs - lateUs(row), endUs[row]! + noticeUs])
      }
      // Whoever left at once may not have been heard, and charges at the ends of the record hide.
      const maybe = policy === 'all' || (policy === 'content' && contentEvents[row]! > 0)
      if (maybe) windows.set(row, [callUs[row]!, operations.untilUs[row]!])
    }
    if (policy === 'from') {
      for (const row of furthest(others)) {
        const { longUs = Infinity } = durations.get(step[row]!) ?? {}
        const untilUs = Math.max(endUs[row]!, callUs[row]! + longUs) + noticeUs
        windows.set(row, [callUs[row]!, untilUs])
      }
    }
    if (policy === 'delayed') {
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

  /** Those that can have been charged from a point on, with whoever had come about as far. */
  function furthest(rows: readonly number[]): readonly number[] {
    const came = [...rows].sort((a, b) => tookUs(b) - tookUs(a))
    // Most at one point, as a deadline makes them, are charged together or not at all: all or none.
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

  /** How many from the front cost no more than so much together. */
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
