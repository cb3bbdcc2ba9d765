import type { BalanceTerms } from '../../../contract/prices.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { explainedPart } from './explained-part.ts'
import { leastCharge } from './least-charge.ts'
import type { Recorded } from './request-charge.ts'
import type { ReadingStretch } from './stretches.ts'
import {
  chargedEnding,
  countedOtherwise,
  forEachRequest,
  ofAnotherAccount,
  ofAnotherKey,
  pricedInOne,
  pricedOtherwise,
  type SumCause,
  takenAlone,
  withoutRequest,
} from './sum-causes.ts'
import { areContradicted, changeCauses, lessLikely, plainest } from './sum-changes.ts'
import { looseWindows, type Window, windowsOf } from './windows.ts'

const mostNamed = 2

/** `: cache_read at the price of input`: the causes of all wrong sums; empty if there is none. */
export function explainSums(...of: Parameters<typeof causesOfSums>): string {
  const names = causesOfSums(...of).map(({ summary }) => summary)
  return names.length === 0 ? '' : `: ${names.join(', or ')}`
}

/**
 * The simplest single changes that give all wrong sums, two of them at most; empty if there is none. A change is tried on all requests, on streams, on plain answers, and on one request of each wrong window. Where no value is an edge without
 * a doubt, it is tried on each set of requests that may have been charged between two.
 *
 * @param recorded what the service recorded, which says what open costs are
 */
export function causesOfSums(
  all: readonly ReadingStretch[],
  ofAll: readonly PricedRequest[],
  terms: BalanceTerms,
  judge: PriceJudge,
  recorded: Recorded,
): readonly SumCause[] {
  const { stretches, requests } = explainedPart(all, ofAll, terms.withinMs)
  for (const windows of windowsOf(stretches, requests, terms, judge, recorded)) {
    const those = (isRight: boolean) =>
      windows
        .filter((each) => each.isRight === isRight)
        .toSorted((a, b) => a.requests.length - b.requests.length)
    const causes = causesOf(those(false), those(true), requests, judge)
    if (causes.length > 0) return causes.slice(0, mostNamed)
  }
  const loose = looseWindows(stretches, terms, judge, recorded)
  if (loose.wrong.length === 0) return []
  const causes = plainest(changeCauses(loose.wrong, loose.right, judge))
  return (causes.length > 0 ? causes : chargedEnding(loose.wrong, judge))
    .slice(0, mostNamed)
    .map(noDiscount)
}

const noDiscount = (summary: string): SumCause => ({ summary, isDiscount: false })

/** The simplest causes of wrong windows: those with fewer fitted numbers first, as `simplestOf` has them. */
function causesOf(
  wrong: readonly Window[],
  right: readonly Window[],
  requests: readonly PricedRequest[],
  judge: PriceJudge,
): readonly SumCause[] {
  const groups = wrong.map((window) => [window])
  const rightGroups = right.map((window) => [window])
  const causes = changeCauses(groups, rightGroups, judge)
  const plain = plainest(causes)
  const unit = judge.currency.name
  const isPlain = causes.length > 0 && !areContradicted(causes)
  const kinds: readonly (() => readonly (SumCause | string)[])[] = [
    // No fitted number.
    () => (isPlain ? plain : []),
    () => lessLikely(groups, rightGroups, judge),
    () => ofAnotherAccount(wrong),
    () => ofAnotherKey(wrong, requests, judge),
    // One, that all windows share.
    () => pricedOtherwise(wrong, right, judge),
    () => leastCharge(wrong, right, judge),
    () => forEachRequest(wrong, right, judge),
    // One request of each window, or others that right windows contradict.
    () => plain,
    () => pricedInOne(wrong, judge),
    // One for each window.
    () => countedOtherwise(wrong, judge),
    () => withoutRequest(wrong, unit),
    () => chargedEnding(groups, judge),
    () => takenAlone(wrong, unit),
  ]
  for (const find of kinds) {
    const causes = find()
    if (causes.length > 0)
      return causes.map((each) => (typeof each === 'string' ? noDiscount(each) : each))
  }
  return []
}
