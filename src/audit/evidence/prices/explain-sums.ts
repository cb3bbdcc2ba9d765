import {
  absolute,
  add,
  compare,
  isEqual,
  one,
  powerOfTen,
  type Rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import type { Change } from '../../../price/judge/changes/change.ts'
import { changesFor } from '../../../price/judge/changes/changes.ts'
import { expectedCosts } from '../../../price/judge/expected.ts'
import { type CountedPart, countedParts, otherCount } from '../../../price/judge/other-count.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { smallest } from '../../../user/extremes.ts'
import type { ReadingStretch } from './balance.ts'

/** Sums of more requests have too many explanations. */
const mostRequests = 50
const mostStretches = 20
const mostNamed = 2

/** A stretch with the list of its requests. */
type Summed = Omit<ReadingStretch, 'requests'> & { readonly requests: readonly PricedRequest[] }

/** `: cache_read at the price of input`: the single change that gives all wrong sums; empty if there is none. */
export function explainSums(stretches: readonly ReadingStretch[], judge: PriceJudge): string {
  const isWrongPart = ({ isWhole, isRight }: ReadingStretch) => !isWhole && !isRight
  const exact = stretches
    .filter(isExact)
    // The stretch over all contains what its parts already show.
    .filter(({ isWhole }, _, all) => !isWhole || !all.some(isWrongPart))
    .toSorted((a, b) => a.count - b.count)
  const some = (all: readonly ReadingStretch[]) =>
    all.slice(0, mostStretches).map((stretch) => ({ ...stretch, requests: stretch.requests() }))
  const wrong = some(exact.filter(({ isRight }) => !isRight))
  const right = some(exact.filter(({ isRight }) => isRight))
  if (wrong.length === 0) return ''
  const models = new Map(
    [...wrong, ...right].flatMap(({ requests }) =>
      requests.flatMap(({ requestedModel }) => {
        const model = judge.priceOf(requestedModel)
        return model === null ? [] : [[model.id, model] as const]
      }),
    ),
  )
  const found = changesFor([...models.values()], judge.priceOf, judge.loggedOf).flatMap(
    (change) => {
      if (!wrong.every((stretch) => effectOn(stretch, change, judge).gives)) return []
      const spared = right.filter((stretch) => effectOn(stretch, change, judge).changed)
      return [{ summary: change.summary, about: change.about, spared }]
    },
  )
  const fewest = smallest(found.map(({ spared }) => spared.length))
  const best = found.filter(
    ({ spared, about }, at) =>
      spared.length === fewest &&
      (about !== 'round' || found.findIndex((each) => each.about === 'round') === at),
  )
  const names = [...new Set(best.map(({ summary, spared }) => summary + scopeOf(wrong, spared)))]
  const all = names.length === 0 ? countedOtherwise(wrong, judge) : names
  return all.length === 0 ? '' : `: ${all.slice(0, mostNamed).join(', or ')}`
}

/** Other counts of tokens that give wrong sums of one stream each. */
function countedOtherwise(wrong: readonly Summed[], judge: PriceJudge): readonly string[] {
  if (!wrong.every(({ requests: [request, second] }) => second === undefined && request?.isStream))
    return []
  return (Object.keys(countedParts) as CountedPart[]).flatMap((part) => {
    const counts = wrong.map(({ requests, taken, first, last }) => {
      const { readings } = expectedCosts(requests[0]!, judge)
      return otherCount(taken, readings, unitOf(first, last, judge), part)
    })
    return counts.includes(null)
      ? []
      : [`another count of ${countedParts[part]} tokens: ${counts[0]} (of streams)`]
  })
}

/** The last place that two readings of a balance show. */
function unitOf(
  first: ReadingStretch['first'],
  last: ReadingStretch['last'],
  { currency: { digits } }: PriceJudge,
): Rational {
  const smallest = powerOfTen(-digits)
  const place = compare(first.place, last.place) < 0 ? first.place : last.place
  return isEqual(place, one) || compare(place, smallest) < 0 ? smallest : place
}

/** An open cost fits everything, one that the service recorded has tokens that nobody knows, and sums of fewer requests have fewer explanations. */
function isExact({ count, low, high, isComputed }: ReadingStretch): boolean {
  return (
    count > 0 && isComputed && count <= mostRequests && high !== null && compare(low, high) === 0
  )
}

function scopeOf(wrong: readonly Summed[], spared: readonly Summed[]): string {
  if (spared.length === 0) return ''
  const all = (stretches: readonly Summed[], has: (request: PricedRequest) => boolean) =>
    stretches.every(({ requests }) => requests.every(has))
  const isStream = ({ isStream }: PricedRequest) => isStream
  if (all(wrong, isStream) && all(spared, (each) => !isStream(each))) return ' (of streams)'
  if (all(spared, isStream) && all(wrong, (each) => !isStream(each))) return ' (of plain answers)'
  return ' (in some requests)'
}

/** What a change would make of a stretch: whether it gives the sum that was taken, or moves it at all. */
function effectOn(
  { requests, taken, first, last, low }: Summed,
  change: Change,
  judge: PriceJudge,
): { readonly gives: boolean; readonly changed: boolean } {
  let sum: Rational = zero
  for (const request of requests) {
    const { costs, readings } = expectedCosts(request, judge)
    const [reading] = readings
    const other =
      reading === undefined
        ? null
        : change.costOf(request, reading.model, reading.usage, reading.context)
    const cost = other ?? costs[0]
    if (cost === undefined) return { gives: false, changed: false }
    sum = add(sum, cost)
  }
  const unit = unitOf(first, last, judge)
  const changed = !isEqual(sum, low)
  return { gives: changed && compare(absolute(subtract(sum, taken)), unit) <= 0, changed }
}
