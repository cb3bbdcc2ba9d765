import type { BalanceTerms } from '../../../contract/prices.ts'
import { add, multiply, type Rational, zero } from '../../../money/rational.ts'
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

/** When a value was read, and the grants beside it. */
interface Value {
  readonly fromMs: number
  readonly untilMs: number
  readonly grants?: readonly ShownGrant[]
}

/** How far the clock of the service may be from the client's. */
export const clockErrorMs = 2_000

/** The grants that a page lists where the contract says; those without an expiry are left out. */
export function grantsOn(body: unknown, { grants, times }: BalanceTerms): readonly ShownGrant[] {
  const list = grants === null ? undefined : atPlace(body, grants.list)
  if (grants === null || !Array.isArray(list)) return []
  return list.flatMap((each): readonly ShownGrant[] => {
    const left = amountOf(atPlace(each, grants.left))
    const expiresMs = timeOf(atPlace(each, grants.expires))
    return left === null || expiresMs === null
      ? []
      : [{ left: multiply(left.value, times), expiresMs }]
  })
}

/** The time in which something may expire that the second of two values lacks. */
export function isBetween(atMs: number, first: Value, last: Value, withinMs: number): boolean {
  return atMs >= first.fromMs - withinMs - clockErrorMs && atMs <= last.untilMs + clockErrorMs
}

/** The most that a balance may lose between two values because grants expire. */
export function expiredBetween(
  first: Value,
  last: Value,
  { moves, withinMs }: BalanceTerms,
): Rational {
  if (moves === 'up') return zero
  return (first.grants ?? [])
    .filter(
      ({ left, expiresMs }) => left.numerator > 0n && isBetween(expiresMs, first, last, withinMs),
    )
    .reduce((sum, { left }) => add(sum, left), zero)
}
