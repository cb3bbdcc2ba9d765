import type { BalanceTerms } from '../../../contract/prices.ts'
import {
  add,
  compare,
  isZero,
  larger,
  multiply,
  negate,
  powerOfTen,
  type Rational,
  rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { logChoose } from '../choose.ts'
import type { ReadingStretch } from './stretches.ts'
import { exactCost, type Window, windowsAfterCharges } from './windows.ts'

/** Windows between values next to each other that no honest header gives, or that one hardly gives. */
export interface Misfit {
  readonly windows: readonly Window[]
  /** How many windows were judged. */
  readonly judged: number
  /** False if a value that was read before its own charge, and not after it, explains the same. */
  readonly isSure: boolean
}

/** Whether a value was read before its own charge. */
type State = boolean
const both: readonly State[] = [false, true]

/** A header that says sometimes the one and sometimes the other gives such an order less often than this. */
const leastChance = 1e-4

/**
 * A wrong charge that the bounds of each stretch hide. The value in the header of an answer may have its own charge or not, so
 * what is taken from one value to the next may be the cost of either of two requests, or of both, or of none:
 *
 *     request        a    b    c    d        each costs 1
 *     shown         99   98   96   95        2 between b and c: a double charge,
 *                                            or a and b were read before their own charge, c and d after it
 *
 * Values of one kind (model, form and path) that change from one to the other once, and stay so, are no accident of the clock. If
 * they change to and fro, they are: then nothing is said.
 *
 * @param perhapsFree requests that a cache of the gateway may have answered for nothing
 */
export function misfitOf(
  stretches: readonly ReadingStretch[],
  requests: readonly PricedRequest[],
  terms: BalanceTerms,
  judge: PriceJudge,
  perhapsFree: ReadonlySet<PricedRequest>,
): Misfit | null {
  if (terms.header === null) return null
  // What a value before its own charge lacks must be known.
  const windows = windowsAfterCharges(stretches, requests, terms, judge).filter(
    ({ first }) => exactCost(first.request, judge) !== null,
  )
  const found = chainsOf(windows).flatMap((chain) => misfitIn(chain, judge, perhapsFree) ?? [])
  const all = found.toSorted((a, b) => Number(b.isSure) - Number(a.isSure))
  return all[0] === undefined ? null : { ...all[0], judged: windows.length }
}

/** Of fewer of the requests, in parts of all, nothing exact is known. */
const leastShown = 0.5
/** What was taken is known well enough if it is known to this part of it. */
const wellKnown = rational(1n, 20n)

/**
 * How far what was taken may be from what is known of it, where most values were read while other requests were in flight, and the
 * rest of the charges may hide more than a twentieth; null if they do not.
 */
export function hiddenBeside(
  stretches: readonly ReadingStretch[],
  requests: readonly PricedRequest[],
  terms: BalanceTerms,
  judge: PriceJudge,
): Rational | null {
  const whole = stretches.find(({ isWhole: is }) => is)
  if (terms.header === null || whole === undefined || whole.high === null) return null
  const spread = subtract(whole.high, whole.low)
  if (compare(spread, multiply(whole.high, wellKnown)) <= 0) return null
  const windows = windowsAfterCharges(stretches, requests, terms, judge)
  const shown = windows.reduce((sum, window) => sum + window.requests.length, 0)
  return shown >= leastShown * whole.count ? null : spread
}

/** Windows of which each begins at the value at which the one before ends. */
function chainsOf(windows: readonly Window[]): readonly (readonly Window[])[] {
  const chains: Window[][] = []
  for (const window of windows) {
    const chain = chains.at(-1)
    if (chain?.at(-1)?.last === window.first) chain.push(window)
    else chains.push([window])
  }
  return chains
}

function misfitIn(
  chain: readonly Window[],
  judge: PriceJudge,
  perhapsFree: ReadonlySet<PricedRequest>,
): Omit<Misfit, 'judged'> | null {
  const costOf = (request: PricedRequest) => exactCost(request, judge) ?? zero
  const fits = (window: Window, first: State, last: State) => {
    const { apart, slack, requests } = window
    const due = subtract(
      first ? costOf(window.first.request) : zero,
      last ? costOf(window.last.request) : zero,
    )
    const ofCharges = isZero(slack)
      ? zero
      : multiply(powerOfTen(-judge.currency.digits), rational(BigInt(requests.length)))
    const most = larger(slack, ofCharges)
    const free = requests.filter((each) => perhapsFree.has(each)).map(costOf)
    const over = subtract(apart, due)
    return compare(over, most) <= 0 && compare(add(over, free.reduce(add, zero)), negate(most)) >= 0
  }
  const forward: (readonly State[])[] = [both]
  for (const window of chain) {
    const before = forward.at(-1)!
    const next = both.filter((last) => before.some((first) => fits(window, first, last)))
    if (next.length === 0) return { windows: [window], isSure: true }
    forward.push(next)
  }
  const states = [...forward]
  for (let at = chain.length - 1; at >= 0; at--)
    states[at] = forward[at]!.filter((first) =>
      states[at + 1]!.some((last) => fits(chain[at]!, first, last)),
    )
  const edges = [chain[0]!.first, ...chain.map(({ last }) => last)]
  const known = edges.flatMap(({ request }, at) =>
    states[at]!.length === 1 ? [{ at, kind: kindOf(request), state: states[at]![0]! }] : [],
  )
  const worst = [...Map.groupBy(known, ({ kind }) => kind).values()]
    .map((own) => ({ own, ...orderOf(own.map(({ state }) => state)) }))
    .toSorted((a, b) => a.chance - b.chance)[0]
  if (worst === undefined || worst.runs < 2) return null
  const isSure = worst.chance < leastChance
  // Back and forth: the clock decides which of the two a value is.
  if (!isSure && worst.runs > 2) return null
  const changed = worst.own
    .slice(1)
    .flatMap(({ at, state }, nth) =>
      state === worst.own[nth]!.state ? [] : chain.slice(worst.own[nth]!.at, at),
    )
  const wrong = changed.filter(({ isRight }) => !isRight)
  return wrong.length === 0 ? null : { windows: wrong, isSure }
}

const kindOf = ({ requestedModel, isStream, body }: PricedRequest) =>
  `${requestedModel} ${isStream} ${body?.split(' ')[0] ?? ''}`

/** How often the states change, and how likely it is that as many of each in any order change no more often (a runs test). */
function orderOf(states: readonly State[]): { readonly runs: number; readonly chance: number } {
  const of = states.filter((state) => state).length
  const others = states.length - of
  const runs = states.filter((state, at) => at === 0 || state !== states[at - 1]).length
  if (of === 0 || others === 0) return { runs, chance: 1 }
  let chance = 0
  const all = logChoose(states.length, of)
  for (let count = 2; count <= runs; count++) {
    const half = Math.floor(count / 2)
    const parts = (a: number, b: number) =>
      Math.exp(logChoose(of - 1, a - 1) + logChoose(others - 1, b - 1) - all)
    chance +=
      count % 2 === 0 ? 2 * parts(half, half) : parts(half, half + 1) + parts(half + 1, half)
  }
  return { runs, chance }
}
