import type { BalanceTerms } from '../../../contract/prices.ts'
import { add, isEqual, multiply, type Rational, subtract, zero } from '../../../money/rational.ts'
import { amountOf, atPlace } from './answer-json.ts'
import { timeOf } from './log.ts'

/**
 * Grants that a balance is the sum of: what is left of one is lost when it expires, and nobody was charged.
 *
 *     balance   130 ── 105 ───────── 100     a grant with 5 left expired between the two
 *     grants     30      5             0
 */

/** What is left of a grant, in the currency of the contract, and when it expires. */
export interface ShownGrant {
  readonly left: Rational
  readonly expiresMs: number
}

/** The grants that a page lists. */
export interface ShownGrants {
  /** Those that expire. */
  readonly expiring: readonly ShownGrant[]
  /** What is left of all of them, also of those that never expire. */
  readonly sum: Rational
}

/** A value, when it was read, and the grants beside it. */
interface GrantedValue {
  readonly value: Rational
  readonly fromMs: number
  readonly untilMs: number
  readonly grants?: ShownGrants
}

/** How far the clock of the service may be from the client's. */
export const clockErrorMs = 2_000

/** The grants that a page lists where the contract says; null without any. */
export function grantsOn(body: unknown, { grants, times }: BalanceTerms): ShownGrants | null {
  const list = grants === null ? undefined : atPlace(body, grants.list)
  if (grants === null || !Array.isArray(list) || list.length === 0) return null
  const read = list.flatMap((each) => {
    const left = amountOf(atPlace(each, grants.left))
    return left === null
      ? []
      : [{ left: multiply(left.value, times), expiresMs: timeOf(atPlace(each, grants.expires)) }]
  })
  return {
    expiring: read.flatMap(({ left, expiresMs }) =>
      expiresMs === null ? [] : [{ left, expiresMs }],
    ),
    sum: sumOf(read),
  }
}

/**
 * Whether something may expire at a time that the second of two values lacks: so late may the first be that it lacked what had expired
 * before it was read, while the second never shows what had expired.
 */
export function mayLack(
  atMs: number,
  first: Omit<GrantedValue, 'value'>,
  last: Omit<GrantedValue, 'value'>,
  withinMs: number,
): boolean {
  return atMs >= first.fromMs - withinMs - clockErrorMs && atMs <= last.untilMs + clockErrorMs
}

/** The most that a balance may lose between two values because grants expire. */
export function expiredBetween(
  first: GrantedValue,
  last: GrantedValue,
  { moves, withinMs }: BalanceTerms,
): Rational {
  if (moves === 'up' || first.grants === undefined) return zero
  const listed = Map.groupBy(
    first.grants.expiring.filter(
      ({ left, expiresMs }) => left.numerator > 0n && mayLack(expiresMs, first, last, withinMs),
    ),
    ({ expiresMs }) => expiresMs,
  )
  const still = stillGranted(last)
  const lost = [...listed].flatMap(([expiresMs, grants]) => {
    const rest = still.filter((each) => each.expiresMs === expiresMs && each.left.numerator > 0n)
    return rest.length >= grants.length ? [] : [subtract(sumOf(grants), sumOf(rest))]
  })
  return lost.reduce(add, zero)
}

/** Grants that a value still has: those of its page, if they add up to it. A page may also list what has expired. */
const stillGranted = ({ value, grants }: GrantedValue): readonly ShownGrant[] =>
  grants !== undefined && isEqual(grants.sum, value) ? grants.expiring : []

const sumOf = (grants: readonly { readonly left: Rational }[]): Rational =>
  grants.reduce((sum, { left }) => add(sum, left), zero)
