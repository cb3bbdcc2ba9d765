import type { BalanceTerms } from '../../../contract/prices.ts'
import {
  absolute,
  compare,
  decimalText,
  larger,
  type Rational,
  rational,
  roundTo,
  subtract,
} from '../../../money/rational.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { takenLess } from './charged-less.ts'
import { unnamedExpiry } from './expiries.ts'
import { causesOfSums } from './explain-sums.ts'
import { asCached, cacheText, repeatsOf, zeroCosts } from './free-repeats.ts'
import { type PriceJudgements, recordedCosts } from './judgements.ts'
import { mayBeThousands, type Reading } from './readings.ts'
import { chargedOnce } from './replays.ts'
import type { Recorded } from './request-charge.ts'
import { type ReadingStretch, stretchesOf } from './stretches.ts'

/** Readings of a balance whose changes are not the costs, and the first stretch of them that is wrong. */
interface Taken {
  readonly found: PriceJudgements
  readonly readings: readonly Reading[]
  readonly terms: BalanceTerms
  readonly first: ReadingStretch
  /** Costs that the log or the answers say of requests whose cost the contract leaves open. */
  readonly recorded: Recorded
}

/**
 * Why what was taken between readings may be right although the costs are others; null if nothing makes all stretches right. In the
 * order in which they are told:
 *
 *     thousands      a point in the values may separate thousands
 *     doubted        open costs are those of the log or the answers, which are wrong themselves
 *     paid in        each wrong stretch lacks a whole amount of the currency
 *     charged once   requests that were cut and sent again are charged for the one answer that came
 *     expired        the page says that something expired then, and the contract names no grants
 *     less           charges are below the list in an order that an allowance or a discount has
 *     cached         a cache of the gateway answered repeats whose cost no place shows
 */
export function doubtOfTaken(
  found: PriceJudgements,
  readings: readonly Reading[],
  terms: BalanceTerms,
  first: ReadingStretch,
): string | null {
  const taken = { found, readings, terms, first, recorded: recordedCosts(found) }
  return (
    thousandsText(readings, found) ??
    doubted(taken) ??
    paidIn(taken) ??
    chargedForOneAnswer(taken) ??
    expired(taken) ??
    less(taken) ??
    cached(taken)
  )
}

/** Whether all stretches are right with these requests and costs. */
const areRight = (
  { found, readings, terms }: Taken,
  requests: readonly PricedRequest[],
  recorded?: Recorded,
): boolean =>
  stretchesOf(readings, requests, terms, found.judge, recorded).every(({ isRight }) => isRight)

/** `0.5 EUR between two readings, expected 0.3 EUR` */
function takenText({ found, first }: Taken): string {
  const unit = found.prices.currency.name
  return `${short(first.taken)} ${unit} between two readings, expected ${rangeOf(first, unit)}`
}

function doubted(taken: Taken): string | null {
  const { found, first } = taken
  const unit = found.prices.currency.name
  const isDoubted = [...found.logged, ...[...found.stated.values()].flat()].some(
    ({ is }) => is === 'wrong',
  )
  return isDoubted && areRight(taken, found.requests)
    ? `${short(first.taken)} ${unit} between two readings is not what the log or the answers say, ${rangeOf(first, unit)}; they are wrong themselves (PRICE-03, PRICE-04), and by the contract alone it may be right`
    : null
}

function paidIn(taken: Taken): string | null {
  const { found, readings, terms, recorded } = taken
  const stretches = stretchesOf(readings, found.requests, terms, found.judge, recorded)
  const paid = terms.moves === 'up' ? null : missingOf(stretches)
  return paid === null
    ? null
    : `${takenText(taken)}, which is right if ${short(paid)} ${found.prices.currency.name} came in between: a payment, or a charge that is missing`
}

/** A whole amount says something only if the values show thousandths, or finer. */
const coarsestUnit = rational(1n, 1000n)

/**
 * What the first wrong stretch lacks, if each wrong one lacks a whole number of the currency, which costs of tokens hardly come to;
 * else null. The stretch over all readings contains the others.
 */
function missingOf(stretches: readonly ReadingStretch[]): Rational | null {
  const wrong = stretches.filter(({ isRight, isWhole }) => !isRight && !isWhole)
  const missing = wrong.map(({ taken, low, high, first, last }) => {
    if (high === null || compare(low, high) !== 0 || compare(taken, low) >= 0) return null
    const lack = subtract(low, taken)
    const round = roundTo(lack, 0, 'half_even')
    // Each of the two values may be rounded by half of its last unit.
    const unit = larger(first.lastUnit, last.lastUnit)
    const isRound =
      compare(unit, coarsestUnit) <= 0 && compare(absolute(subtract(lack, round)), unit) <= 0
    return isRound && round.numerator > 0n ? round : null
  })
  return missing.includes(null) ? null : (missing[0] ?? null)
}

function chargedForOneAnswer(taken: Taken): string | null {
  const isSo = chargedOnce(taken.found.requests).some((requests) =>
    areRight(taken, requests, taken.recorded),
  )
  return isSo
    ? `${takenText(taken)}, which is right if requests that were cut, and sent again under their key or id, were charged once for the answer that came`
    : null
}

function expired(taken: Taken): string | null {
  const { found, readings, terms, recorded } = taken
  const stretches = stretchesOf(readings, found.requests, terms, found.judge, recorded)
  const place = unnamedExpiry(stretches, terms)
  return place === null
    ? null
    : `${takenText(taken)}, which is right if the rest was lost when it expired, as the page says at ${place}; name the grants in the contract (evidence.balance.grants)`
}

function less(taken: Taken): string | null {
  const { found, readings, terms, recorded } = taken
  const of = [found.requests, terms, found.judge, recorded] as const
  const stretches = stretchesOf(readings, ...of)
  const { allowance } = found.prices
  const why = takenLess(stretches, found.judge, allowance, () => causesOfSums(stretches, ...of))
  return why === null ? null : `${takenText(taken)}: ${why}`
}

function cached(taken: Taken): string | null {
  const { found, recorded } = taken
  const unknown = repeatsOf(found.requests).filter((request) => !recorded.has(request))
  if (unknown.length === 0) return null
  const requests = asCached(found.requests, new Set(unknown))
  return areRight(taken, requests, new Map([...recorded, ...zeroCosts(requests)]))
    ? cacheText(
        `${takenText(taken)}, which is right if ${unknown.length} requests cost 0, each of which repeats`,
      )
    : null
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
