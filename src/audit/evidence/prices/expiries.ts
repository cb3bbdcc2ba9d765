import type { BalanceTerms } from '../../../contract/prices.ts'
import {
  add,
  compare,
  decimalText,
  multiply,
  type Rational,
  subtract,
  zero,
} from '../../../money/rational.ts'
import { isObject } from '../../../user/json.ts'
import { amountOf } from './answer-json.ts'
import { clockErrorMs, isBetween } from './grants.ts'
import { timeOf } from './log.ts'
import type { ReadingStretch } from './stretches.ts'

/** What pages say of expiries where more was taken than the costs. */

/** Wrong changes from one value to the next; without one, that over all values. */
function wrongOf(stretches: readonly ReadingStretch[]): readonly ReadingStretch[] {
  const wrong = stretches.filter(({ isRight }) => !isRight)
  const parts = wrong.filter(({ isWhole }) => !isWhole)
  return parts.length > 0 ? parts : wrong
}

/** What was taken beyond the costs; null if nothing was, or nothing bounds them. */
function beyondCosts({ taken, high, slack }: ReadingStretch): Rational | null {
  const beyond = high === null ? zero : subtract(taken, high)
  return compare(beyond, slack) > 0 ? beyond : null
}

/** `: a grant of 5 credits was gone 3 s before it expires`, if each wrong sum has what a value lacks of such a grant. Empty otherwise. */
export function expiredEarly(stretches: readonly ReadingStretch[], unit: string): string {
  const early = wrongOf(stretches).map((stretch) => {
    const { first, last, slack } = stretch
    const beyond = beyondCosts(stretch)
    const grant = (first.grants ?? []).find(({ left, expiresMs }) => {
      const isGone = !(last.grants ?? []).some(
        (each) => each.expiresMs === expiresMs && each.left.numerator > 0n,
      )
      const isLater = expiresMs > last.untilMs + clockErrorMs
      return isGone && isLater && beyond !== null && compare(beyond, add(left, slack)) <= 0
    })
    return grant === undefined ? null : { ...grant, goneMs: last.untilMs }
  })
  const [first] = early
  if (first == null || early.includes(null)) return ''
  const { left, expiresMs, goneMs } = first
  return `: a grant of ${decimalText(left)} ${unit} was gone at least ${Math.floor((expiresMs - goneMs) / 1e3)} s before it expires, ${new Date(expiresMs).toISOString()}`
}

const expiryNames = /expir|valid_?(?:until|to|thru|through)|ends?_?at/i

/** The place of what a page says to expire between two values, with an amount that is as much as was taken beyond the costs; null without one. */
function expiringAt(
  value: unknown,
  place: string,
  is: (expiresMs: number, amounts: readonly Rational[]) => boolean,
): string | null {
  if (typeof value !== 'object' || value === null) return null
  const entries = Object.entries(value)
  const amounts = entries.flatMap(([, each]) => amountOf(each)?.value ?? [])
  for (const [name, each] of isObject(value) ? entries : []) {
    const atMs = expiryNames.test(name) ? timeOf(each) : null
    if (atMs !== null && is(atMs, amounts)) return place === '' ? name : `${place}.${name}`
  }
  for (const [name, each] of entries) {
    const found = expiringAt(each, place === '' ? name : `${place}.${name}`, is)
    if (found !== null) return found
  }
  return null
}

/**
 * Where the pages say that something expired whenever more was taken than the costs, though the contract names no grants; null if they do
 * not, or if anything else is wrong.
 */
export function unnamedExpiry(
  stretches: readonly ReadingStretch[],
  { grants, times, moves, withinMs }: BalanceTerms,
): string | null {
  if (grants !== null || moves === 'up') return null
  const places = wrongOf(stretches).map((stretch) => {
    const { first, last, slack } = stretch
    const beyond = beyondCosts(stretch)
    if (beyond === null) return null
    return expiringAt(
      first.page,
      '',
      (atMs, amounts) =>
        isBetween(atMs, first, last, withinMs) &&
        amounts.some((each) => compare(add(multiply(each, times), slack), beyond) >= 0),
    )
  })
  return places.includes(null) ? null : (places[0] ?? null)
}
