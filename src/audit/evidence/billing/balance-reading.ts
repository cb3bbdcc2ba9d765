import type { Credits } from '../../../contract/contract.ts'
import type { Abandoned } from './abandoned/read.ts'
import type { BoundsReading } from './bounds.ts'
import type { IntervalReading } from './charge-intervals.ts'
import type { Conservation, Stretch } from './conservation.ts'
import type { Gift } from './gifts.ts'
import type { HeaderMeaning } from './header-meaning.ts'
import type { BalanceHistory } from './history.ts'
import type { Majorization } from './majorization.ts'
import type { Place } from './place.ts'

/** A balance that the credits endpoint ("the page") showed, and that the headers contradict. */
export interface PageContradiction {
  /** Of the history. */
  readonly row: number
  readonly shown: Credits
  /** By the header before it, and what was charged since. */
  readonly expected: Credits
  /** What requests cost that were abandoned before the header, and may be charged or given back since. */
  readonly unsettled: Credits
}

/**
 * The conclusions from all values of one account: all balances that it was shown, in headers and on the credits page.
 *
 * Four checks read the same values, from the one that assumes least to the one that decides most:
 *
 *     tier 0   conservation.ts       between two idle values, the balance fell by what the requests between them cost
 *     tier 1   majorization.ts       charges with values of x or more took at most what was above x
 *     tier 2   bounds.ts             some balance at the start explains each value
 *     tier 3   charge-intervals.ts   each charge has a place of its own in the balance
 *
 * An idle value was read while nothing else was in flight, so tier 0 is right whatever the other values mean. They fit in one of these ways:
 *
 *     exact    every value shows the balance right after (or before) its own charge: tier 3
 *     loose    values are honest but taken a moment earlier or later, or requests hold credits that
 *              they give back: tiers 1 and 2
 *     late     charges settle some time after their response: tier 0 over the whole
 *     none     no legal service shows these values
 */
export interface BalanceReading extends Omit<Abandoned, 'openCredits'> {
  readonly history: BalanceHistory
  /** How many values were shown. */
  readonly observations: number
  /** Requests that are certainly charged. */
  readonly charges: number
  /** Requests whose charge is open. */
  readonly ambiguous: number
  readonly meaning: HeaderMeaning
  /** All meanings that the header may have. */
  readonly meanings: readonly HeaderMeaning[]
  /** Whether the values are exact if the header has another meaning. */
  readonly isExactAs: (meaning: HeaderMeaning) => boolean
  readonly fits: 'exact' | 'loose' | 'late' | 'none'
  /** Delay of charges after the response, for `late`. */
  readonly settleUs: number
  /** Why fitting values do not prove that every charge was right; null without such a reason. */
  readonly doubt: string | null
  /** Tier 0: the sums between idle values. It may fail although the other values fit, and the reverse. */
  readonly conservation: Conservation
  /** Credits that came in during the run. Tiers 1 to 3 read the values without them. */
  readonly gifts: readonly Gift[]
  /** The size of a rise among the gifts that neither a charge nor the contract explains; absent without one. */
  readonly unnamedPurchase?: Credits
  /** Values of the credits page that the headers contradict, which are then left out; absent without any. */
  readonly pageContradictions?: readonly PageContradiction[]
  /** Tier 3: the place of each charge. */
  readonly intervals: IntervalReading
  /** Possible places of the unexplained credits, likeliest first; empty if a conflict has only one place. */
  readonly places: () => readonly Place[]
  /** Tier 2, computed on demand: if tier 3 fits, nobody needs it. */
  readonly bounds: () => BoundsReading
  /** Tier 1, on demand, too. */
  readonly majorization: () => Majorization
}

/**
 * Whether tier 0 fits: the balance fell by what the requests cost between each two neighbouring idle values, and also from the first
 * to the last. The whole may be wrong where each stretch is right: an ambiguous request that was in flight in two stretches may explain
 * credits in either, but it pays once.
 *
 *     idle value    100 ─────── 99 ─────── 98       one ambiguous request, of 1 credit
 *     in flight          ├─────────────┤            each stretch fits: 1 credit taken, 0 to 1 possible
 *                                                   the whole does not: 2 taken, 0 to 1 possible
 */
export function isConserved({ conservation: { stretches, whole } }: BalanceReading): boolean {
  const hasNoExcess = ({ excess }: Stretch) => excess === 0
  return stretches.every(hasNoExcess) && (whole === null || hasNoExcess(whole))
}
