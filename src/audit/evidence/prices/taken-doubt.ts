import type { BalanceTerms } from '../../../contract/prices.ts'
import { decimalText, type Rational, roundTo } from '../../../money/rational.ts'
import { type Reading, type ReadingStretch, stretchesOf } from './balance.ts'
import { asCached, cacheText, repeatsOf, zeroCosts } from './free-repeats.ts'
import { type PriceJudgements, recordedCosts } from './judgements.ts'

/**
 * Why what was taken between two readings may be right although the costs are others: the log or the answers, from which open costs
 * were taken, are wrong themselves; or a cache of the gateway may have answered repeats whose cost no place shows. Null if neither
 * makes all stretches right.
 *
 * @param first the first stretch that is wrong
 */
export function doubtOfTaken(
  found: PriceJudgements,
  readings: readonly Reading[],
  terms: BalanceTerms,
  first: ReadingStretch,
): string | null {
  const unit = found.prices.currency.name
  const areRight = (stretches: readonly ReadingStretch[]) =>
    stretches.every(({ isRight }) => isRight)
  // What the log or the answers say of an open cost is no measure while they are wrong themselves.
  const isDoubted = [...found.logged, ...[...found.stated.values()].flat()].some(
    ({ is }) => is === 'wrong',
  )
  if (isDoubted && areRight(stretchesOf(readings, found.requests, terms, found.judge)))
    return `${short(first.taken)} ${unit} between two readings is not what the log or the answers say, ${rangeOf(first, unit)}; they are wrong themselves (PRICE-03, PRICE-04), and by the contract alone it may be right`
  const recorded = recordedCosts(found)
  const unknown = repeatsOf(found.requests).filter((request) => !recorded.has(request))
  if (unknown.length === 0) return null
  const cached = asCached(found.requests, new Set(unknown))
  const free = new Map([...recorded, ...zeroCosts(cached)])
  return areRight(stretchesOf(readings, cached, terms, found.judge, free))
    ? cacheText(
        `${short(first.taken)} ${unit} between two readings, expected ${rangeOf(first, unit)}, which is right if ${unknown.length} requests cost 0, each of which repeats`,
      )
    : null
}

export const short = (value: Rational) => {
  const text = decimalText(value)
  return text.length <= 20 ? text : decimalText(roundTo(value, 12, 'half_even'))
}

export function rangeOf({ low, high }: ReadingStretch, unit: string): string {
  if (high === null) return `at least ${short(low)} ${unit}`
  const [from, to] = [short(low), short(high)]
  return from === to ? `${from} ${unit}` : `${from} to ${to} ${unit}`
}
