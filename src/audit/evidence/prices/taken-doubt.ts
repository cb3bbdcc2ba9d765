import type { BalanceTerms } from '../../../contract/prices.ts'
import {
  absolute,
  compare,
  decimalText,
  multiply,
  one,
  type Rational,
  rational,
  roundTo,
  subtract,
} from '../../../money/rational.ts'
import { mayBeThousands, type Reading, type ReadingStretch, stretchesOf } from './balance.ts'
import { asCached, cacheText, repeatsOf, zeroCosts } from './free-repeats.ts'
import { type PriceJudgements, recordedCosts } from './judgements.ts'
import { chargedOnce } from './replays.ts'

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
  const thousands = thousandsText(readings, found)
  if (thousands !== null) return thousands
  const areRight = (stretches: readonly ReadingStretch[]) =>
    stretches.every(({ isRight }) => isRight)
  // What the log or the answers say of an open cost is no measure while they are wrong themselves.
  const isDoubted = [...found.logged, ...[...found.stated.values()].flat()].some(
    ({ is }) => is === 'wrong',
  )
  if (isDoubted && areRight(stretchesOf(readings, found.requests, terms, found.judge)))
    return `${short(first.taken)} ${unit} between two readings is not what the log or the answers say, ${rangeOf(first, unit)}; they are wrong themselves (PRICE-03, PRICE-04), and by the contract alone it may be right`
  const recorded = recordedCosts(found)
  const paid = paidIn(stretchesOf(readings, found.requests, terms, found.judge, recorded), terms)
  if (paid !== null)
    return `${short(first.taken)} ${unit} between two readings, expected ${rangeOf(first, unit)}, which is right if ${short(paid)} ${unit} came in between: a payment, or a charge that is missing`
  if (
    chargedOnce(found.requests).some((requests) =>
      areRight(stretchesOf(readings, requests, terms, found.judge, recorded)),
    )
  )
    return `${short(first.taken)} ${unit} between two readings, expected ${rangeOf(first, unit)}, which is right if requests that were cut, and sent again under their key or id, were charged once for the answer that came`
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

/** The places of a round amount are so many times coarser than what the values hide. */
const coarser = rational(1000n)

/**
 * What is missing in all wrong stretches of a balance, if it is a whole number of the currency, which costs of tokens hardly come to:
 * somebody may have paid it in. Null where it is not.
 */
function paidIn(stretches: readonly ReadingStretch[], { moves }: BalanceTerms): Rational | null {
  if (moves === 'up') return null
  const wrong = stretches.filter(({ isRight, isWhole }) => !isRight && !isWhole)
  const missing = wrong.map(({ taken, low, high, first, last }) => {
    if (high === null || compare(low, high) !== 0 || compare(taken, low) >= 0) return null
    const lack = subtract(low, taken)
    const round = roundTo(lack, 0, 'half_even')
    const place = compare(first.place, last.place) > 0 ? first.place : last.place
    const isRound =
      compare(absolute(subtract(lack, round)), place) <= 0 &&
      compare(multiply(place, coarser), one) <= 0
    return isRound && round.numerator > 0n ? round : null
  })
  const [first] = missing
  return first == null || missing.includes(null) ? null : first
}

/** Why values may be other numbers than they look; null if they are not. */
export function thousandsText(
  readings: readonly Reading[],
  { prices: { currency } }: Pick<PriceJudgements, 'prices'>,
): string | null {
  const text = mayBeThousands(readings, currency)
  return text === null
    ? null
    : `the values of the balance do not move by the costs; one such as ${JSON.stringify(text)} may be a number with a point for thousands, since ${currency.name} have ${currency.digits} decimals (digits)`
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
