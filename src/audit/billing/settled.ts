import type { Credits } from '../../contract/contract.ts'
import { add, isExplained, nearestOf, type Ranges, ranges, unlike } from './combinations.ts'
import type { Conservation } from './conservation.ts'
import { delayedPolicies } from './delays.ts'
import { effects, type History, lefts } from './history.ts'
import { latenessOf } from './lateness.ts'

/**
 * Wrong charges that the sums alone prove, whatever the header means and however credits were held.
 *
 * An idle value is settled when all that clients left before it must be over by then: it is later than the
 * longest success would have lasted. From one settled value to the next the balance falls by what succeeded,
 * by what the service charges of what was left (gaps G-14, G-15), and by nothing else. A service has one
 * policy for each kind of leaving (aborted or timed out, streamed or plain), the same in every stretch:
 *
 *     none       nothing is charged
 *     all        every attempt of the kind, but perhaps those that left at once
 *     content    those whose client had seen text
 *     from       those that had come far enough, by time (aborts) or by events seen
 *     delayed    each so much later, perhaps in another stretch or after the record
 *     held       each price is held and given back so much later
 *     finished   on top of each: what had finished when the service learned that the client was gone
 *
 * Each policy gives every stretch the least and the most that it charges there. It is proven when no
 * combination fits all stretches but by a coincidence (see `logLikelihoodOf`), while the simple ones (none,
 * all, content) leave but a few credits over.
 */
export interface Settled {
  /** Rows of the settled values around the credits that nothing accounts for. */
  readonly from: number
  readonly to: number
  readonly credits: Credits
  /** Whether no combination of policies explains them; else the simple ones do not. */
  readonly isProven: boolean
  /** Rows that were left, and were charged by the likeliest policy. */
  readonly charged: ReadonlySet<number>
}

/** @returns null where nothing is over, or too much to be a few wrong charges */
export function chargedBeyondPolicies(
  history: History,
  { idle, balance }: Conservation,
): Settled | null {
  const exchanges = timesOf(history)
  const settled = settledAmong(history, idle, exchanges)
  if (settled.length < 2) return null
  const readUs = settled.map((at) => history.callUs[idle[at]!]!)
  const count = settled.length - 1
  /** Number of the stretch that a moment lies in; -1 and `count` for before and after all. */
  const stretchAt = (us: number) => {
    let [low, high] = [0, readUs.length]
    while (low < high) {
      const at = (low + high) >> 1
      if (readUs[at]! < us) low = at + 1
      else high = at
    }
    return low - 1
  }

  const times: Times = {
    ...exchanges,
    lateUs: latenessOf(history, (row) => stretchAt(history.callUs[row]!)),
    longUs: longestOf(history, exchanges, stretchAt),
  }
  const taken = settled.slice(1).map((at, nth) => balance[settled[nth]!]! - balance[at]!)
  const fixed: Ranges = ranges(count)
  const kinds = new Map<number, number[]>()
  for (let row = 0; row < history.size; row++) {
    const at = stretchAt(history.callUs[row]!)
    if (at < 0 || at >= count) continue
    const cost = history.costCredits[row]!
    if (history.effect[row] === effects.charge) add(fixed, at, cost, cost)
    if (history.effect[row] !== effects.ambiguous || cost === 0) continue
    const kind = history.left[row]! * 2 + history.streamed[row]!
    if (history.left[row] === lefts.no) add(fixed, at, 0, cost)
    else if (kinds.has(kind)) kinds.get(kind)!.push(row)
    else kinds.set(kind, [row])
  }
  const rowsOfKinds = [...kinds.values()].sort((a, b) => b.length - a.length)
  const simple = rowsOfKinds.map((kind) => simplePolicies(history, kind, times, count, stretchAt))
  const nearest = nearestOf(taken, fixed, simple)
  const [ambiguous, off] = [rowsOfKinds.flat().length, nearest.off]
  if (off.every((credits) => credits === 0)) return null
  const astray = off.reduce((sum, credits) => sum + Math.abs(credits), 0)
  const widest = off.indexOf(Math.max(...off))
  if (astray * 50 > ambiguous || off[widest]! <= 0) return null

  const explained = () =>
    isExplained(
      taken,
      fixed,
      rowsOfKinds.map((kind, nth) =>
        unlike([...simple[nth]!, ...otherPolicies(history, kind, times, readUs, stretchAt)]),
      ),
      off.filter((credits) => credits !== 0).length * Math.log(wrongCharge),
    )
  return {
    from: idle[settled[widest]!]!,
    to: idle[settled[widest + 1]!]!,
    credits: off[widest]!,
    // Where a sum is too small, charges have moved from one stretch to another.
    isProven: ambiguous * count <= mostWork && off.every((credits) => credits >= 0) && !explained(),
    charged: nearest.charged,
  }
}

interface Times {
  readonly noticeUs: number
  readonly longestUs: number
  readonly durations: ReadonlyMap<number, { shortUs: number; longUs: number }>
  /** How late the client may have been to see an answer that it then took for a timeout. */
  readonly lateUs: (row: number) => number
  /** How long a request like this one takes at most. */
  readonly longUs: (row: number) => number
}

/** No policy explains a wrong charge that is still less likely than this. */
const wrongCharge = 1e-6
/** Attempts times stretches: beyond this nothing is proven. */
const mostWork = 100_000

type Exchanges = Omit<Times, 'lateUs' | 'longUs'>

/** The longest success and those of each step; there and back lie within twice the shortest exchange. */
function timesOf({ size, callUs, endUs, effect, step }: History): Exchanges {
  let [shortestUs, longestUs] = [Infinity, 0]
  const durations = new Map<number, { shortUs: number; longUs: number }>()
  for (let row = 0; row < size; row++) {
    if (effect[row] === effects.ambiguous) continue
    const tookUs = endUs[row]! - callUs[row]!
    shortestUs = Math.min(shortestUs, tookUs)
    if (effect[row] !== effects.charge) continue
    longestUs = Math.max(longestUs, tookUs)
    const { shortUs = Infinity, longUs = 0 } = durations.get(step[row]!) ?? {}
    durations.set(step[row]!, {
      shortUs: Math.min(shortUs, tookUs),
      longUs: Math.max(longUs, tookUs),
    })
  }
  return { noticeUs: 2 * shortestUs, longestUs, durations }
}

/**
 * By the longest success of its step in the whole record, or twice the longest in its stretch where enough
 * are to go by: a stall in one stretch says nothing of the others.
 */
function longestOf(
  { size, callUs, endUs, effect, step }: History,
  { durations }: Exchanges,
  stretchAt: StretchAt,
): Times['longUs'] {
  const alike = new Map<string, { seen: number; longUs: number }>()
  const nameOf = (row: number) => `${step[row]} ${stretchAt(callUs[row]!)}`
  for (let row = 0; row < size; row++) {
    if (effect[row] !== effects.charge) continue
    const { seen = 0, longUs = 0 } = alike.get(nameOf(row)) ?? {}
    const tookUs = endUs[row]! - callUs[row]!
    alike.set(nameOf(row), { seen: seen + 1, longUs: Math.max(longUs, tookUs) })
  }
  return (row) => {
    const everUs = durations.get(step[row]!)?.longUs ?? Infinity
    const { seen = 0, longUs = 0 } = alike.get(nameOf(row)) ?? {}
    return seen < enoughAlike ? everUs : Math.min(everUs, 2 * longUs)
  }
}

/** Successes of one step in one stretch that tell how long others take there. */
const enoughAlike = 20

/** Places in `idle` at which all that was left before is over. */
function settledAmong(
  { size, callUs, endUs, effect }: History,
  idle: Int32Array,
  { longestUs, noticeUs }: Pick<Times, 'longestUs' | 'noticeUs'>,
): readonly number[] {
  const settled: number[] = []
  let [row, overUs] = [0, -Infinity]
  for (const [at, value] of idle.entries()) {
    for (; row < size && callUs[row]! <= callUs[value]!; row++) {
      if (effect[row] !== effects.ambiguous) continue
      overUs = Math.max(overUs, Math.max(endUs[row]!, callUs[row]! + longestUs) + noticeUs)
    }
    if (callUs[value]! > overUs) settled.push(at)
  }
  return settled
}

/** Whether a row that was left had perhaps finished by then, as far as its step's successes tell. */
function mayHaveFinished(
  { callUs, endUs, step }: History,
  row: number,
  { durations, noticeUs, lateUs, longUs }: Times,
): boolean {
  const tookUs = endUs[row]! - callUs[row]!
  const shortUs = durations.get(step[row]!)?.shortUs ?? 0
  return tookUs >= shortUs - noticeUs && tookUs <= longUs(row) + noticeUs + lateUs(row)
}

type StretchAt = (us: number) => number

/** A policy by who is surely charged, who may be, and who is not. */
function policyOf(
  history: History,
  kind: readonly number[],
  times: Times,
  count: number,
  stretchAt: StretchAt,
  charges: (row: number) => boolean | 'perhaps',
) {
  const sums = ranges(count)
  const charged: number[] = []
  for (const row of kind) {
    const is = charges(row)
    const cost = history.costCredits[row]!
    if (is === true) charged.push(row)
    const may = is !== false || mayHaveFinished(history, row, times)
    add(sums, stretchAt(history.callUs[row]!), is === true ? cost : 0, may ? cost : 0)
  }
  return { ...sums, charged }
}

function simplePolicies(
  history: History,
  kind: readonly number[],
  times: Times,
  count: number,
  stretchAt: StretchAt,
) {
  const { callUs, endUs, contentEvents } = history
  const of = (charges: (row: number) => boolean | 'perhaps') =>
    policyOf(history, kind, times, count, stretchAt, charges)
  return [
    of(() => false),
    of((row) => (endUs[row]! - callUs[row]! > times.noticeUs ? true : 'perhaps')),
    of((row) => contentEvents[row]! > 0),
  ]
}

function otherPolicies(
  history: History,
  kind: readonly number[],
  times: Times,
  readUs: readonly number[],
  stretchAt: StretchAt,
): readonly Ranges[] {
  const { callUs, endUs, contentEvents, costCredits, left } = history
  const count = readUs.length - 1
  const { noticeUs } = times
  const of = (charges: (row: number) => boolean | 'perhaps'): Ranges => {
    const { least, most } = policyOf(history, kind, times, count, stretchAt, charges)
    return { least, most }
  }
  const tookUs = (row: number) => endUs[row]! - callUs[row]!
  const events = [...new Set(kind.map((row) => contentEvents[row]!))]
  const policies = events.map((fewest) => of((row) => contentEvents[row]! >= fewest))
  // One deadline is one point: all that it cut off had come equally far.
  if (left[kind[0]!] === lefts.aborted) {
    for (const each of kind) {
      policies.push(
        of((row) => {
          const beyondUs = tookUs(row) - tookUs(each)
          return Math.abs(beyondUs) <= noticeUs ? 'perhaps' : beyondUs > 0
        }),
      )
    }
  }
  // So much after the call, or after the leaving.
  const later = [callUs, endUs].flatMap((anchorUs) => {
    const leavers = kind.map((row) => ({
      own: stretchAt(callUs[row]!),
      costCredits: costCredits[row]!,
      finishedCredits: mayHaveFinished(history, row, times) ? costCredits[row]! : 0,
      anchorUs: anchorUs[row]!,
    }))
    return delayedPolicies(leavers, readUs, noticeUs)
  })
  return policies.concat(later)
}
